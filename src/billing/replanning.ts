// Replans bills when a transaction changes what is in force (brief 4.5). Planned bills keep their dates, and each bills what is in
// force in its time. One immediate invoice corrects what existing bills charged too much or too little. No planned bill becomes
// negative while an earlier one can absorb the amount.
import type { Uuid } from '../kernel/locators.ts'
import type { CurrencyCode } from '../kernel/money.ts'
import { earlier, endOfDay, type Instant, later, type Span } from '../kernel/time.ts'
import {
  openInstallments,
  openInstallmentsFrom,
  restsOfEach,
  restsToSpread,
} from '../policy/bills/amounts-due.ts'
import { type Charge, cancelOut, isHoldback, lineOfCharge, NOTHING_KEPT } from '../policy/bills/charge.ts'
import { type InstallmentItem, installmentItems, totalsDue } from '../policy/bills/items.ts'
import { lineUpTo, segmentsInForce } from '../policy/fold/line.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../policy/records/aggregate.ts'
import type { BillingPeriod, Installment, PlannedInstallment } from '../policy/records/invoice.ts'
import type { PaymentScheduleType, ProductDefinition } from '../product/configuration.ts'
import {
  type BilledChange,
  type BillPlan,
  billingPeriods,
  carriedBelow,
  cutAt,
  installmentOf,
  mergePastGroups,
  numberInstallments,
  periodsFrom,
  periodsOfBills,
  scheduleFor,
  singleInstallment,
  termsOf,
  withCarryForward,
} from './schedule.ts'
import { billedPeriods, costBefore, hasUnbilledTime } from './unbilled-time.ts'

type Draft = Omit<Installment, 'number'>

/**
 * Plans the bills after a cancellation or withdrawal. Drops bills that are wholly after it, shortens the one that contains it, and
 * keeps those before. Other amounts that stay in force, such as holdbacks, go on the last remaining bill; without one, on the
 * immediate invoice. What a renewal's invoice charged for time after the cancellation is refunded immediately, even while bills
 * before it are planned.
 */
export function planAfterCancellation(change: BilledChange): BillPlan {
  const { modification, charges, open } = change
  const at = modification.effectiveAt
  const reaching = open.filter(one => one.end > at)
  const remaining = open.filter(one => one.end <= at)
  const containing = reaching.filter(one => one.start < at).at(-1)
  const isToBear = reaching.length > 0 || charges.some(isHoldback)
  const bearing = containing ?? (isToBear ? remaining.pop() : undefined)
  const absorbed = bearing && bearing !== containing ? [bearing, ...reaching] : reaching
  const replans = {
    bill: 'planned' as const,
    open: absorbed.map(one => one.locator),
    freesAfter: at,
    ...(bearing && bearing.end < at && { frees: reaching.map(one => one.locator) }),
  }
  const planned = bearing ? [{ ...draftOf(bearing), end: earlier(bearing.end, at), replans }] : []
  return balanceBills(change, { absorbed, planned, remaining, atOnce: immediateInvoiceOf(change) })
}

/**
 * Plans the bills after an endorsement. Spreads new charges over the time from the endorsement on, by the schedule. Added time, and
 * time that cost nothing before, gets its own bills for periods that have not begun; the rest is billed immediately.
 */
