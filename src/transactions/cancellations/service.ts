// Cancellations, as the Worker serves them.

import { notFound } from '../../kernel/errors.ts'
import { type CancellationLocator, type PolicyLocator, readDigits } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { cancellationOf } from '../../policy/records/transactions.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import type { PlannedChange } from '../mechanism/kind.ts'
import { operate, policyLocator, readPolicy } from '../policies/service.ts'
import type { CancellationResponse } from './contract.ts'
import type { CancellationOperation } from './decision.ts'
import { cancellationResponse } from './projection.ts'

/** The locator in a path; 404 for text that no cancellation's can be. */
export function cancellationLocator(text: string): CancellationLocator {
  const digits = readDigits(text)
  if (digits === undefined) throw notFound('cancellation', text)
  return digits as CancellationLocator
}

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: CancellationLocator | PolicyLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

/** All cancellations of a policy, oldest first: one round trip. */
export async function cancellationsOf(
  context: RequestContext,
  policyText: string,
): Promise<CancellationResponse[]> {
  const locator = policyLocator(policyText)
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), { locator })
  return [...aggregate.cancellations.values()].map(one => cancellationResponse(aggregate, one, product))
}

/** One round trip. */
export async function readCancellation(
  context: RequestContext,
  locator: CancellationLocator,
): Promise<CancellationResponse> {
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), {
    cancellationLocator: locator,
  })
  return cancellationResponse(aggregate, cancellationOf(aggregate, locator), product)
}

/** Has the policy's object carry out an action on its cancellations, or cancel or withdraw it in one step. */
export async function cancel(
  context: RequestContext,
  policy: PolicyLocator,
  operation: CancellationOperation,
): Promise<JsonAnswer> {
  return await operate(context, policy, { kind: 'cancellation', operation }, subject => {
    const [ofPolicy, cancellation] = subject.split('/')
    return cancellation === undefined
      ? readPolicy(context, policyLocator(ofPolicy!), { summarizeQuotes: false })
      : readCancellation(context, cancellationLocator(cancellation))
  })
}

/** As `cancel`, for an action that names a cancellation: a look-up more. */
export async function actOnCancellation(
  context: RequestContext,
  locator: CancellationLocator,
  operation: (cancellation: CancellationLocator) => CancellationOperation,
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, locator), { cancellationLocator: locator })
  return await cancel(context, policy, operation(locator))
}

/** Its price change: as recorded, or as it would be now; nothing is stored. */
export async function cancellationPrice(
  context: RequestContext,
  locator: CancellationLocator,
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, locator), { cancellationLocator: locator })
  const of: PlannedChange = { kind: 'cancellation', cancellation: locator }
  return await operate(context, policy, { kind: 'change', of })
}
