// Fills in requests for endorsements and renewals with the tenant's plugins and services, before they are decided.
import type { z } from 'zod'
import type { Instant } from '../../kernel/time.ts'
import { endorsementOf } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { assertPolicyAllows } from '../../policy/transitions.ts'
import type { Autofill } from '../autofill/fill.ts'
import { RenewalCreateRequest, RenewalUpdateRequest } from '../renewals/contract.ts'
import { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'
import { assertEndorsementAllows, type EndorsementOperation } from './plans.ts'

/** Adds the values of plugins and services. Before it calls any, rejects with 409 a policy that cannot be endorsed. */
export async function fillNewEndorsement(
  request: EndorsementCreateRequest,
  loaded: Loaded,
  autofill: Autofill,
): Promise<EndorsementCreateRequest> {
  assertPolicyAllows(loaded.aggregate, 'endorse')
  const at = (request.startTimestamp ?? autofill.now) as Instant
  const filling = { operation: 'endorsement', operationType: 'create' } as const
  return await autofill.fill(loaded, 'endorsement', request, EndorsementCreateRequest, filling, { at })
}

/** Adds the values of plugins and services. Before it calls any, rejects with 409 a policy that cannot be renewed. */
export async function fillNewRenewal(
  request: RenewalCreateRequest,
  loaded: Loaded,
  autofill: Autofill,
): Promise<RenewalCreateRequest> {
  assertPolicyAllows(loaded.aggregate, 'renew')
  const at = loaded.aggregate.policy.effectiveEnd
  const filling = { operation: 'renewal', operationType: 'create' } as const
  return await autofill.fill(loaded, 'renewal', request, RenewalCreateRequest, filling, {
    at,
    begins: 'term',
  })
}

/** Fills in requests that create or update a transaction, and no others. */
export async function fillOperation(
  operation: EndorsementOperation,
  loaded: Loaded,
  autofill: Autofill,
): Promise<EndorsementOperation> {
  switch (operation.action) {
    case 'create':
      return { ...operation, request: await fillNewEndorsement(operation.request, loaded, autofill) }
    case 'renew':
      return { ...operation, request: await fillNewRenewal(operation.request, loaded, autofill) }
    case 'update': {
      const endorsement = endorsementOf(loaded.aggregate, operation.endorsement)
      assertEndorsementAllows(endorsement, 'update')
      const { kind, locator } = endorsement
      const contract: z.ZodType = kind === 'renewal' ? RenewalUpdateRequest : EndorsementUpdateRequest
      const update = await autofill.fill(
        loaded,
        kind,
        operation.update,
        contract as z.ZodType<typeof operation.update>,
        { operation: kind, operationType: 'update', [`${kind}Locator`]: String(locator) },
        {
          at: (updatedStart(operation.update) ?? endorsement.startAt) as Instant,
          ...(kind === 'renewal' && { begins: 'term' as const }),
          asked: endorsement.changes.fieldValues,
          record: endorsement,
        },
      )
      return { ...operation, update }
    }
    default:
      return operation
  }
}

const updatedStart = (update: object): number | null | undefined =>
  'startTimestamp' in update ? (update.startTimestamp as number | null | undefined) : undefined
