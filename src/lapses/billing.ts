// The money of a legacy lapse and of the way back (brief 1.7). What a policy costs until its lapse is N, what was paid
// of it is P, what its outstanding invoices ask for is O.
//
// At the lapse the outstanding invoices are written off, and no installment that is not invoiced yet ever will be. One
// invoice of the lapse takes over what all of them asked for and gives back the cover that ends, so that it comes to
// N − P exactly. Above zero that is cover which was had and never paid for: it is given up with the others. Below
// zero the policyholder has paid for cover that ended: it is a refund, like that of a cancellation. Written off and not
// taken over, an invoice that was never paid would be given back a second time.
//
// A reinstatement from R on brings back what the lapse removed, less the gap until R: B. Its first invoice asks for
// what would have been paid up to R, less the gap: B and, where the lapse's invoice was not paid, N − P, without what the
// installments ask for that are due after R. Those go on as they were planned, each for its own amount, whether
// they had been written off or never invoiced: F in all. P + (B + N − P − F) + F = N + B: every cent is billed once. Taken
// back at once, with no gap, a policy is paid by exactly the amounts by which it would have been paid without the lapse.
import { type BalanceContext, onlyInstallment, openInstallments } from '../billing/balance.ts'
import { invoicesOf, invoiceWhatIsDue, planOf, totalDueOf } from '../billing/bill.ts'
import { carriedForward, type Invoice, invoiceStatus, isOutstanding, writtenOff } from '../billing/invoice.ts'
import type { Uuid } from '../platform/locators.ts'
import { endOfDay, type Instant, later } from '../platform/time.ts'
import {
  type Modification,
  type PlannedInstallment,
  type PolicyAggregate,
  withRecords,
} from '../policies/aggregate.ts'
import { invoiceEvent, invoiceEvents } from '../policies/events.ts'
import type { Planned } from '../policies/planned.ts'
import { isOwed } from './past-due.ts'

/** Writes off what is outstanding and bills the lapse. Takes one digit. */
export function billLapse(
  before: PolicyAggregate,
  modification: Modification,
  { now, supply }: BalanceContext,
): Planned {
  const outstanding = [...before.invoices.values()].filter(isOutstanding)
  const given = planGivingUp(before, outstanding, now)
  const plan: PlannedInstallment = {
    ...onlyInstallment(before, modification, { now, supply }),
    takesOver: outstanding.map(invoice => installmentOf(before, invoice)),
  }
  const dropped = openInstallments(given.aggregate).map(one => ({
    ...one,
    absorbedBy: modification.locator,
  }))
  const planned = {
    ...given.aggregate,
    installments: withRecords(given.aggregate.installments, [...dropped, plan]),
  }
  const { aggregate, made } = invoiceWhatIsDue(planned, modification, { now, supply })
  const { invoice, totalDue } = made[0]!
  const billed: Planned = {
    aggregate,
    events: [...given.events, ...invoiceEvents(aggregate, invoice, totalDue)],
  }
  if (totalDue.minor <= 0) return billed
  const lost = planGivingUp(aggregate, [invoice], now)
  return { aggregate: lost.aggregate, events: [...billed.events, ...lost.events] }
}

/** Invoices that are owed are written off; refunds that were not paid yet are carried forward. */
export function planGivingUp(before: PolicyAggregate, invoices: readonly Invoice[], now: Instant): Planned {
  const [owed, refunds] = [
    invoices.filter(invoice => isOwed(before, invoice)),
    invoices.filter(invoice => !isOwed(before, invoice)),
  ]
  const lost = owed.map(invoice => writtenOff(invoice, now))
  const aggregate: PolicyAggregate = {
    ...before,
    invoices: withRecords(before.invoices, [...lost, ...refunds.map(one => carriedForward(one, now))]),
  }
  return {
    aggregate,
    events: lost.map(invoice =>
      invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDueOf(aggregate, invoice)),
    ),
  }
}

/** The plan of a reinstatement: what is to be paid up to its time, payable until `dueAt`, and what goes on after it. */
export function reinstatementPlan(
  before: PolicyAggregate,
  modification: Modification,
  lapse: Modification,
  dueAt: Instant,
  { now, supply }: BalanceContext,
): PlannedInstallment[] {
  const [ofLapse] = planOf(before, lapse)
  const endOfThatDay = endOfDay(modification.effectiveAt, before.policy.timeZone)
  const coming = stoppedBy(before, ofLapse!).filter(one => one.dueAt > endOfThatDay)
  const isUnpaid = invoiceStatus(invoicesOf(before, lapse)[0]!) !== 'paid'
  return [
    {
      ...onlyInstallment(before, modification, { now, supply }),
      dueAt,
      ...(isUnpaid && { takesOver: [ofLapse!.locator] }),
      leavesOut: coming.map(one => one.locator),
    },
    ...coming.map(
      ({ locator, start, end, issueAt, dueAt }, at): PlannedInstallment => ({
        locator: supply.uuid(),
        modificationLocator: modification.locator,
        number: at + 2,
        start,
        end,
        issueAt,
        dueAt,
        periods: [],
        takesOver: [locator],
      }),
    ),
  ]
}

/** Installments that a lapse wrote off or dropped, in the order in which they would have been due. */
const stoppedBy = ({ installments }: PolicyAggregate, ofLapse: PlannedInstallment): PlannedInstallment[] =>
  [...installments.values()]
    .filter(
      one =>
        one.absorbedBy === ofLapse.modificationLocator || ofLapse.takesOver?.includes(one.locator) === true,
    )
    .sort((a, b) => a.dueAt - b.dueAt || a.start - b.start)

/** The installment that the invoice bills. */
export const installmentOf = (aggregate: PolicyAggregate, invoice: Invoice): Uuid =>
  planOf(aggregate, aggregate.modifications.get(invoice.policyModificationLocator)!).find(
    one => one.number === invoice.installmentNumber,
  )!.locator

/** The policy whose reinstatement is issued now: installments after the first are invoiced from now on. */
export function goingOn(before: PolicyAggregate, modification: Modification, now: Instant): PolicyAggregate {
  const endOfToday = endOfDay(now, before.policy.timeZone)
  const moved = planOf(before, modification)
    .filter(one => one.number > 1)
    .map(one => ({ ...one, issueAt: later(one.issueAt, now), dueAt: later(one.dueAt, endOfToday) }))
  return { ...before, installments: withRecords(before.installments, moved) }
}
