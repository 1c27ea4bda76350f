// Grace periods, legacy lapses and their reinstatements, as the Worker serves them.
import { notFound } from '../../kernel/errors.ts'
import { type PolicyLocator, readUuid, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase, shardOfPolicy, shardOfRecord } from '../../platform/tenancy.ts'
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

type Kind = 'gracePeriod' | 'lapse' | 'reinstatement'

/** The locator in a path; 404 for text that no record's of the kind can be. */
function locatorOf(text: string, kind: Kind): Uuid {
  const locator = readUuid(text)
  if (!locator) throw notFound(kind, text)
  return locator
}

const databaseOf = ({ env, tenant, calls }: RequestContext, locator: Uuid, kind: Kind): Database =>
  shardDatabase(env, tenant, shardOfRecord(tenant, locator, kind), calls)

function loadedPolicy(context: RequestContext, policyText: string): Promise<Loaded> {
  const { env, tenant, calls } = context
  const locator = policyLocator(policyText)
  return loadPolicy(context, shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls), { locator })
}

/** One round trip. */
export async function readGracePeriod(context: RequestContext, text: string): Promise<GracePeriodResponse> {
  const locator = locatorOf(text, 'gracePeriod')
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator, 'gracePeriod'), {
    gracePeriodLocator: locator,
  })
  return gracePeriodResponse(aggregate, gracePeriodOf(aggregate, locator), product)
}

/** All grace periods of a policy, oldest first: one round trip. */
export async function gracePeriodsOf(
  context: RequestContext,
  policyText: string,
): Promise<GracePeriodResponse[]> {
  const { aggregate, product } = await loadedPolicy(context, policyText)
  return [...aggregate.gracePeriods.values()].map(one => gracePeriodResponse(aggregate, one, product))
}

/** All that came of the policy's unpaid invoices: one round trip. */
export async function graceLapseReinstatementsOf(
  context: RequestContext,
  policyText: string,
): Promise<GraceLapseReinstatementResponse[]> {
  const { aggregate, product } = await loadedPolicy(context, policyText)
  return graceLapseReinstatements(aggregate, product)
}

/** One round trip. */
export async function readLapse(context: RequestContext, text: string): Promise<LapseResponse> {
  const locator = locatorOf(text, 'lapse')
  const { aggregate } = await loadPolicy(context, databaseOf(context, locator, 'lapse'), {
    lapseLocator: locator,
  })
  return lapseResponse(aggregate, aggregate.lapses.get(locator)!)
}

/** One round trip. */
export async function readLapseReinstatement(
  context: RequestContext,
  text: string,
): Promise<LapseReinstatementResponse> {
  const locator = locatorOf(text, 'reinstatement')
  const { aggregate } = await loadPolicy(context, databaseOf(context, locator, 'reinstatement'), {
    lapseReinstatementLocator: locator,
  })
  return lapseReinstatementResponse(aggregate, lapseReinstatementOf(aggregate, locator))
}

export async function updateGracePeriod(
  context: RequestContext,
  text: string,
  terms: GracePeriodTerms,
): Promise<JsonAnswer> {
  const gracePeriod = locatorOf(text, 'gracePeriod')
  const database = databaseOf(context, gracePeriod, 'gracePeriod')
  const policy = await policyOf(database, { gracePeriodLocator: gracePeriod })
  return await carryOut(context, policy, { action: 'updateGrace', gracePeriod, terms })
}

/** Begins to reinstate a lapsed policy. */
export const openReinstatement = (context: RequestContext, policyText: string): Promise<JsonAnswer> =>
  carryOut(context, policyLocator(policyText), { action: 'open' })

export async function actOnReinstatement(
  context: RequestContext,
  text: string,
  operation: (reinstatement: Uuid) => LapseOperation,
): Promise<JsonAnswer> {
  const { locator, policy } = await reinstatementAt(context, text)
  return await carryOut(context, policy, operation(locator))
}

/** Files are handled by code that most requests never need. */
const files = () => import('../documents/job-store.ts')

/** Stores the file, then adds it to the reinstatement: a look-up more than for a policy's, to find the policy. */
export async function addReinstatementDocument(
  context: RequestContext,
  text: string,
  upload: Upload,
): Promise<JsonAnswer> {
  const { withStoredFile } = await files()
  const { locator: reinstatement, policy } = await reinstatementAt(context, text)
  return await withStoredFile(context, policy, upload, document =>
    carryOut(context, policy, { action: 'addDocument', reinstatement, document }),
  )
}

/** Takes an uploaded document off the reinstatement, and its file away. */
export async function removeReinstatementDocument(
  context: RequestContext,
  text: string,
  documentLocator: string,
): Promise<JsonAnswer> {
  const { withoutStoredFile } = await files()
  const { locator: reinstatement, policy } = await reinstatementAt(context, text)
  return await withoutStoredFile(context, `Reinstatement ${reinstatement}`, documentLocator, document =>
    carryOut(context, policy, { action: 'removeDocument', reinstatement, document }),
  )
}

/** What the reinstatement would ask for, from that time on; nothing is stored. */
export async function reinstatementAmountDue(
  context: RequestContext,
  text: string,
  effectiveAt: Instant,
): Promise<JsonAnswer> {
  const { locator, policy } = await reinstatementAt(context, text)
  return await operate(context, policy, { kind: 'amountDue', reinstatement: locator, effectiveAt })
}

async function reinstatementAt(
  context: RequestContext,
  text: string,
): Promise<{ locator: Uuid; policy: PolicyLocator }> {
  const locator = locatorOf(text, 'reinstatement')
  const database = databaseOf(context, locator, 'reinstatement')
  return { locator, policy: await policyOf(database, { lapseReinstatementLocator: locator }) }
}

const carryOut = (
  context: RequestContext,
  policy: PolicyLocator,
  operation: LapseOperation,
): Promise<JsonAnswer> =>
  operate(context, policy, { kind: 'lapse', operation }, subject => {
    const [, kind, locator] = subject.split('/')
    return kind === 'gracePeriod'
      ? readGracePeriod(context, locator!)
      : readLapseReinstatement(context, locator!)
  })
