import { openAfter } from '../billing/balance.ts'
import { chargesOf, termPlan } from '../billing/bill.ts'
import { isPayable } from '../billing/charge.ts'
import { type Replan, replan } from '../billing/replan.ts'
import type { ProductDefinition } from '../configuration/configuration.ts'
import type { Instant } from '../platform/time.ts'
import type { Endorsement, Modification, PolicyAggregate } from '../policies/aggregate.ts'

/** The payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName

/**
 * How a renewal is billed over its term, and how an endorsement is that charges something while installments are open,
 * or names a payment schedule, be it the one that the policy has: what it charges and what is open from its time on,
 * together by that schedule (brief 4.3). One that names none is invoiced at once for its first period (brief 4.2).
 * Undefined for one that is billed on one invoice.
 */
export function billPlanOf(
  before: PolicyAggregate,
  endorsement: Endorsement,
  modification: Modification,
  product: ProductDefinition,
  now: Instant,
): Replan | undefined {
  const charges = chargesOf(before, modification)
  const scheduleName = scheduleOf(before, endorsement)
  if (endorsement.kind === 'renewal')
    return { charges, plan: termPlan(before, modification, scheduleName, product, now), open: [] }
  const { effectiveAt: from, policyEnd } = modification
  const isNamed = endorsement.changes.newPaymentScheduleName !== undefined
  if (!isNamed && !(charges.some(isPayable) && openAfter(before, from).length > 0)) return undefined
  return replan(before, { charges, scheduleName, from, policyEnd, isAtOnce: !isNamed }, product, now)
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
  openAfter(before, startAt).length > 0 ||
  [...before.installments.values()].some(one => one.absorbedBy.includes(modificationLocator!))
