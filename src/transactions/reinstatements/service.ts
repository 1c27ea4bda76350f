// Reinstatements, as the Worker serves them.

import { notFound } from '../../kernel/errors.ts'
import { type PolicyLocator, readUuid, type Uuid } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { shardDatabase, shardOfPolicy, shardOfRecord } from '../../platform/tenancy.ts'
import { reinstatementOf } from '../../policy/records/transactions.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import { cancellationLocator } from '../cancellations/service.ts'
import { operate } from '../policies/service.ts'
import type { ReinstatementCreateRequest, ReinstatementResponse } from './contract.ts'
import type { ReinstatementOperation } from './decision.ts'
import { reinstatementResponse } from './projection.ts'

/** The locator in a path; 404 for text that no reinstatement's can be. */
export function reinstatementLocator(text: string): Uuid {
  const locator = readUuid(text)
  if (!locator) throw notFound('reinstatement', text)
  return locator
}

const databaseOf = ({ env, tenant, calls }: RequestContext, locator: Uuid) =>
  shardDatabase(env, tenant, shardOfRecord(tenant, locator, 'reinstatement'), calls)

/** One round trip. */
export async function readReinstatement(
  context: RequestContext,
  locator: Uuid,
): Promise<ReinstatementResponse> {
  const { aggregate, product } = await loadPolicy(context, databaseOf(context, locator), {
    reinstatementLocator: locator,
  })
  return reinstatementResponse(aggregate, reinstatementOf(aggregate, locator), product)
}

/** Begins to reinstate what a cancellation ended. */
export async function reinstate(
  context: RequestContext,
  cancellationText: string,
  request: ReinstatementCreateRequest,
): Promise<JsonAnswer> {
  const cancellation = cancellationLocator(cancellationText)
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, cancellation), calls)
  const policy = await policyOf(database, { cancellationLocator: cancellation })
  return await act(context, policy, { action: 'create', cancellation, request })
}

/** Has the policy's object carry out an action on a reinstatement. */
export async function actOnReinstatement(
  context: RequestContext,
  locator: Uuid,
  operation: (reinstatement: Uuid) => ReinstatementOperation,
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, locator), { reinstatementLocator: locator })
  return await act(context, policy, operation(locator))
}

const act = (
  context: RequestContext,
  policy: PolicyLocator,
  operation: ReinstatementOperation,
): Promise<JsonAnswer> =>
  operate(context, policy, { kind: 'reinstatement', operation }, subject =>
    readReinstatement(context, reinstatementLocator(subject.split('/')[1]!)),
  )

/** What it changes of the price: as recorded, or as it would be now; nothing is stored. */
export async function reinstatementPrice(context: RequestContext, locator: Uuid): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, locator), { reinstatementLocator: locator })
  return await operate(context, policy, {
    kind: 'change',
    of: { kind: 'reinstatement', reinstatement: locator },
  })
}
