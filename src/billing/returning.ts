// The plan of a reinstatement (brief 4.5). What planned bills lost returns on their dates. One immediate invoice asks for bills
// that would be past due by now, and for what the cancellation refunded of existing bills. Without a gap, each bill returns to the
// cent as the cancellation took it over. With a gap, the amounts are spread over the planned bills from the reinstatement on.

import type { Uuid } from '../kernel/locators.ts'
import { earlier, type Instant, later } from '../kernel/time.ts'
import {
  amountsDue,
  installmentOf,
  openInstallments,
  openInstallmentsFrom,
  standingInvoices,
} from '../policy/bills/amounts-due.ts'
import { cancelOut } from '../policy/bills/charge.ts'
import { billedItemsOf } from '../policy/projection/billed-items.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../policy/records/aggregate.ts'
import type { Installment, PlannedInstallment, Replanned } from '../policy/records/invoice.ts'
import type { PaymentScheduleType } from '../product/configuration.ts'
import {
  type BilledChange,
  type BillPlan,
  type PlannedBill,
  periodsFrom,
  periodsOfBills,
  planRecords,
  returningInstallments,
  singleInstallment,
  termsOf,
} from './schedule.ts'

/** Returns the bills that the cancellation took over and that are not due yet. They are made now if their issue time has passed. */
export function returningBills(
  before: PolicyAggregate,
  cancellation: Modification,
  now: Instant,
): PlannedInstallment[] {
  const made = standingInvoices(before).map(invoice => installmentOf(before, invoice))
  const isMade = (one: PlannedInstallment): boolean =>
    made.some(
      ({ start, dueAt, replans }) =>
        replans && replans.bill !== 'spread' && start === one.start && dueAt === one.dueAt,
    )
  return absorbedInstallmentsOf(before, cancellation)
    .filter(one => one.dueAt > now && !isMade(one))
    .sort((a, b) => a.dueAt - b.dueAt || a.start - b.start)
}

/**
 * Plans the bills of a reinstatement: those that its cancellation absorbed return, and its own charges get an installment of their
 * own.
 */
export function planAfterReinstatement(change: BilledChange): BillPlan {
  const { before, modification, charges, product, scheduleName, now } = change
  if (charges.length === 0) return { charges, plan: [], open: [] }
  const cancellation = before.modifications.get(modification.undoes!)!
  const { type } = product.paymentSchedules.find(one => one.name === scheduleName)!
  const returning = returningBills(before, cancellation, now)
  const own = singleInstallment(before, modification, now)
  const hasGap = modification.effectiveAt > coverRemovedFrom(before, cancellation)
  const bills = hasGap
    ? planAfterGap(change, own, returning, type)
    : planWithoutGap(change, own, returning, replacementBillsOf(before, cancellation))
  return { charges, ...bills }
}

/** Restores the bills. The reinstatement's own bill asks for the rest, and for the bills that replaced them. */
function planWithoutGap(
  { before, modification }: BilledChange,
  own: Installment,
  returning: readonly PlannedInstallment[],
  open: readonly PlannedInstallment[],
): Pick<BillPlan, 'plan' | 'open'> {
  const absorbed = markAbsorbed(open, modification)
  for (let kept = 0; ; kept += 1) {
    const others = returning.slice(kept)
    const { start, end, issueAt, dueAt } = returning[kept - 1] ?? own
    const replans: Replanned =
      kept === 0 ? { bill: 'atOnce', open: [] } : { bill: 'planned', open: open.map(one => one.locator) }
    const plan: PlannedBill[] = [
      {
        ...own,
        start,
        end,
        issueAt,
        dueAt,
        replans,
        ...(others.length > 0 && { leavesOut: others.map(one => one.locator) }),
      },
      ...returningInstallments(others),
    ]
    const { due, isEmpty } = firstBill(before, modification, plan, absorbed)
    // A bill that asks for nothing is merged with the next of the returning bills.
    if (due <= 0 && !isEmpty && others.length > 0) continue
    return { plan: isEmpty ? markFirstSilent(plan) : plan, open }
  }
}

