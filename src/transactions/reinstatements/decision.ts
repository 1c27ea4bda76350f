// What each action on a policy's reinstatements decides: pure plans over what was loaded.
import { ownBills } from '../../billing/plugin-bills.ts'
import type { CancellationLocator, Uuid } from '../../kernel/locators.ts'
import { boundQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  cancellationOf,
  type Reinstatement,
  reinstatementOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import { type Attempt, assertUnderwritten, ratingContext, underwriteQuote } from '../../rating/rate.ts'
import { withoutConflicts } from '../mechanism/kind.ts'
import { prorated } from '../mechanism/prorating.ts'
import type { ReinstatementCreateRequest, ReinstatementUpdateRequest } from './contract.ts'
import { planReinstatementInvalidation } from './invalidation.ts'
import {
  digitsForAcceptance,
  planExpiry,
  planReinstatementAcceptance,
  planReinstatementCreation,
  planReinstatementIssue,
  planReinstatementUpdate,
} from './plans.ts'

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
    const { issue } = operation.request
    const { reinstatement, ...created } = planReinstatementCreation(
      aggregate,
      cancellationOf(aggregate, operation.cancellation),
      termsOf(operation.request),
      { product, now, supply: attempt.supply },
    )
    if (!issue) return { planned: created, reinstatement: reinstatement.locator }
    const accepted = await acceptance(created.aggregate, reinstatement, loaded, attempt)
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
    case 'update':
      return answered(planReinstatementUpdate(aggregate, reinstatement, termsOf(operation.request), now))
    case 'accept':
      return answered(await acceptance(aggregate, reinstatement, loaded, attempt))
    case 'issue':
      return answered(planReinstatementIssue(aggregate, reinstatement, { product, now }))
    case 'invalidate':
      return answered(planReinstatementInvalidation(aggregate, reinstatement, now))
    case 'expire':
      return answered(planExpiry(aggregate, reinstatement, now))
  }
}

/** Accepts it, if underwriting does. */
async function acceptance(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const underwriting = await underwritten(reinstatement, loaded, attempt)
  const billing = billedByProduct(before, reinstatement, loaded, attempt)
  const accepted = await prorated(loaded, attempt, billing, context =>
    planReinstatementAcceptance(before, reinstatement, underwriting, context),
  )
  assertUnderwritten('reinstatement', underwriting)
  return accepted
}

/**
 * A reinstatement issued whatever underwriting says, after what stands in its way is taken back: what would become
 * of the policy. Nothing of it is stored. Refuses as creating it would.
 */
export async function foreseenReinstatement(
  loaded: Loaded,
  cancellation: CancellationLocator,
  request: ReinstatementCreateRequest,
  attempt: Attempt,
): Promise<{ planned: Planned; reinstatement: Uuid }> {
  const { aggregate, product } = loaded
  const { now, supply } = attempt
  const context = { product, now, supply }
  const of = cancellationOf(aggregate, cancellation)
  const { reinstatement, ...created } = planReinstatementCreation(aggregate, of, termsOf(request), context)
  const { locator } = reinstatement
  const cleared = withoutConflicts(created.aggregate, locator, 'invalidate', now)
  const underwriting = await underwritten(reinstatement, loaded, attempt)
  const billing = billedByProduct(cleared.aggregate, reinstatement, loaded, attempt)
  const accepted = await prorated(loaded, attempt, billing, one =>
    planReinstatementAcceptance(cleared.aggregate, reinstatement, underwriting, one),
  )
  const asAccepted = reinstatementOf(accepted.aggregate, locator)
  const issued = planReinstatementIssue(accepted.aggregate, asAccepted, context)
  return { planned: chain(created, cleared, accepted, issued), reinstatement: locator }
}

const billedByProduct = (
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  loaded: Loaded,
  attempt: Attempt,
) => ({
  digits: digitsForAcceptance(before, reinstatement, attempt.now),
  ownBills: ownBills('reinstatement', loaded, attempt),
})

const termsOf = ({
  effectiveTimestamp: effectiveAt,
  reinstatementDeadlineTimestamp: deadlineAt,
}: ReinstatementUpdateRequest) => ({ effectiveAt, deadlineAt })

/** What the guidelines say of taking the policy back (brief 1.6). */
const underwritten = (
  { effectiveAt }: Reinstatement,
  loaded: Loaded,
  attempt: Attempt,
): Promise<UnderwritingResult> =>
  underwriteQuote(loaded.aggregate, boundQuote(loaded.aggregate), {
    ...ratingContext(loaded, attempt, effectiveAt),
    operation: 'reinstatement',
  })
