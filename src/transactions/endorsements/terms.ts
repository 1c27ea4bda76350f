// What issuing an endorsement or a renewal makes of the terms that the policy is agreed on.
import type { Endorsement, Policy, PolicyAggregate } from '../../policy/records/aggregate.ts'
import { scheduleOf } from './schedule.ts'

/** The policy with the schedule and the end that it has then. */
export const policyOnIssue = (before: PolicyAggregate, endorsement: Endorsement): Policy => ({
  ...before.policy,
  paymentScheduleName: scheduleOf(before, endorsement),
  effectiveEnd: endorsement.endAt ?? before.policy.effectiveEnd,
})
