// A legacy lapse: the policy off risk, without a cancellation record, and what that does to its bills (brief 1.7). Pure.
//
// The money of the lapse and of the way back: what a policy costs until its lapse is N, what was paid for it is P.
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
import { onlyInstallment } from '../../billing/schedule.ts'
import type { LocatorSupply } from '../../kernel/locators.ts'
import { sumOf } from '../../kernel/money.ts'
import { add, type Instant } from '../../kernel/time.ts'
import { installmentOf, openInstallments } from '../../policy/bills/amounts-due.ts'
import { isIssued } from '../../policy/fold/line.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { applied, isOutstanding, standingPayments } from '../../policy/records/invoice.ts'
import type { GracePeriod, Lapse, ModificationKind } from '../../policy/records/transactions.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { cancelled } from '../cancellations/effect.ts'
import { withoutConflicts } from '../mechanism/kind.ts'
import { isOwed } from './grace-periods.ts'
import { lapseEvent } from './transitions.ts'

/**
 * Takes the policy off risk from then on, whatever is quoted or accepted, and settles what is outstanding.
 * It can be reinstated for the product's days from the lapse on. Takes two digits.
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
  const { aggregate, modification } = cancelled(cleared.aggregate, order, context)
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
  return chain(
    cleared,
    { aggregate: lapsed, events: [lapseEvent(lapsed, lapse, grace.invoiceLocator)] },
    billLapse(lapsed, modification, context),
  )
}

/** Writes off what is outstanding and bills the lapse. Takes one digit. */
function billLapse(
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
  const paid = owed.map(invoice => {
    const { minor } = sumOf(standingPayments(before, invoice), applied, before.policy.currency)
    return [installmentOf(before, invoice).locator, minor] as const
  })
  const paidBefore = Object.fromEntries(paid.filter(([, minor]) => minor !== 0))
  const plan = [{ ...onlyInstallment(before, modification, now), paidBefore }]
  const billed = makeBills(given.aggregate, modification, { plan, open: stopped }, { now, supply })
  const { invoice, totalDue } = billed.made[0]!
  return chain(given, billed, totalDue.minor > 0 ? planWriteOff(billed.aggregate, [invoice], now) : undefined)
}

/** Modifications that end cover, bring it back or add to it. */
const OF_COVER: ReadonlySet<ModificationKind> = new Set([
  'lapse',
  'cancellation',
  'withdrawal',
  'reinstatement',
  'renewal',
])

/** The lapse that the policy is in: nothing that was issued since has moved its end. */
export function lapseInForce(aggregate: PolicyAggregate): Lapse | undefined {
  const last = [...aggregate.modifications.values()]
    .filter(one => isIssued(one) && OF_COVER.has(one.kind))
    .reduce<Modification | undefined>((a, b) => (a && a.number > b.number ? a : b), undefined)
  return [...aggregate.lapses.values()].find(one => one.modificationLocator === last?.locator)
}
