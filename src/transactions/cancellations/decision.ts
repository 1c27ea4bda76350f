// Decides each action on a policy's cancellations: pure plans over the loaded policy.

import { ownBills } from '../../billing/plugin-bills.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { cancellationOf } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { prorated } from '../mechanism/prorating.ts'
import type { CancellationCreateRequest, CancellationUpdateRequest } from './contract.ts'
import {
  planCancellationCreation,
  planCancellationIssue,
  planCancellationUpdate,
  planLegacyCancellation,
  planRescission,
  planWithdrawal,
} from './plans.ts'

export type CancellationOperation =
  | { action: 'create'; request: CancellationCreateRequest }
  | { action: 'update'; cancellation: CancellationLocator; request: CancellationUpdateRequest }
  | { action: 'issue' | 'rescind'; cancellation: CancellationLocator }
  /** In one step; answered with the policy (brief 1.7). */
  | { action: 'legacy'; coverageEndAt: Instant }
  | { action: 'withdraw' }

/** The result, and the cancellation that the answer shows; undefined for the policy. */
export type CancellationDecision = { planned: Planned; cancellation?: CancellationLocator }

export async function decideCancellation(
  loaded: Loaded,
  operation: CancellationOperation,
  attempt: Attempt,
): Promise<CancellationDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  switch (operation.action) {
    case 'create': {
      const { request } = operation
      const { cancellation, ...created } = planCancellationCreation(aggregate, termsOf(request), {
        product,
        now,
        supply: await attempt.digits(1),
      })
      const issued = request.issue
        ? await prorated(loaded, attempt, billedByProduct(loaded, attempt), context =>
            planCancellationIssue(created.aggregate, cancellation, context),
          )
        : undefined
      return { planned: chain(created, issued), cancellation: cancellation.locator }
    }
    case 'update': {
      const { effectiveTimestamp, cancellationCategory, ...changes } = operation.request
      const cancellation = cancellationOf(aggregate, operation.cancellation)
      const terms = { ...changes, effectiveAt: effectiveTimestamp, category: cancellationCategory }
      const planned = planCancellationUpdate(aggregate, cancellation, terms, { product, now })
      return { planned, cancellation: cancellation.locator }
    }
    case 'rescind': {
      const cancellation = cancellationOf(aggregate, operation.cancellation)
      return { planned: planRescission(aggregate, cancellation, now), cancellation: cancellation.locator }
    }
    case 'issue': {
      const cancellation = cancellationOf(aggregate, operation.cancellation)
      const planned = await prorated(loaded, attempt, billedByProduct(loaded, attempt), context =>
        planCancellationIssue(aggregate, cancellation, context),
      )
      return { planned, cancellation: cancellation.locator }
    }
    case 'legacy':
      return {
        planned: await prorated(
          loaded,
          attempt,
          { ...billedByProduct(loaded, attempt), digits: 3 },
          context => planLegacyCancellation(aggregate, operation.coverageEndAt, context),
        ),
      }
    case 'withdraw':
      return {
        planned: await planWithdrawal(aggregate, {
          product,
          now,
          supply: await attempt.digits(2),
          ownBills: ownBills('cancellation', loaded, attempt),
        }),
      }
  }
}

/**
 * A cancellation issued, after what stands in its way is taken back: what would become of the policy. Nothing of it
 * is stored. Refuses as creating it would.
 */
export async function foreseenCancellation(
  loaded: Loaded,
  request: CancellationCreateRequest,
  attempt: Attempt,
): Promise<{ planned: Planned; cancellation: CancellationLocator }> {
  const { aggregate, product } = loaded
  const context = { product, now: attempt.now, supply: await attempt.digits(1) }
  const type = product.cancellationTypes?.find(one => one.name === request.name)
  const { cancellation, ...created } = planCancellationCreation(
    aggregate,
    {
      ...termsOf(request),
      conflictHandling: 'invalidate',
      // It can be chosen as late as on issuing; a cancellation's effect does not depend on it.
      category: request.cancellationCategory ?? type?.cancellationCategories[0],
    },
    context,
  )
  const issued = await prorated(loaded, attempt, billedByProduct(loaded, attempt), context =>
    planCancellationIssue(created.aggregate, cancellation, context),
  )
  return { planned: chain(created, issued), cancellation: cancellation.locator }
}

/** To carry a cancellation out takes two digits. */
const billedByProduct = (loaded: Loaded, attempt: Attempt) => ({
  digits: 2,
  ownBills: ownBills('cancellation', loaded, attempt),
})

const termsOf = (request: CancellationCreateRequest) => ({
  name: request.name,
  effectiveAt: request.effectiveTimestamp,
  conflictHandling: request.conflictHandling ?? ('block' as const),
  category: request.cancellationCategory,
})
