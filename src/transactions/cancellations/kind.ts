// Cancellations and withdrawals as a kind of operations.
import type { CancellationLocator } from '../../kernel/locators.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { cancellationOf } from '../../policy/records/transactions.ts'
import { assertPolicyAllows } from '../../policy/transitions.ts'
import { defineKind, pluginRecord, showRecord } from '../mechanism/kind.ts'
import { priceChangeOf } from '../mechanism/price-change.ts'
import { planWithProration } from '../mechanism/prorating.ts'
import type { CancellationCreateRequest } from './contract.ts'
import {
  billedByProduct,
  type CancellationOperation,
  decideCancellation,
  orderOf,
  planCancelled,
  previewCancellation,
} from './decision.ts'
import { applyCancellation } from './effect.ts'
import { CANCELLATIONS, cancellationValue } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** Also cancels or withdraws in one step. */
    cancellation: { operation: CancellationOperation }
  }
  interface PlannedChanges {
    cancellation: { cancellation: CancellationLocator }
    /** A legacy cancellation at that time. Default: now. */
    value: { coverageEndAt?: Instant }
  }
  interface Previews {
    cancellation: CancellationCreateRequest
  }
}

export const cancellationKind = defineKind<'cancellation'>({
  name: 'cancellation',
  record: ({ operation }) =>
    'cancellation' in operation ? showRecord(CANCELLATIONS, operation.cancellation) : undefined,
  async decide(loaded, { operation }, { attempt }) {
    const { planned, cancellation } = await decideCancellation(loaded, operation, attempt)
    if (cancellation === undefined) return { planned }
    return { planned, response: showRecord(CANCELLATIONS, cancellation), subject: String(cancellation) }
  },
  changes: {
    cancellation: {
      async decide(loaded, { cancellation: locator }, attempt) {
        const cancellation = cancellationOf(loaded.aggregate, locator)
        const carryOut = () =>
          planWithProration(loaded, attempt, { digits: 1 }, context =>
            applyCancellation(loaded.aggregate, orderOf(cancellation), context),
          )
        return await priceChangeOf(loaded, cancellation, carryOut, attempt)
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
        const needs = { ...billedByProduct(loaded, attempt), holdsNothingBack: true }
        const billed = await planWithProration(loaded, attempt, needs, context =>
          planCancelled(aggregate, context, order),
        )
        return cancellationValue(aggregate, billed, product)
      },
    },
  },
  previews: {
    cancellation: {
      async carryOut(loaded, request, attempt) {
        const { planned, cancellation } = await previewCancellation(loaded, request, attempt)
        const { modificationLocator } = cancellationOf(planned.aggregate, cancellation)
        return { planned, modificationLocator: modificationLocator! }
      },
      issuedBy: asked =>
        asked.kind === 'cancellation' && asked.operation.action === 'create' && asked.operation.request.issue
          ? { request: asked.operation.request, at: () => asked }
          : undefined,
    },
  },
  pluginRecords: { Cancellation: pluginRecord(CANCELLATIONS) },
})
