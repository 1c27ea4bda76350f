import { chargesOf } from '../billing/bill.ts'
import { type Replan, replan } from '../billing/replan.ts'
import type { ProductDefinition } from '../configuration/configuration.ts'
import type { Instant } from '../platform/time.ts'
import type { Endorsement, Modification, PolicyAggregate } from '../policies/aggregate.ts'

/** The payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName

/**
 * How an endorsement that names a payment schedule is billed, be it the one that the policy has: what it charges and
 * what is open from its time on, spread over that schedule. Undefined for one that names none.
 */
export function replanOf(
  before: PolicyAggregate,
  { kind, changes: { newPaymentScheduleName: scheduleName } }: Endorsement,
  modification: Modification,
  product: ProductDefinition,
  now: Instant,
): Replan | undefined {
  if (kind === 'renewal' || scheduleName === undefined) return undefined
  const charges = chargesOf(before, modification)
  const { effectiveAt: from, policyEnd } = modification
  return replan(before, { charges, scheduleName, from, policyEnd }, product, now)
}
