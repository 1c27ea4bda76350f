// A legacy lapse takes the policy off risk without a cancellation record (brief 1.7). Pure.
//
// Let N be the cost of the policy up to its lapse, and P the amount paid. The lapse writes off outstanding invoices and drops
// planned installments. Its own invoice takes over their open amounts and returns the cover that ends. It totals exactly N − P:
//
// - Above zero, the policyholder had cover without paying for it. The invoice is written off with the others.
// - Below zero, the policyholder paid for cover that ended. The invoice is a refund, like that of a cancellation.
//
// If it did not take over the open amounts, the lapse would return the amount of an invoice that was never paid. The paid part of
// an invoice that is written off stays paid: it is part of P, and the lapse's invoice takes over only the open part. Refunds owed
// before remain owed, and count in P as if they had been paid out.
//
// A reinstatement from a time R restores the cover that the lapse removed, less the gap, at a cost of B. Installments due after R
// continue as planned, each for its own amount, whether they were written off or never invoiced. They total F. The first invoice
// asks for B, plus N − P if the lapse's invoice was not paid, less F. P + (B + N − P − F) + F = N + B, so every cent is billed
// once. A policy that is reinstated immediately, without a gap, pays exactly what it would have paid without the lapse.
import { makeBills } from '../../billing/billing.ts'
import { planWriteOff } from '../../billing/payments.ts'
import { singleInstallment } from '../../billing/schedule.ts'
import type { LocatorSupply } from '../../kernel/locators.ts'
import { sumOf } from '../../kernel/money.ts'
import { add, type Instant } from '../../kernel/time.ts'
import { installmentOf, openInstallments } from '../../policy/bills/amounts-due.ts'
import { standingEndings } from '../../policy/fold/line.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { appliedAmount, isOutstanding, standingPayments } from '../../policy/records/invoice.ts'
import type { GracePeriod, Lapse } from '../../policy/records/transactions.ts'
import { combineSteps, type Planned } from '../../policy/transitions.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { applyCancellation } from '../cancellations/effect.ts'
import { withoutConflicts } from '../mechanism/conflicts.ts'
import { isOwed } from './grace-periods.ts'
import { lapseEvent } from './transitions.ts'

/**
 * Takes the policy off risk from `effectiveAt`. Invalidates pending transactions, even accepted ones, and settles everything
 * outstanding. The policy can be reinstated for the product's number of days from the lapse on. Takes two digit locators.
 */
export function planLapse(
  before: PolicyAggregate,
  grace: GracePeriod,
  effectiveAt: Instant,
  context: EffectContext,
): Planned {
  const { product, now, supply } = context
  const cleared = withoutConflicts(before, '', 'invalidate', now)
  const { legacyCancellationProration: proration } = product
  const order = { kind: 'lapse', name: 'modification.policy.lapse', effectiveAt, proration } as const
  const { aggregate, modification } = applyCancellation(cleared.aggregate, order, context)
  const days = product.lapse.reinstatementPeriodDays ?? 0
  const lapse: Lapse = {
    locator: supply.uuid(),
    gracePeriodLocator: grace.locator,
    modificationLocator: modification.locator,
    lapsedAt: effectiveAt,
    reinstatementPeriodEndAt: add(effectiveAt, days, 'day', before.policy.timeZone),
    createdAt: now,
  }
  const lapsed = { ...aggregate, lapses: putRecords(aggregate.lapses, [lapse]) }
  return combineSteps(
    cleared,
    { aggregate: lapsed, events: [lapseEvent(lapsed, lapse, grace.invoiceLocator)] },
    billLapse(lapsed, modification, context),
  )
}

/** Writes off everything outstanding, then bills the lapse. Takes one digit locator. */
function billLapse(
  before: PolicyAggregate,
  modification: Modification,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Planned {
  const owed = [...before.invoices.values()].filter(one => isOutstanding(one) && isOwed(before, one))
  const writeOff = planWriteOff(before, owed, now)
  const endedInstallments = [
    ...owed.map(invoice => installmentOf(before, invoice)),
    ...openInstallments(writeOff.aggregate),
  ]
  const paid = owed.map(invoice => {
    const { minor } = sumOf(standingPayments(before, invoice), appliedAmount, before.policy.currency)
    return [installmentOf(before, invoice).locator, minor] as const
  })
  const paidBefore = Object.fromEntries(paid.filter(([, minor]) => minor !== 0))
  const plan = [{ ...singleInstallment(before, modification, now), paidBefore }]
  const billed = makeBills(
    writeOff.aggregate,
    modification,
    { plan, open: endedInstallments },
    { now, supply },
  )
  const { invoice, totalDue } = billed.made[0]!
  return combineSteps(
    writeOff,
    billed,
    totalDue.minor > 0 ? planWriteOff(billed.aggregate, [invoice], now) : undefined,
  )
}

/** Returns the lapse that ends the policy. Undefined if a later cancellation ends it earlier, or if it goes on. */
export function lapseInForce(aggregate: PolicyAggregate): Lapse | undefined {
  const last = standingEndings(aggregate).at(-1)
  return last && [...aggregate.lapses.values()].find(one => one.modificationLocator === last.locator)
}
