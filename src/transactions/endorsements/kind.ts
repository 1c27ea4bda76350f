// Endorsements and renewals as a kind of operation: one record with the same actions for both.
import { Refusal } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import { underwritingResponse } from '../../policy/projection/parts.ts'
import { endorsementOf } from '../../policy/records/look-ups.ts'
import { defineKind, type Previewed, type Response } from '../mechanism/kind.ts'
import { plannedPriceChange, priceChangeOf } from '../mechanism/price-change.ts'
import type { RenewalCreateRequest } from '../renewals/contract.ts'
import { fillNewEndorsement, fillNewRenewal, fillOperation } from './autofill.ts'
import type { EndorsementCreateRequest } from './contract.ts'
import { type Beginning, carriedOut, decideEndorsement, foreseen, previewed } from './decision.ts'
import { planEndorsementInvalidation } from './invalidation.ts'
import { type EndorsementOperation, partOf } from './operation.ts'
import { transactionResponse } from './projection.ts'

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
          throw new Refusal('wrongState', `The ${kind} ${locator} is discarded and was never priced.`)
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
  pluginRecords: {
    Endorsement: {
      form: 'digits',
      select: digits => ({ endorsementLocator: digits as EndorsementLocator }),
      show: digits => showEndorsement(digits as EndorsementLocator),
    },
    Renewal: {
      form: 'digits',
      select: digits => ({ renewalLocator: digits as EndorsementLocator }),
      show: digits => showEndorsement(digits as EndorsementLocator),
    },
  },
})