export function planAfterEndorsement(change: BilledChange): BillPlan {
  const { before, modification, charges, open, product, scheduleName, now } = change
  const { effectiveAt: from, policyEnd } = modification
  const { timeZone } = before.policy
  const reaching = open.filter(one => one.end > from)
  const atOnce = immediateInvoiceOf(change)
  if (reaching.length === 0 && !hasUnbilledTime(before, { start: from, end: policyEnd }))
    return balanceBills(change, { absorbed: [], planned: [], remaining: [], atOnce })
  const { type } = product.paymentSchedules.find(one => one.name === scheduleName)!
  const schedule = reaching.length === 0 ? scheduleFor(charges, type) : type
  const periods = periodsOfBills(termsOf(before, policyEnd), reaching, schedule, timeZone, from)
  const groups = coveredPeriods(before, modification, periods)
  const tiles = groups.flat()
  const tilesOf = Map.groupBy(tiles, ({ start }) =>
    reaching.find(one => one.start <= start && start < one.end),
  )
  const continued = reaching.map(one => ({
    ...draftOf(one),
    end: earlier(one.end, policyEnd),
    periods: tilesOf.get(one) ?? [],
  }))
  const kept = continued.filter(one => one.start < policyEnd)
  const beyond = continued.filter(one => one.start >= policyEnd).flatMap(one => one.replans!.open)
  const last = kept.at(-1)
  const unplanned = tilesOf.get(undefined) ?? []
  const toCome = findUnbilledFuturePeriods(change, type, unplanned)
  const gained = groups
    .map(group => group.filter(tile => toCome.has(tile)))
    .filter(group => group.length > 0)
    .map(
      (group): Draft => ({
        ...installmentOf(group, { terms: product.defaultPaymentTerms, now, timeZone }),
        replans: { bill: 'planned', open: [] },
      }),
    )
  const immediate = unplanned.filter(tile => !toCome.has(tile))
  const planned = [...kept.map(one => (one === last ? withMoreReplanned(one, beyond) : one)), ...gained]
  return balanceBills(change, {
    absorbed: reaching,
    planned: planned.sort((a, b) => a.start - b.start),
    remaining: open.filter(one => one.end <= from),
    atOnce:
      immediate.length === 0
        ? { ...atOnce, periods: [] }
        : { ...atOnce, start: immediate[0]!.start, end: immediate.at(-1)!.end, periods: immediate },
  })
}

/** Returns the unplanned time that cost nothing so far, in periods that begin after today and have not been billed. */
function findUnbilledFuturePeriods(
  { before, modification, now }: BilledChange,
  schedule: PaymentScheduleType,
  unplanned: readonly BillingPeriod[],
): ReadonlySet<BillingPeriod> {
  const { timeZone } = before.policy
  const { effectiveAt, policyEnd } = modification
  const today = endOfDay(now, timeZone)
  const billed = billedPeriods(before)
  const toCome = termsOf(before, policyEnd)
    .filter(term => term.end > effectiveAt)
    .flatMap(term => billingPeriods(term, schedule, timeZone))
    .filter(({ start, end }) => start > today && !billed.some(one => one.start < end && start < one.end))
  const open = unplanned.filter(tile => toCome.some(one => one.start <= tile.start && tile.start < one.end))
  if (open.length === 0) return new Set()
  const hasCost = costBefore(before, modification)
  return new Set(open.filter(tile => !hasCost(tile)))
}

/** Returns the periods without the gaps that reinstatements left. Nothing is in force in a gap, so no bill asks for it. */
function coveredPeriods(
  before: PolicyAggregate,
  modification: Modification,
  periods: readonly BillingPeriod[][],
): BillingPeriod[][] {
  const covered = segmentsInForce(lineUpTo(before, boundQuote(before), modification))
  const ends = new Set(covered.flatMap(({ start, end }) => [start, end]))
  const isCovered = ({ start }: Span): boolean => covered.some(one => one.start <= start && start < one.end)
  const gaps = covered.some((one, at) => at > 0 && one.start > covered[at - 1]!.end)
  if (!gaps) return [...periods]
  return periods
    .map(group => group.flatMap(period => cutAt(period, ends)).filter(isCovered))
    .filter(group => group.length > 0)
}

/** Plans the bills after a change of fees. Bills added fees immediately. First takes removed fees out of planned bills. */
export function planAfterFeeUpdate(change: BilledChange): BillPlan {
  const { before, charges } = change
  const taken = new Set(charges.filter(one => one.keptUntil === NOTHING_KEPT).map(lineOfCharge))
  // A plugin's plan stays unchanged.
  const open = change.open.filter(one => one.items === undefined)
  const rests = taken.size === 0 ? [] : restsOfEach(before, open)
  const billing = new Set(rests.filter(rest => taken.has(lineOfCharge(rest))).map(rest => rest.from!))
  const absorbed = open.filter(one => billing.has(one.locator))
  return balanceBills(change, {
    absorbed,
    planned: absorbed.map(draftOf),
    remaining: [],
    atOnce: immediateInvoiceOf(change),
  })
}

type Balance = {
  /** Installments that the plan replaces. */
  readonly absorbed: readonly PlannedInstallment[]
  readonly planned: readonly Draft[]
  /** Earlier planned bills, which absorb what the plan cannot. */
  readonly remaining: readonly PlannedInstallment[]
  readonly atOnce: Draft
}

