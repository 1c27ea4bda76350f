// What issuing an endorsement or a renewal makes of the terms that the policy is agreed on.
import type { Policy, PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { scheduleOf } from '../../policy/terms.ts'

/** The policy with the schedule and the end that it has then. */
export const policyOnIssue = (before: PolicyAggregate, endorsement: Endorsement): Policy => ({
  ...before.policy,
  paymentScheduleName: scheduleOf(before, endorsement),
  effectiveEnd: endorsement.endAt ?? before.policy.effectiveEnd,
})
