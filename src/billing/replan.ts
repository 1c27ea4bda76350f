// Changes bills while installments are open, for an endorsement or another payment schedule (brief 4.3): open installments are
// taken over, and what they would have billed lies on the periods of the schedule, together with the change's own charges.
// Nothing is lost or created: invoices stay, and the rest of every charge is split again.
import type { CurrencyCode } from '../kernel/money.ts'
import { endOfDay, type Instant, type TimeZone } from '../kernel/time.ts'
import { chargesOf, openAfter, openInstallments, restsOf } from '../policy/bills/amounts-due.ts'
import type { Charge } from '../policy/bills/charge.ts'
import { installmentItems, totalsDue } from '../policy/bills/items.ts'
import type { Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { BillingPeriod, Installment } from '../policy/records/invoice.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import {
  type BillPlan,
  carryingForward,
  installmentOf,
  numbered,
  paidTogether,
  periodsFrom,
  scheduleFor,
  termsOf,
} from './schedule.ts'

export type ReplanOrder = {
  /** The change's own charges. */
  readonly charges: readonly Charge[]
  readonly scheduleName: string
  /** Installments whose periods begin earlier stay as they were planned. */
  readonly from: Instant
  /** Where the policy ends with the change. */
  readonly policyEnd: Instant
}

/**
 * The plan from a time on by another schedule of the product. What was open is billed over the periods that it would
 * have paid for, so that no one pays earlier or twice; what the change charges from its time on. Where the policy gets
 * shorter, what was planned beyond its end comes with the first installment, as does what is given back of it. Empty when
 * there is nothing to bill.
 */
export function replan(
  before: PolicyAggregate,
  { charges: own, scheduleName, from, policyEnd }: ReplanOrder,
  product: ProductDefinition,
  now: Instant,
): BillPlan {
  const { timeZone, currency } = before.policy
  const open = openAfter(before, from)
  const charges = [...own, ...restsOf(before, open)]
  if (charges.length === 0) return { charges, plan: [], open }
  const { type } = product.paymentSchedules.find(one => one.name === scheduleName)!
  const schedule = scheduleFor(charges, type)
  const periods = periodsFrom(termsOf(before, policyEnd), schedule, timeZone, from)
  const beyond = periodsFrom(termsOf(before, before.policy.effectiveEnd), schedule, timeZone, policyEnd)
  const context = { now, timeZone, currency, terms: product.defaultPaymentTerms }
  const plan = planned(periods, beyond.flat(), charges, context)
  return {
    charges,
    plan: carryingForward(plan, product, currency),
    open,
  }
}

type PlanContext = {
  readonly now: Instant
  readonly timeZone: TimeZone
  readonly currency: CurrencyCode
  readonly terms: ProductDefinition['defaultPaymentTerms']
}

/**
 * An installment for each period that something is billed in, those past as one; each is invoiced when the payment
 * terms say, the first too. Nobody waits for a refund: everything up to the last installment that would give back is
 * one, made at once.
 */
function planned(
  periods: readonly BillingPeriod[][],
  beyond: readonly BillingPeriod[],
  charges: readonly Charge[],
  context: PlanContext,
): Installment[] {
  const { now, timeZone, currency } = context
  const endOfToday = endOfDay(now, timeZone)
  const [first, ...others] = paidTogether(periods, endOfToday).map(group => installmentOf(group, context))
  let plan = numbered([{ ...first!, periods: [...first!.periods, ...beyond] }, ...others])
  // Where an installment goes, amounts of a few minor units may come to lie on others: so until nothing changes.
  for (;;) {
    const items = installmentItems(plan, charges)
    const billing = plan.filter((_, index) => items[index]!.length > 0)
    const last = totalsDue(billing, charges, currency).findLastIndex(total => total.minor < 0)
    const isSettled = last < 0 || (last === 0 && billing[0]!.issueAt === now)
    if (billing.length === plan.length && isSettled) return plan
    plan = numbered(isSettled ? billing : [atOnce(billing.slice(0, last + 1)), ...billing.slice(last + 1)])
  }

  function atOnce(together: readonly Installment[]): Omit<Installment, 'number'> {
    const periods = together.flatMap(one => one.periods)
    return { ...together[0]!, end: together.at(-1)!.end, periods, issueAt: now, dueAt: endOfToday }
  }
}

/** From the endorsement on; from the planned bill that contains its time where that one can give what else came at once. */
export function rescheduled(
  before: PolicyAggregate,
  modification: Modification,
  scheduleName: string,
  product: ProductDefinition,
  now: Instant,
): BillPlan {
  const { effectiveAt, policyEnd } = modification
  const charges = chargesOf(before, modification)
  const from = (at: Instant): BillPlan =>
    replan(before, { charges, scheduleName, from: at, policyEnd }, product, now)
  const plan = from(effectiveAt)
  const [first] = totalsDue(plan.plan, plan.charges, before.policy.currency)
  if (!first || first.minor >= 0) return plan
  const containing = openInstallments(before).find(one => one.start < effectiveAt && effectiveAt < one.end)
  return containing ? from(containing.start) : plan
}
