// What each action on a policy's reinstatements decides: pure plans over what was loaded.

import { cancellationOf } from '../cancellations/cancellation-of.ts'
import { boundQuote } from '../cancellations/effect.ts'
import type { CancellationLocator, Uuid } from '../platform/locators.ts'
import type { UnderwritingResult } from '../policies/aggregate.ts'
import { type Attempt, ratingContext } from '../policies/attempt.ts'
import { chain, type Planned } from '../policies/planned.ts'
import type { Loaded } from '../policies/surroundings.ts'
import { underwriteQuote } from '../rating/rate.ts'
import type { ReinstatementCreateRequest, ReinstatementUpdateRequest } from './contract.ts'
import { planReinstatementInvalidation } from './invalidation.ts'
import {
  planExpiry,
  planReinstatementAcceptance,
  planReinstatementCreation,
  planReinstatementIssue,
  planReinstatementUpdate,
} from './plans.ts'
import { reinstatementOf } from './reinstatement-of.ts'

export type ReinstatementOperation =
  | { action: 'create'; cancellation: CancellationLocator; request: ReinstatementCreateRequest }
  | { action: 'update'; reinstatement: Uuid; request: ReinstatementUpdateRequest }
  | { action: 'accept' | 'issue' | 'invalidate' | 'expire'; reinstatement: Uuid }

/** What came of it (undefined: nothing was to be done), and which reinstatement the answer shows. */
export type ReinstatementDecision = { planned: Planned | undefined; reinstatement: Uuid }

export async function decideReinstatement(
  loaded: Loaded,
  operation: ReinstatementOperation,
  attempt: Attempt,
): Promise<ReinstatementDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  if (operation.action === 'create') {
    const { effectiveTimestamp, reinstatementDeadlineTimestamp, issue } = operation.request
    const supply = await attempt.digits(2)
    const { reinstatement, ...created } = planReinstatementCreation(
      aggregate,
      cancellationOf(aggregate, operation.cancellation),
      { effectiveAt: effectiveTimestamp, deadlineAt: reinstatementDeadlineTimestamp },
      { product, now, supply },
    )
    if (!issue) return { planned: created, reinstatement: reinstatement.locator }
    const accepted = planReinstatementAcceptance(
      created.aggregate,
      reinstatement,
      await underwritten(loaded, attempt),
      { now, supply },
    )
    const issued = planReinstatementIssue(
      accepted.aggregate,
      reinstatementOf(accepted.aggregate, reinstatement.locator),
      { product, now },
    )
    return { planned: chain(created, accepted, issued), reinstatement: reinstatement.locator }
  }
  const reinstatement = reinstatementOf(aggregate, operation.reinstatement)
  const answered = (planned: Planned | undefined) => ({ planned, reinstatement: reinstatement.locator })
  switch (operation.action) {
    case 'update': {
      const { effectiveTimestamp, reinstatementDeadlineTimestamp } = operation.request
      const terms = { effectiveAt: effectiveTimestamp, deadlineAt: reinstatementDeadlineTimestamp }
      return answered(planReinstatementUpdate(aggregate, reinstatement, terms, now))
    }
    case 'accept': {
      const supply = await attempt.digits(2)
      return answered(
        planReinstatementAcceptance(aggregate, reinstatement, await underwritten(loaded, attempt), {
          now,
          supply,
        }),
      )
    }
    case 'issue':
      return answered(planReinstatementIssue(aggregate, reinstatement, { product, now }))
    case 'invalidate':
      return answered(planReinstatementInvalidation(aggregate, reinstatement, now))
    case 'expire':
      return answered(planExpiry(aggregate, reinstatement, now))
  }
}

/** What the guidelines say of taking the policy back (brief 1.6). */
const underwritten = (loaded: Loaded, attempt: Attempt): Promise<UnderwritingResult> =>
  underwriteQuote(loaded.aggregate, boundQuote(loaded.aggregate), {
    ...ratingContext(loaded, attempt),
    operation: 'reinstatement',
  })
