// Endorsements and renewals as a kind of operation: one record with the same actions for both.

import type { z } from 'zod'
import { wrongState } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { underwritingResponse } from '../../policy/projection/characteristics.ts'
import { endorsementOf } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { assertPolicyAllows } from '../../policy/transitions.ts'
import type { Autofill } from '../autofill/fill.ts'
import { defineKind, type Previewed, pluginRecord, type Response } from '../mechanism/kind.ts'
import { plannedPriceChange, priceChangeOf } from '../mechanism/price-change.ts'
import { RenewalCreateRequest, RenewalUpdateRequest } from '../renewals/contract.ts'
import { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'
import { type Beginning, carriedOut, decideEndorsement, foreseen, previewed } from './decision.ts'
import { planEndorsementInvalidation } from './effect.ts'
import { assertEndorsementAllows, type EndorsementOperation, partOf } from './operation.ts'
import { ENDORSEMENTS, RENEWALS, transactionResponse } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** An action on the policy's endorsements and renewals; the legacy ones answer with the policy. */
    endorsement: { operation: EndorsementOperation; answersPolicy?: boolean }
  }
  interface PlannedChanges {
    /** An endorsement's or a renewal's price, or its underwriting. */
    endorsement: { endorsement: EndorsementLocator; asked: 'price' | 'underwriting' }
    /** An endorsement that is not created. */
    newEndorsement: { request: EndorsementCreateRequest }
    /** A renewal that is not created. */
    renewal: { request: RenewalCreateRequest }
  }
  interface Previews {
    endorsement: EndorsementCreateRequest
    renewal: RenewalCreateRequest
  }
}

const showEndorsement =
  (locator: EndorsementLocator): Response =>
  ({ aggregate, product }) =>
    transactionResponse(aggregate, endorsementOf(aggregate, locator), product)

async function previewOf(...[loaded, operation, attempt]: Parameters<typeof foreseen>): Promise<Previewed> {
  const { planned, endorsement } = await foreseen(loaded, operation, attempt)
  const { modificationLocator } = endorsementOf(planned.aggregate, endorsement)
  return { planned, modificationLocator: modificationLocator! }
}

const priceOfNew = async (...[loaded, operation, attempt]: Parameters<typeof previewed>) =>
  plannedPriceChange(loaded.aggregate, await previewed(loaded, operation, attempt), loaded.product)

const created = (request: EndorsementCreateRequest): Beginning => ({ action: 'create', request })
const renewed = (request: RenewalCreateRequest): Beginning => ({ action: 'renew', request })

export const endorsementKind = defineKind<'endorsement'>({
  name: 'endorsement',
  part: ({ operation, answersPolicy }) => (answersPolicy ? undefined : partOf(operation)),
  record: ({ operation }) =>
    'endorsement' in operation ? showEndorsement(operation.endorsement) : undefined,
  fill: async (asked, loaded, autofill) => ({
    ...asked,
    operation: await fillOperation(asked.operation, loaded, autofill),
  }),
  async decide(loaded, { operation, answersPolicy }, { attempt }) {
    const { planned, endorsement } = await decideEndorsement(loaded, operation, attempt)
    if (answersPolicy) return { planned }
    return { planned, response: showEndorsement(endorsement), subject: String(endorsement) }
  },
  pending: ({ endorsements }) =>
    [...endorsements.values()].flatMap(({ kind, locator, state, createdAt }) =>
      state === 'quoted' || state === 'accepted'
        ? [
            {
              kind,
              locator: String(locator),
              state,
              createdAt,
              takeBack: (from, now) =>
                planEndorsementInvalidation(from, from.endorsements.get(locator)!, now),
            },
          ]
        : [],
    ),
  changes: {
    endorsement: {
      async decide(loaded, { endorsement: locator, asked }, attempt) {
        const { aggregate } = loaded
        const endorsement = endorsementOf(aggregate, locator)
        const { kind, state, underwriting, modificationLocator } = endorsement
        const isRecorded =
          modificationLocator !== undefined && aggregate.modifications.has(modificationLocator)
        if (!isRecorded && state === 'discarded')
          throw wrongState(`The ${kind} ${locator} is discarded and was never priced.`)
        const carryOut = () => carriedOut(aggregate, endorsement, loaded, attempt)
        if (asked === 'price') return await priceChangeOf(loaded, endorsement, carryOut)
        return underwritingResponse(isRecorded ? underwriting! : (await carryOut()).underwriting)
      },
    },
    newEndorsement: {
      fill: async (change, loaded, autofill) => ({
        ...change,
        request: await fillNewEndorsement(change.request, loaded, autofill),
      }),
      decide: (loaded, { request }, attempt) => priceOfNew(loaded, created(request), attempt),
    },
    renewal: {
      fill: async (change, loaded, autofill) => ({
        ...change,
        request: await fillNewRenewal(change.request, loaded, autofill),
      }),
      decide: (loaded, { request }, attempt) => priceOfNew(loaded, renewed(request), attempt),
    },
  },
  previews: {
    endorsement: {
      fill: fillNewEndorsement,
      carryOut: (loaded, request, attempt) => previewOf(loaded, created(request), attempt),
    },
    renewal: {
      fill: fillNewRenewal,
      carryOut: (loaded, request, attempt) => previewOf(loaded, renewed(request), attempt),
    },
  },
  pluginRecords: { Endorsement: pluginRecord(ENDORSEMENTS), Renewal: pluginRecord(RENEWALS) },
})

// Requests for endorsements and renewals as plugins and services fill them in.
/** A new endorsement's request, filled in. Refuses (409) where the policy cannot be endorsed, before anything is called. */
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

/** A new renewal's request, filled in. Refuses (409) where the policy cannot be renewed, before anything is called. */
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

/** An action on endorsements or renewals; requests that create or update one are filled in. */
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
