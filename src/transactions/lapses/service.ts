import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { ReadyAnswer } from '../../platform/http/route.ts'
import { recordPlace, shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { gracePeriodOf, lapseReinstatementOf } from '../../policy/records/transactions.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Upload } from '../documents/job-store.ts'
import { operate, policyLocator } from '../policies/service.ts'
import type {
  GraceLapseReinstatementResponse,
  GracePeriodResponse,
  LapseReinstatementResponse,
  LapseResponse,
} from './contract.ts'
import type { GracePeriodTerms } from './grace-periods.ts'
import type { LapseOperation } from './kind.ts'
import {
  graceLapseReinstatements,
  gracePeriodResponse,
  lapseReinstatementResponse,
  lapseResponse,
} from './projection.ts'

const SELECTIONS = {
  gracePeriod: (locator: Uuid) => ({ gracePeriodLocator: locator }),
  lapse: (locator: Uuid) => ({ lapseLocator: locator }),
  reinstatement: (locator: Uuid) => ({ lapseReinstatementLocator: locator }),
}

type Kind = keyof typeof SELECTIONS

/** Takes one round trip. */
async function readWith(context: RequestContext, text: string, kind: Kind) {
  const { locator, database } = recordPlace(context, text, kind)
  return { locator, ...(await loadPolicy(context, database, SELECTIONS[kind](locator))) }
}

/** Takes one round trip. */
async function placeOf(context: RequestContext, text: string, kind: Kind) {
  const { locator, database } = recordPlace(context, text, kind)
  return { locator, policy: await policyOf(database, SELECTIONS[kind](locator)) }
}

function loadedPolicy(context: RequestContext, policyText: string): Promise<Loaded> {
  const { env, tenant, calls } = context
  const locator = policyLocator(policyText)
  return loadPolicy(context, shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls), { locator })
}

/** Throws 404 for an unknown grace period. Takes one round trip. */
export async function readGracePeriod(context: RequestContext, text: string): Promise<GracePeriodResponse> {
  const { aggregate, product, locator } = await readWith(context, text, 'gracePeriod')
  return gracePeriodResponse(aggregate, gracePeriodOf(aggregate, locator), product)
}

/** Oldest first. Takes one round trip. */
export async function gracePeriodsOf(
  context: RequestContext,
  policyText: string,
): Promise<GracePeriodResponse[]> {
  const { aggregate, product } = await loadedPolicy(context, policyText)
  return [...aggregate.gracePeriods.values()].map(one => gracePeriodResponse(aggregate, one, product))
}

/** Takes one round trip. */
export async function graceLapseReinstatementsOf(
  context: RequestContext,
  policyText: string,
): Promise<GraceLapseReinstatementResponse[]> {
  const { aggregate, product } = await loadedPolicy(context, policyText)
  return graceLapseReinstatements(aggregate, product)
}

/** Throws 404 for an unknown lapse. Takes one round trip. */
export async function readLapse(context: RequestContext, text: string): Promise<LapseResponse> {
  const { aggregate, locator } = await readWith(context, text, 'lapse')
  return lapseResponse(aggregate, aggregate.lapses.get(locator)!)
}

/** Throws 404 for an unknown reinstatement. Takes one round trip. */
export async function readLapseReinstatement(
  context: RequestContext,
  text: string,
): Promise<LapseReinstatementResponse> {
  const { aggregate, locator } = await readWith(context, text, 'reinstatement')
  return lapseReinstatementResponse(aggregate, lapseReinstatementOf(aggregate, locator))
}

/** Throws 404 for an unknown grace period. Takes one round trip to find the policy. */
export async function updateGracePeriod(
  context: RequestContext,
  text: string,
  terms: GracePeriodTerms,
): Promise<ReadyAnswer> {
  const { locator: gracePeriod, policy } = await placeOf(context, text, 'gracePeriod')
  return await carryOut(context, policy, { action: 'updateGrace', gracePeriod, terms })
}

/** Opens a reinstatement of the policy's lapse. Throws the 409 of `planOpening`. */
export const openReinstatement = (context: RequestContext, policyText: string): Promise<ReadyAnswer> =>
  carryOut(context, policyLocator(policyText), { action: 'open' })

/** Throws 404 for an unknown reinstatement. Takes one round trip to find the policy. */
export async function actOnReinstatement(
  context: RequestContext,
  text: string,
  operation: { action: 'close' } | { action: 'invoice'; effectiveAt: Instant },
): Promise<ReadyAnswer> {
  const { locator: reinstatement, policy } = await placeOf(context, text, 'reinstatement')
  return await carryOut(context, policy, { ...operation, reinstatement })
}

/** Imported on demand, because most requests need no files. */
const files = () => import('../documents/job-store.ts')

/** Stores the file, then adds it. Takes one more look-up than for a policy's document, to find the policy. */
export async function addReinstatementDocument(
  context: RequestContext,
  text: string,
  upload: Upload,
): Promise<ReadyAnswer> {
  const { withStoredFile } = await files()
  const { locator: reinstatement, policy } = await placeOf(context, text, 'reinstatement')
  return await withStoredFile(context, policy, upload, document =>
    carryOut(context, policy, { action: 'addDocument', reinstatement, document }),
  )
}

/** Removes the document, then its file. Takes one more look-up than for a policy's document, to find the policy. */
export async function removeReinstatementDocument(
  context: RequestContext,
  text: string,
  documentLocator: string,
): Promise<ReadyAnswer> {
  const { withoutStoredFile } = await files()
  const { locator: reinstatement, policy } = await placeOf(context, text, 'reinstatement')
  return await withoutStoredFile(context, `Reinstatement ${reinstatement}`, documentLocator, document =>
    carryOut(context, policy, { action: 'removeDocument', reinstatement, document }),
  )
}

/** Returns what `actOnReinstatement` would bill. Stores nothing. Takes one round trip to find the policy. */
export async function reinstatementAmountDue(
  context: RequestContext,
  text: string,
  effectiveAt: Instant,
): Promise<ReadyAnswer> {
  const { locator, policy } = await placeOf(context, text, 'reinstatement')
  return await operate(context, policy, { kind: 'amountDue', reinstatement: locator, effectiveAt })
}

const carryOut = (
  context: RequestContext,
  policy: PolicyLocator,
  operation: LapseOperation,
): Promise<ReadyAnswer> =>
  operate(context, policy, { kind: 'lapse', operation }, subject => {
    const [, kind, locator] = subject.split('/')
    return kind === 'gracePeriod'
      ? readGracePeriod(context, locator!)
      : readLapseReinstatement(context, locator!)
  })
