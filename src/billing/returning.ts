// The plan of a reinstatement (brief 4.5). What planned bills lost comes back on their dates; what would be past due by
// now, and what was given back of bills already made, is one invoice at once. Without a gap each bill that comes back is
// the one that the cancellation took over, to the cent; with a gap, what comes back is spread over the planned bills from
// the reinstatement on.
import type { LocatorSupply } from '../kernel/locators.ts'
import { earlier, type Instant, later } from '../kernel/time.ts'
import { amountsDue, chargesOf, installmentOf, standingInvoices } from '../policy/bills/amounts-due.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../policy/records/aggregate.ts'
import type { PlannedInstallment } from '../policy/records/installment.ts'
import type { PaymentScheduleType } from '../product/configuration.ts'
import { onlyInstallment, openInstallments } from './balance.ts'
import { termsOf } from './replan.ts'
import { periodsFrom } from './schedule.ts'

export type Return = {
  readonly plan: readonly PlannedInstallment[]
  /** Installments that the plan takes over. */
  readonly open: readonly PlannedInstallment[]
}

/** The bills that come back after the reinstatement's own; those whose issue time has passed are made at once. */
export function returningBills(
  before: PolicyAggregate,
  cancellation: Modification,
  now: Instant,
): PlannedInstallment[] {
  const made = standingInvoices(before).map(invoice => installmentOf(before, invoice))
  const isMade = (one: PlannedInstallment): boolean =>
    made.some(({ start, dueAt, replans }) => replans && start === one.start && dueAt === one.dueAt)
  return lostBy(before, cancellation)
    .filter(one => one.dueAt > now && !isMade(one))
    .sort((a, b) => a.dueAt - b.dueAt || a.start - b.start)
}

/** `before` has the modification, and what it made. */
export function planOfReinstatement(
  before: PolicyAggregate,
  modification: Modification,
  cancellation: Modification,
  schedule: PaymentScheduleType,
  context: { now: Instant; supply: LocatorSupply },
): Return {
  if (chargesOf(before, modification).length === 0) return { plan: [], open: [] }
  const { now } = context
  const coming = returningBills(before, cancellation, now)
  const own = onlyInstallment(before, modification, context)
  return modification.effectiveAt > lostFrom(before, cancellation)
    ? afterGap(before, modification, own, coming, schedule, context)
    : asBefore(before, modification, own, coming, lostBy(before, cancellation), context)
}

/** The bills as they were; beside them the reinstatement's own asks for the rest, with what is planned in their place. */
function asBefore(
  before: PolicyAggregate,
  modification: Modification,
  own: PlannedInstallment,
  coming: readonly PlannedInstallment[],
  lost: readonly PlannedInstallment[],
  { supply }: { supply: LocatorSupply },
): Return {
  const since = lost.map(one => one.start).sort((a, b) => a - b)[0]
  const open = since === undefined ? [] : openInstallments(before).filter(one => one.start >= since)
  const absorbed = open.map(one => ({ ...one, absorbedBy: [...one.absorbedBy, modification.locator] }))
  const planOf = (first: PlannedInstallment, others: readonly PlannedInstallment[]): PlannedInstallment[] => [
    { ...first, ...(others.length > 0 && { leavesOut: others.map(one => one.locator) }) },
    ...others.map(
      ({ locator, start, end, issueAt, dueAt, writeOff }, at): PlannedInstallment => ({
        locator: supply.uuid(),
        modificationLocator: modification.locator,
        number: at + 2,
        start,
        end,
        issueAt,
        dueAt,
        periods: [],
        absorbedBy: [],
        ...(writeOff && { writeOff }),
        takesOver: [locator],
      }),
    ),
  ]
  const dueOf = (plan: readonly PlannedInstallment[]): number =>
    firstDue(before, modification, [...absorbed, ...plan])
  const first: PlannedInstallment = { ...own, replans: { bill: 'atOnce', open: [] } }
  for (let kept = 0; ; kept += 1) {
    const others = coming.slice(kept)
    const { start, end, issueAt, dueAt } = coming[kept - 1] ?? own
    const plan = planOf(
      kept === 0
        ? first
        : {
            ...own,
            start,
            end,
            issueAt,
            dueAt,
            replans: { bill: 'planned', open: open.map(one => one.locator) },
          },
      others,
    )
    const due = dueOf(plan)
    // What the bills that come back would have too much lies on the first of them.
    if (due < 0 && others.length > 0) continue
    return { plan: due === 0 ? silent(plan) : plan, open }
  }
}

