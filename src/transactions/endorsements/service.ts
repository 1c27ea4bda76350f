// Endorsements and renewals, as the Worker serves them.
import { notFound } from '../../kernel/errors.ts'
import { type EndorsementLocator, type PolicyLocator, readDigits } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import type { PolicyResponse } from '../../policy/contract/response.ts'
import { endorsementOf } from '../../policy/records/look-ups.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { operate, policyLocator } from '../policies/service.ts'
import type { RenewalResponse } from '../renewals/contract.ts'
import type { EndorsementResponse } from './contract.ts'
import type { EndorsementOperation } from './operation.ts'
import { transactionResponse } from './projection.ts'
import { policyWhenIssued } from './when-issued.ts'

/** The two kinds of records that these functions serve, with their answers. */
type Answers = { endorsement: EndorsementResponse; renewal: RenewalResponse }
export type Kind = keyof Answers

/** The locator of one of them. */
export type Named<K extends Kind = Kind> = { readonly kind: K; readonly locator: EndorsementLocator }

/** The record that a locator in a path names; 404 for text that no locator can be. */
export function named<K extends Kind>(kind: K, text: string): Named<K> {
  const digits = readDigits(text)
  if (digits === undefined) throw notFound(kind, text)
  return { kind, locator: digits as EndorsementLocator }
}

const selectionOf = ({ kind, locator }: Named): PolicySelection =>
  kind === 'renewal' ? { renewalLocator: locator } : { endorsementLocator: locator }

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: EndorsementLocator | PolicyLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

const shown = <K extends Kind>({ aggregate, product }: Loaded, one: Endorsement) =>
  transactionResponse(aggregate, one, product) as Answers[K]

/** All endorsements, or all renewals, of a policy, oldest first: one round trip. */
export async function transactionsOf<K extends Kind>(
  context: RequestContext,
  kind: K,
  policyText: string,
): Promise<Answers[K][]> {
  const locator = policyLocator(policyText)
  const loaded = await loadPolicy(context, databaseOf(context, locator), { locator })
  return [...loaded.aggregate.endorsements.values()]
    .filter(one => one.kind === kind)
    .map(one => shown<K>(loaded, one))
}

const load = (context: RequestContext, one: Named): Promise<Loaded> =>
  loadPolicy(context, databaseOf(context, one.locator), selectionOf(one))

/** One round trip. */
export async function readTransaction<K extends Kind>(
  context: RequestContext,
  one: Named<K>,
): Promise<Answers[K]> {
  const loaded = await load(context, one)
  return shown<K>(loaded, endorsementOf(loaded.aggregate, one.locator))
}

/** The policy as it will be once it is issued; 409 before it is accepted. One round trip. */
export async function readPolicyWhenIssued(context: RequestContext, one: Named): Promise<PolicyResponse> {
  // Issuing takes back conflicting transactions, which all kinds know.
  await import('../kinds.ts')
  return policyWhenIssued(await load(context, one), one.locator, context.now)
}

/** Has the policy's object carry out an action on its endorsements or renewals. */
export async function endorse(
  context: RequestContext,
  kind: Kind,
  policy: PolicyLocator,
  operation: EndorsementOperation,
): Promise<JsonAnswer> {
  return await operate(context, policy, { kind: 'endorsement', operation }, subject =>
    readTransaction(context, named(kind, subject.split('/')[1]!)),
  )
}

/** As `endorse`, for an action that names an endorsement or a renewal: a look-up more. */
export async function actOn(
  context: RequestContext,
  one: Named,
  operation: (endorsement: EndorsementLocator) => EndorsementOperation,
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, one.locator), selectionOf(one))
  return await endorse(context, one.kind, policy, operation(one.locator))
}

/** Its change of the price, or underwriting's decision: as recorded, or as it would be now; nothing is stored. */
export async function outlook(
  context: RequestContext,
  one: Named,
  asked: 'price' | 'underwriting',
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, one.locator), selectionOf(one))
  return await operate(context, policy, {
    kind: 'change',
    of: { kind: 'endorsement', endorsement: one.locator, asked },
  })
}
