import { openInstallments } from '../../billing/balance.ts'
import { termPlan } from '../../billing/bill.ts'
import { planAfterEndorsement } from '../../billing/continuing.ts'
import { type Replan, replan } from '../../billing/replan.ts'
import type { Instant } from '../../kernel/time.ts'
import { chargesOf } from '../../policy/bills/amounts-due.ts'
import { totalsDue } from '../../policy/bills/items.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { scheduleOf } from '../../policy/terms.ts'
import type { ProductDefinition } from '../../product/configuration.ts'

/**
 * How a renewal is billed over its term, and an endorsement (brief 4.5): by the bills that are planned, each for what is
 * then in force, and at once for what bills already made charged too much or too little. One that names a payment
 * schedule, even the one that the policy has, is billed by that schedule together with what is planned (brief 4.3).
 */
export function billPlanOf(
  before: PolicyAggregate,
  endorsement: Endorsement,
  modification: Modification,
  product: ProductDefinition,
  now: Instant,
): Replan {
  const scheduleName = scheduleOf(before, endorsement)
  if (endorsement.kind === 'renewal')
    return {
      charges: chargesOf(before, modification),
      plan: termPlan(before, modification, scheduleName, product, now),
      open: [],
    }
  return endorsement.changes.newPaymentScheduleName === undefined
    ? planAfterEndorsement(before, modification, scheduleName, product, now)
    : rescheduled(before, modification, scheduleName, product, now)
}

/** From the endorsement on; from the planned bill that contains its time where that one can give what else came at once. */
function rescheduled(
  before: PolicyAggregate,
  modification: Modification,
  scheduleName: string,
  product: ProductDefinition,
  now: Instant,
): Replan {
  const { effectiveAt, policyEnd } = modification
  const charges = chargesOf(before, modification)
  const from = (at: Instant): Replan =>
    replan(before, { charges, scheduleName, from: at, policyEnd }, product, now)
  const plan = from(effectiveAt)
  const [first] = totalsDue(plan.plan, plan.charges, before.policy.currency)
  if (!first || first.minor >= 0) return plan
  const containing = openInstallments(before).find(one => one.start < effectiveAt && effectiveAt < one.end)
  return containing ? from(containing.start) : plan
}

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

/** Whether its bills are made of other transactions' too, so that all that these charge must be known. */
export const billsOthers = (
  before: PolicyAggregate,
  { startAt, modificationLocator }: Endorsement,
): boolean =>
  openInstallments(before).some(one => one.end > startAt) ||
  [...before.installments.values()].some(one => one.absorbedBy.includes(modificationLocator!))
