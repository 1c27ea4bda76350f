// The money of a legacy lapse and of the way back (brief 1.7). What a policy costs until its lapse is N, what was paid
// for it is P.
//
// At the lapse the outstanding invoices are written off, and no installment that is not invoiced yet ever will be. The
// lapse's own invoice takes over what all of them asked for and gives back the cover that ends, so that it comes to
// N − P exactly. Above zero that is cover which was had and never paid for: it is given up with the others. Below
// zero the policyholder has paid for cover that ended: it is a refund, like that of a cancellation. Written off and not
// taken over, an invoice that was never paid would be given back a second time. What was paid of an invoice that is written
// off stays paid: it is in P, and the lapse's invoice takes over only what was open of it. Refunds that were owed before
// stay owed, and are in P as if paid out.
//
// A reinstatement from R on brings back what the lapse removed, less the gap until R: B. Its first invoice asks for
// what would have been paid up to R, less the gap: B and, where the lapse's invoice was not paid, N − P, without what the
// installments ask for that are due after R. Those go on as they were planned, each for its own amount, whether
// they had been written off or never invoiced: F in all. P + (B + N − P − F) + F = N + B: every cent is billed once. Taken
// back at once, with no gap, a policy is paid by exactly the amounts by which it would have been paid without the lapse.
import { makeBills } from '../../billing/billing.ts'
import { planWriteOff } from '../../billing/payments.ts'
import { comingBack, onlyInstallment, recorded } from '../../billing/schedule.ts'
import type { LocatorSupply } from '../../kernel/locators.ts'
import { sum } from '../../kernel/money.ts'
import { endOfDay, type Instant, later } from '../../kernel/time.ts'
import { installmentOf, invoicesOf, openInstallments, planOf } from '../../policy/bills/amounts-due.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import {
  applied,
  isOutstanding,
  type PlannedInstallment,
  standingPayments,
} from '../../policy/records/invoice.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import { isOwed } from './timers.ts'

/** Writes off what is outstanding and bills the lapse. Takes one digit. */
export function billLapse(
  before: PolicyAggregate,
  modification: Modification,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Planned {
  const owed = [...before.invoices.values()].filter(one => isOutstanding(one) && isOwed(before, one))
  const given = planWriteOff(before, owed, now)
  const stopped = [
    ...owed.map(invoice => installmentOf(before, invoice)),
    ...openInstallments(given.aggregate),
  ]
  const paidBefore = Object.fromEntries(
    owed.flatMap(invoice => {
      const { minor } = sum(standingPayments(before, invoice).map(applied), before.policy.currency)
      return minor === 0 ? [] : [[installmentOf(before, invoice).locator, minor]]
    }),
  )
  const plan = [{ ...onlyInstallment(before, modification, now), paidBefore }]
  const billed = makeBills(given.aggregate, modification, { plan, open: stopped }, { now, supply })
  const { invoice, totalDue } = billed.made[0]!
  return chain(given, billed, totalDue.minor > 0 ? planWriteOff(billed.aggregate, [invoice], now) : undefined)
}

/** The plan of a reinstatement: what is to be paid up to its time, payable until `dueAt`, and what goes on after it. */
export function reinstatementPlan(
  before: PolicyAggregate,
  modification: Modification,
  lapse: Modification,
  dueAt: Instant,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): PlannedInstallment[] {
  const [ofLapse] = planOf(before, lapse)
  const endOfThatDay = endOfDay(modification.effectiveAt, before.policy.timeZone)
  const coming = stoppedBy(before, lapse).filter(one => one.dueAt > endOfThatDay)
  const isUnpaid = standingPayments(before, invoicesOf(before, lapse)[0]!).length === 0
  const own = {
    ...onlyInstallment(before, modification, now),
    dueAt,
    ...(isUnpaid && { takesOver: [ofLapse!.locator] }),
    leavesOut: coming.map(one => one.locator),
  }
  return recorded([own, ...comingBack(coming)], modification, supply)
}

/** Installments that a lapse wrote off or dropped, in the order in which they would have been due. */
const stoppedBy = ({ installments }: PolicyAggregate, { locator }: Modification): PlannedInstallment[] =>
  [...installments.values()]
    .filter(one => one.absorbedBy.includes(locator))
    .sort((a, b) => a.dueAt - b.dueAt || a.start - b.start)

/** The policy whose reinstatement is issued now: installments after the first are invoiced from now on. */
export function goingOn(before: PolicyAggregate, modification: Modification, now: Instant): PolicyAggregate {
  const endOfToday = endOfDay(now, before.policy.timeZone)
  const moved = planOf(before, modification)
    .filter(one => one.number > 1)
    .map(one => ({ ...one, issueAt: later(one.issueAt, now), dueAt: later(one.dueAt, endOfToday) }))
  return { ...before, installments: putRecords(before.installments, moved) }
}
