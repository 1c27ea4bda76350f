import { chargesOf, openInstallments } from '../../policy/bills/amounts-due.ts'
import type { Modification, Policy, PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { scheduleOf } from '../../policy/terms.ts'

/**
 * Whether a product that plans its bills itself is asked to: for a renewal, and for an endorsement that charges anything
 * or names a payment schedule. Another changes nothing that is planned, and has one invoice for nothing.
 */
export const isPlannedAnew = (
  before: PolicyAggregate,
  { kind, changes }: Endorsement,
  modification: Modification,
): boolean =>
  kind === 'renewal' ||
  changes.newPaymentScheduleName !== undefined ||
  chargesOf(before, modification).length > 0

/** Whether its bills include other transactions', so that all of those charges must be known. */
export const billsOthers = (
  before: PolicyAggregate,
  { startAt, modificationLocator }: Endorsement,
): boolean =>
  openInstallments(before).some(one => one.end > startAt) ||
  [...before.installments.values()].some(one => one.absorbedBy.includes(modificationLocator!))

// What issuing an endorsement or a renewal makes of the terms that the policy is agreed on.
/** The policy with the schedule and the end that it has then. */
export const policyOnIssue = (before: PolicyAggregate, endorsement: Endorsement): Policy => ({
  ...before.policy,
  paymentScheduleName: scheduleOf(before, endorsement),
  effectiveEnd: endorsement.endAt ?? before.policy.effectiveEnd,
})