/** Spreads the amounts over the bills of the remaining time. Flat fees of the gap go on the next bill. */
function planAfterGap(
  { before, modification, charges }: BilledChange,
  own: Installment,
  lost: readonly PlannedInstallment[],
  schedule: PaymentScheduleType,
): Pick<BillPlan, 'plan' | 'open'> {
  const { effectiveAt: from, policyEnd } = modification
  const returning = lost.filter(one => one.end > from)
  const { timeZone } = before.policy
  const terms = termsOf(before, policyEnd)
  const tiles = periodsOfBills(terms, returning, schedule, timeZone, from).flat()
  const earliestStart = charges.map(one => one.start).reduce(earlier, from)
  const gap = periodsFrom(terms, schedule, timeZone, earliestStart)
    .flat()
    .filter(tile => tile.start < from)
    .map(tile => ({ ...tile, end: earlier(tile.end, from) }))
  const placed = tiles.map(tile => ({
    tile,
    bill: returning.find(one => one.start <= tile.start && tile.start < one.end),
  }))
  const placedOn = Map.groupBy(placed, one => one.bill)
  const joining = (count: number): PlannedBill[] => {
    const others = returning.slice(count)
    const apart = new Set<PlannedInstallment | undefined>(others)
    const { start, end, issueAt, dueAt } = returning[count - 1] ?? own
    const bills: PlannedBill[] = [
      {
        ...own,
        start: count === 0 ? start : later(start, from),
        end,
        issueAt,
        dueAt,
        periods: placed.filter(({ bill }) => !apart.has(bill)).map(({ tile }) => tile),
        replans: { bill: count === 0 ? 'atOnce' : 'planned', open: [] },
      },
      ...returningInstallments(others).map(({ takesOver: _, ...one }, at) => ({
        ...one,
        start: later(one.start, from),
        periods: placedOn.get(others[at])?.map(({ tile }) => tile) ?? [],
      })),
    ]
    const next = bills.find(one => one.periods.length > 0)
    return bills.map(one => (one === next ? { ...one, periods: [...gap, ...one.periods] } : one))
  }
  // A surplus, such as a holdback that is reversed, is merged with the first of the returning bills.
  for (let count = 0; count <= returning.length; count += 1) {
    const plan = joining(count)
    const { due, isEmpty } = firstBill(before, modification, plan)
    if (isEmpty) return { plan: markFirstSilent(plan), open: [] }
    if (due > 0 || (due === 0 && count === returning.length)) return { plan, open: [] }
  }
  return planSurplusOnEarlierBills(before, modification, joining(returning.length)[0]!, own)
}

/**
 * Plans a single returning bill that is negative. Bills that are still planned absorb it, the last one first. What none can absorb
 * is refunded immediately.
 */
function planSurplusOnEarlierBills(
  before: PolicyAggregate,
  modification: Modification,
  surplus: PlannedBill,
  own: Installment,
): Pick<BillPlan, 'plan' | 'open'> {
  const planned = openInstallments(before).sort((a, b) => b.start - a.start || b.dueAt - a.dueAt)
  const open: PlannedInstallment[] = []
  for (const one of planned) {
    open.push(one)
    const { start, issueAt, dueAt } = one
    const end = open.map(bill => bill.end).reduce(later, surplus.end)
    const replans: Replanned = { bill: 'planned', open: open.map(bill => bill.locator) }
    const plan = [{ ...surplus, start, end, issueAt, dueAt, replans }]
    const { due, isEmpty } = firstBill(before, modification, plan, markAbsorbed(open, modification))
    if (due >= 0) return { plan: isEmpty ? markFirstSilent(plan) : plan, open }
  }
  const { start, end, issueAt, dueAt } = own
  return { plan: [{ ...surplus, start, end, issueAt, dueAt, replans: { bill: 'atOnce', open: [] } }], open }
}

const markAbsorbed = (open: readonly PlannedInstallment[], { locator }: Modification): PlannedInstallment[] =>
  open.map(one => ({ ...one, absorbedBy: [...one.absorbedBy, locator] }))

const markFirstSilent = ([first, ...others]: readonly PlannedBill[]): PlannedBill[] => [
  { ...first!, replans: { ...first!.replans!, isSilent: true } },
  ...others,
]

/** Returns the amount of the plan's first bill, in minor units, and whether its items cancel out. */
function firstBill(
  before: PolicyAggregate,
  modification: Modification,
  plan: readonly PlannedBill[],
  absorbed: readonly PlannedInstallment[] = [],
): { due: number; isEmpty: boolean } {
  // Locators for this sum only. The chosen plan gets its own.
  let count = 0
  const drafts = planRecords(plan, modification, { uuid: () => `draft/${++count}` as Uuid })
  const planned = { ...before, installments: putRecords(before.installments, [...absorbed, ...drafts]) }
  const due = amountsDue(planned, modification)[0]!.minor
  return { due, isEmpty: due === 0 && cancelOut(billedItemsOf(planned)(drafts[0]!)) }
}

/**
 * Returns the planned bills that replaced those that the cancellation took over. Bills from its time on belong to cover that
 * another reinstatement brought back, and stay.
 */
function replacementBillsOf(before: PolicyAggregate, cancellation: Modification): PlannedInstallment[] {
  const since = absorbedInstallmentsOf(before, cancellation).map(one => one.start)
  if (since.length === 0) return []
  return openInstallmentsFrom(before, since.reduce(earlier)).filter(
    one => one.start < cancellation.effectiveAt,
  )
}

const absorbedInstallmentsOf = (
  { installments }: PolicyAggregate,
  { locator }: Modification,
): PlannedInstallment[] => [...installments.values()].filter(one => one.absorbedBy.includes(locator))

/** Returns the time from which the cancellation removed cover. */
function coverRemovedFrom({ segments }: PolicyAggregate, { locator, effectiveAt }: Modification): Instant {
  const all = [...segments.values()]
  const kept = new Set(all.filter(one => one.madeBy === locator).map(one => one.predecessor))
  return all
    .filter(one => one.replacedBy === locator)
    .map(one => (kept.has(one.locator) ? effectiveAt : one.start))
    .reduce(earlier, Number.POSITIVE_INFINITY as Instant)
}