/** Merges a negative bill with the bill before it. What no bill can absorb is refunded immediately. */
function balanceBills({ before, charges: own }: BilledChange, balance: Balance): BillPlan {
  const { atOnce } = balance
  if (own.length === 0) return { charges: [], plan: [], open: [] }
  const { currency } = before.policy
  const marks = {
    keepsDifferences: true as const,
    ...(own.some(isHoldback) && { bearsCommissions: true as const }),
    ...(own.some(one => one.coverUntil !== undefined) && { keepsCover: true as const }),
  }
  const planned = [...balance.planned]
  const open = [...balance.absorbed]
  const remaining = [...balance.remaining]
  for (;;) {
    const drafts = [atOnce, ...planned].map(one => ({ ...one, replans: { ...one.replans!, ...marks } }))
    const plan = numberInstallments(drafts)
    const charges = [...own, ...restsOfEach(before, open)]
    const negative = totalsDue(plan, charges, currency).findLastIndex(({ minor }, at) => at > 0 && minor < 0)
    if (negative < 0) return { charges, plan: withoutEmptyBills(plan, charges), open }
    const at = negative - 1
    if (at > 0) planned.splice(at - 1, 2, mergeDrafts(planned[at - 1]!, planned[at]!))
    else {
      const previous = remaining.pop()
      const [first] = planned.splice(0, 1)
      if (!previous) continue
      open.push(previous)
      planned.unshift(mergeDrafts(draftOf(previous), first!))
    }
  }
}

/** Drops an immediate invoice without items. Marks installments whose items cancel out as silent. */
function withoutEmptyBills(plan: readonly Installment[], charges: readonly Charge[]): Installment[] {
  const items = installmentItems(plan, charges)
  const bills = withSilentBills(plan, items)
  return numberInstallments(
    bills.filter((one, at) => one.replans!.bill === 'planned' || items[at]!.length > 0),
  )
}

/**
 * Marks installments whose items cancel out as silent. If they total zero and do not cancel out, as when only a commission changes,
 * they are invoiced: otherwise nothing would itemise them (brief 3.1).
 */
const withSilentBills = (
  plan: readonly Installment[],
  items: readonly (readonly InstallmentItem[])[],
): Installment[] =>
  plan.map((one, at) =>
    cancelOut(items[at]!) ? { ...one, replans: { ...one.replans!, isSilent: true as const } } : one,
  )

/** Keeps the dates. Drops what applies only to new plans (carrying small amounts forward). */
const draftOf = ({ locator, start, end, issueAt, dueAt, periods, writeOff }: PlannedInstallment): Draft => ({
  start,
  end,
  issueAt,
  dueAt,
  periods,
  ...(writeOff && { writeOff }),
  replans: { bill: 'planned', open: [locator] },
})

const withMoreReplanned = (draft: Draft, more: readonly Uuid[]): Draft => ({
  ...draft,
  replans: { ...draft.replans!, open: [...draft.replans!.open, ...more] },
})

const mergeDrafts = (first: Draft, second: Draft): Draft => ({
  ...first,
  end: later(first.end, second.end),
  periods: [...first.periods, ...second.periods],
  replans: { ...second.replans!, open: [...first.replans!.open, ...second.replans!.open] },
})

/** Returns the immediate invoice, due by the end of today. */
const immediateInvoiceOf = ({ before, modification, now }: BilledChange): Draft => ({
  ...singleInstallment(before, modification, now),
  replans: { bill: 'atOnce', open: [] },
})

/**
 * A change to another payment schedule while installments are open, by an endorsement or by itself (brief 4.3). It takes over the
 * open installments: what they would have billed goes on the periods of the new schedule, with the change's own charges. Existing
 * invoices stay, and the rest of every charge is split again, so no amount is lost or created.
 */
export type ReplanOrder = {
  /** The change's own charges and their modification. A change of the schedule alone has neither. */
  readonly charges: readonly Charge[]
  readonly modification?: Modification
  readonly scheduleName: string
  /** Installments that start before this time stay as planned. */
  readonly from: Instant
  /** The policy's end after the change. */
  readonly policyEnd: Instant
}

/**
 * Bills open amounts over the periods for which they would have paid, so nobody pays earlier or twice. If the policy becomes
 * shorter, amounts planned beyond its end join the first installment. The plan is empty if there is nothing to bill.
 */
