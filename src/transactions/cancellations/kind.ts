// Cancellations and withdrawals as a kind of operation.
import { ownBills } from '../../billing/plugin-bills.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { cancellationOf } from '../../policy/records/transactions.ts'
import { assertPolicyAllows } from '../../policy/transitions.ts'
import { defineKind, type Response } from '../mechanism/kind.ts'
import { priceChangeOf } from '../mechanism/price-change.ts'
import { prorated } from '../mechanism/prorating.ts'
import type { CancellationCreateRequest } from './contract.ts'
import { type CancellationOperation, decideCancellation, foreseenCancellation } from './decision.ts'
import { cancelled } from './effect.ts'
import { orderOf, planCancelled } from './plans.ts'
import { cancellationResponse, cancellationValue } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** An action on the policy's cancellations, or a cancellation or withdrawal in one step. */
    cancellation: { operation: CancellationOperation }
  }
  interface PlannedChanges {
    cancellation: { cancellation: CancellationLocator }
    /** A legacy cancellation at that time; by default now. */
    value: { coverageEndAt?: Instant }
  }
  interface Previews {
    cancellation: CancellationCreateRequest
  }
}

export const showCancellation =
  (locator: CancellationLocator): Response =>
  ({ aggregate, product }) =>
    cancellationResponse(aggregate, cancellationOf(aggregate, locator), product)

export const cancellationKind = defineKind<'cancellation'>({
  name: 'cancellation',
  record: ({ operation }) =>
    'cancellation' in operation ? showCancellation(operation.cancellation) : undefined,
  async decide(loaded, { operation }, { attempt }) {
    const { planned, cancellation } = await decideCancellation(loaded, operation, attempt)
    if (cancellation === undefined) return { planned }
    return { planned, response: showCancellation(cancellation), subject: String(cancellation) }
  },
  changes: {
    cancellation: {
      async decide(loaded, { cancellation: locator }, attempt) {
        const cancellation = cancellationOf(loaded.aggregate, locator)
        return await priceChangeOf(loaded, cancellation, () =>
          prorated(loaded, attempt, { digits: 1 }, context =>
            cancelled(loaded.aggregate, orderOf(cancellation), context),
          ),
        )
      },
    },
    value: {
      async decide(loaded, { coverageEndAt }, attempt) {
        const { aggregate, product } = loaded
        assertPolicyAllows(aggregate, 'cancel')
        const order = {
          kind: 'cancellation' as const,
          name: 'modification.policy.cancel',
          effectiveAt: later(coverageEndAt ?? attempt.now, aggregate.policy.originalStart),
          proration: product.legacyCancellationProration,
          mayBeEmpty: true,
        }
        const billing = { digits: 2, ownBills: ownBills('cancellation', loaded, attempt) }
        const carried = await prorated(loaded, attempt, billing, context =>
          planCancelled(aggregate, context, order),
        )
        return cancellationValue(aggregate, carried, product)
      },
    },
  },
  previews: {
    cancellation: {
      async carryOut(loaded, request, attempt) {
        const { planned, cancellation } = await foreseenCancellation(loaded, request, attempt)
        const { modificationLocator } = cancellationOf(planned.aggregate, cancellation)
        return { planned, modificationLocator: modificationLocator! }
      },
    },
  },
  pluginRecords: {
    Cancellation: {
      form: 'digits',
      select: digits => ({ cancellationLocator: digits as CancellationLocator }),
      show: digits => showCancellation(digits as CancellationLocator),
    },
  },
})