/**
 * What comes back over the time that is left, on the bills of that time. Only flat fees come back with time in the gap:
 * that time is on the next bill.
 */
function afterGap(
  before: PolicyAggregate,
  modification: Modification,
  own: PlannedInstallment,
  lost: readonly PlannedInstallment[],
  schedule: PaymentScheduleType,
  { supply }: { supply: LocatorSupply },
): Return {
  const { effectiveAt: from, policyEnd, locator } = modification
  const coming = lost.filter(one => one.end > from)
  const { timeZone } = before.policy
  const terms = termsOf(before, policyEnd)
  const tiles = periodsFrom(terms, schedule, timeZone, from).flat()
  const begun = chargesOf(before, modification)
    .map(one => one.start)
    .reduce(earlier, from)
  const gap = periodsFrom(terms, schedule, timeZone, begun)
    .flat()
    .filter(tile => tile.start < from)
    .map(tile => ({ ...tile, end: earlier(tile.end, from) }))
  const billOf = (at: Instant): PlannedInstallment | undefined =>
    coming.find(one => one.start <= at && at < one.end)
  const atOnce = tiles.filter(tile => !billOf(tile.start))
  const first: PlannedInstallment = { ...own, periods: atOnce, replans: { bill: 'atOnce', open: [] } }
  const bills = [
    first,
    ...coming.map(
      ({ start, end, issueAt, dueAt, writeOff }, at): PlannedInstallment => ({
        locator: supply.uuid(),
        modificationLocator: locator,
        number: at + 2,
        start: later(start, from),
        end,
        issueAt,
        dueAt,
        periods: tiles.filter(tile => billOf(tile.start) === coming[at]),
        absorbedBy: [],
        ...(writeOff && { writeOff }),
      }),
    ),
  ]
  const next = bills.find(one => one.periods.length > 0)
  const plan = bills.map(one => (one === next ? { ...one, periods: [...gap, ...one.periods] } : one))
  return { plan: firstDue(before, modification, plan) === 0 ? silent(plan) : plan, open: [] }
}

const silent = ([first, ...others]: readonly PlannedInstallment[]): PlannedInstallment[] => [
  { ...first!, replans: { ...first!.replans!, isSilent: true } },
  ...others,
]

/** What the first installment of the modification's plan would ask for, in minor units. */
const firstDue = (
  before: PolicyAggregate,
  modification: Modification,
  installments: readonly PlannedInstallment[],
): number =>
  amountsDue({ ...before, installments: putRecords(before.installments, installments) }, modification)[0]!
    .minor

/** Installments that the cancellation took over. */
const lostBy = ({ installments }: PolicyAggregate, { locator }: Modification): PlannedInstallment[] =>
  [...installments.values()].filter(one => one.absorbedBy.includes(locator))

/** From when on the cancellation took coverage away. */
function lostFrom({ segments }: PolicyAggregate, { locator, effectiveAt }: Modification): Instant {
  const all = [...segments.values()]
  const kept = new Set(all.filter(one => one.madeBy === locator).map(one => one.predecessor))
  return all
    .filter(one => one.replacedBy === locator)
    .map(one => (kept.has(one.locator) ? effectiveAt : one.start))
    .reduce(earlier, Number.POSITIVE_INFINITY as Instant)
}