export function replan(
  before: PolicyAggregate,
  { charges: own, modification, scheduleName, from, policyEnd }: ReplanOrder,
  product: ProductDefinition,
  now: Instant,
): BillPlan {
  const { timeZone, currency } = before.policy
  const open = openInstallmentsFrom(before, from)
  const charges = [...own, ...restsToSpread(before, open)]
  if (charges.length === 0) return { charges, plan: [], open }
  const { type } = product.paymentSchedules.find(one => one.name === scheduleName)!
  const schedule = scheduleFor(charges, type)
  const all = periodsFrom(termsOf(before, policyEnd), schedule, timeZone, from)
  // No period is left over which to spread. What another system planned beyond the end of cover stays unchanged.
  if (own.length === 0 && all.length === 0) return { charges: [], plan: [], open: [] }
  const periods = modification ? coveredPeriods(before, modification, all) : all
  const beyond = periodsFrom(termsOf(before, before.policy.effectiveEnd), schedule, timeZone, policyEnd)
  const context = { now, timeZone, currency, terms: product.defaultPaymentTerms }
  const plan = planPeriods(periods, beyond.flat(), charges, context)
  return { charges, plan: withCarryForward(plan, carriedBelow(product), currency), open }
}

type ReplanContext = Parameters<typeof installmentOf>[1] & { readonly currency: CurrencyCode }

/**
 * Returns one installment for each period with items; past periods share one. The payment terms decide when each invoice is made,
 * including the first. Refunds do not wait: negative installments become one, made immediately. Those whose items cancel out are
 * silent.
 */
function planPeriods(
  periods: readonly BillingPeriod[][],
  beyond: readonly BillingPeriod[],
  charges: readonly Charge[],
  context: ReplanContext,
): Installment[] {
  const { now, timeZone, currency } = context
  const endOfToday = endOfDay(now, timeZone)
  const [first, ...others] = mergePastGroups(periods, endOfToday).map(group => installmentOf(group, context))
  const drafts = [{ ...first!, periods: [...first!.periods, ...beyond] }, ...others]
  let plan = numberInstallments(
    drafts.map(one => ({ ...one, replans: { bill: 'spread' as const, open: [] } })),
  )
  // Removing an installment can move a few minor units to others, so this repeats until nothing changes. A further refund joins the
  // immediate one; otherwise the two could alternate without end.
  let refund: Installment | undefined
  for (;;) {
    const items = installmentItems(plan, charges)
    const billing = plan.filter((_, index) => items[index]!.length > 0)
    const totals = totalsDue(billing, charges, currency)
    const refunds = billing.filter((_, at) => totals[at]!.minor < 0)
    const [only] = refunds.length === 1 ? refunds : []
    const isSettled = refunds.length === 0 || (only === billing[0] && only!.issueAt === now)
    if (billing.length === plan.length && isSettled) return withSilentBills(plan, items)
    if (isSettled) {
      plan = numberInstallments(billing)
      refund = billing[0] === refund ? plan[0] : undefined
      continue
    }
    const together = billing
      .filter(one => one === refund || refunds.includes(one))
      .sort((a, b) => a.start - b.start)
    plan = numberInstallments([
      mergeIntoImmediate(together),
      ...billing.filter(one => !together.includes(one)),
    ])
    refund = plan[0]
  }

  function mergeIntoImmediate(together: readonly Installment[]): Omit<Installment, 'number'> {
    const periods = together.flatMap(one => one.periods)
    return { ...together[0]!, end: together.at(-1)!.end, periods, issueAt: now, dueAt: endOfToday }
  }
}

/**
 * Replans by the new schedule from the endorsement on. If that begins with a refund, starts at the planned bill that contains the
 * endorsement instead.
 */
export function planByNewSchedule(change: BilledChange): BillPlan {
  const { before, modification, charges, scheduleName, product, now } = change
  const { effectiveAt, policyEnd } = modification
  const replanFrom = (at: Instant): BillPlan =>
    replan(before, { charges, modification, scheduleName, from: at, policyEnd }, product, now)
  const plan = replanFrom(effectiveAt)
  const [first] = totalsDue(plan.plan, plan.charges, before.policy.currency)
  if (!first || first.minor >= 0) return plan
  const containing = openInstallments(before).find(one => one.start < effectiveAt && effectiveAt < one.end)
  return containing ? replanFrom(containing.start) : plan
}
