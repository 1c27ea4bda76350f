// What a plan becomes when a transaction changes what is in force (brief 4.5): the bills that are planned go on with the
// dates that they had, each for what is in force in its time, and what bills already made charged too much or too little
// for is one invoice at once. No planned bill becomes negative while one before it can give.
import type { Uuid } from '../kernel/locators.ts'
import { type CurrencyCode, money } from '../kernel/money.ts'
import { earlier, endOfDay, type Instant, later } from '../kernel/time.ts'
import { chargesOf, openInstallments, restsApart } from '../policy/bills/amounts-due.ts'
import { type Charge, lineOfCharge, NOTHING_KEPT } from '../policy/bills/charge.ts'
import { installmentItems, totalsDue } from '../policy/bills/items.ts'
import type { Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Installment, PlannedInstallment } from '../policy/records/installment.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { type BillPlan, installmentOf, numbered, onlyInstallment, periodsFrom, termsOf } from './schedule.ts'

type Draft = Omit<Installment, 'number'>

/**
 * The plan once a cancellation or withdrawal took away what was in force from its time on: bills wholly after it go, the
 * one that contains it shrinks, those before stay. What else stays in force lies on the last one that remains, and where
 * none does, on the invoice at once.
 */
export function planAfterCancellation(
  before: PolicyAggregate,
  modification: Modification,
  now: Instant,
): BillPlan {
  const at = modification.effectiveAt
  const own = chargesOf(before, modification)
  const open = inOrder(openInstallments(before))
  const reaching = open.filter(one => one.end > at)
  const remaining = open.filter(one => one.end <= at)
  const containing = reaching.filter(one => one.start < at).at(-1)
  const isToBear = reaching.length > 0 || own.some(one => one.type === 'holdback')
  const bearing = containing ?? (isToBear ? remaining.pop() : undefined)
  const absorbed = bearing && bearing !== containing ? [bearing, ...reaching] : reaching
  const planned = bearing
    ? [
        {
          ...draftOf(bearing),
          end: earlier(bearing.end, at),
          replans: { bill: 'planned' as const, open: absorbed.map(one => one.locator), freesAfter: at },
        },
      ]
    : []
  return balanced(before, { own, absorbed, planned, remaining, atOnce: atOnceOf(before, modification, now) })
}

/**
 * The plan once an endorsement changed what is in force from its time on. What it charges anew is spread over the time
 * from then on by the schedule; time that the policy gains is billed by bills of its own.
 */
export function planAfterEndorsement(
  before: PolicyAggregate,
  modification: Modification,
  scheduleName: string,
  product: ProductDefinition,
  now: Instant,
): BillPlan {
  const { effectiveAt: from, policyEnd } = modification
  const { timeZone } = before.policy
  const own = chargesOf(before, modification)
  const open = inOrder(openInstallments(before))
  const reaching = open.filter(one => one.end > from)
  const atOnce = atOnceOf(before, modification, now)
  if (reaching.length === 0)
    return balanced(before, { own, absorbed: [], planned: [], remaining: [], atOnce })
  const { type } = product.paymentSchedules.find(one => one.name === scheduleName)!
  const groups = periodsFrom(termsOf(before, policyEnd), type, timeZone, from)
  const tiles = groups.flat()
  const isIn = (at: Instant, span: { start: Instant; end: Instant }): boolean =>
    span.start <= at && at < span.end
  const going = reaching.map(one => ({
    ...draftOf(one),
    periods: tiles.filter(tile => reaching.find(other => isIn(tile.start, other)) === one),
  }))
  const kept = going.filter(one => one.start < policyEnd)
  const beyond = going.filter(one => one.start >= policyEnd).flatMap(one => one.replans!.open)
  const last = kept.at(-1)
  const isPlanned = (at: Instant): boolean => reaching.some(one => isIn(at, one))
  const lastEnd = reaching.map(one => one.end).reduce(later)
  const isToCome = (at: Instant): boolean => at >= lastEnd && at > endOfDay(now, timeZone)
  const gained = groups
    .map(group => group.filter(tile => !isPlanned(tile.start) && isToCome(tile.start)))
    .filter(group => group.length > 0)
    .map(
      (group): Draft => ({
        ...installmentOf(group, { terms: product.defaultPaymentTerms, now, timeZone }),
        replans: { bill: 'planned', open: [] },
      }),
    )
  const made = tiles.filter(tile => !isPlanned(tile.start) && !isToCome(tile.start))
  return balanced(before, {
    own,
    absorbed: reaching,
    planned: [...kept.map(one => (one === last ? continuing(one, beyond) : one)), ...gained],
    remaining: open.filter(one => one.end <= from),
    atOnce:
      made.length === 0
        ? { ...atOnce, periods: [] }
        : { ...atOnce, start: made[0]!.start, end: made.at(-1)!.end, periods: made },
  })
}

/** The plan once fees were added, which is billed at once, and taken back: first out of planned bills that bill them. */
export function planAfterFeeUpdate(
  before: PolicyAggregate,
  modification: Modification,
  now: Instant,
): BillPlan {
  const own = chargesOf(before, modification)
  const taken = new Set(own.filter(one => one.keptUntil === NOTHING_KEPT).map(lineOfCharge))
  // What a product plans itself stays as it planned it.
  const open = inOrder(openInstallments(before)).filter(one => one.items === undefined)
  const billing = new Set(
    (taken.size === 0 ? [] : restsApart(before, open))
      .filter(rest => taken.has(lineOfCharge(rest)))
      .map(rest => rest.from!),
  )
  const absorbed = open.filter(one => billing.has(one.locator))
  return balanced(before, {
    own,
    absorbed,
    planned: absorbed.map(draftOf),
    remaining: [],
    atOnce: atOnceOf(before, modification, now),
  })
}

type Balance = {
  readonly own: readonly Charge[]
  /** Installments in whose place the plan is. */
  readonly absorbed: readonly PlannedInstallment[]
  readonly planned: readonly Draft[]
  /** Planned bills before those, which give where they cannot. */
  readonly remaining: readonly PlannedInstallment[]
  readonly atOnce: Draft
}

/** The plan without negative bills: what one cannot bear, the one before it does; what none can, is given back at once. */
function balanced(before: PolicyAggregate, balance: Balance): BillPlan {
  const { own, atOnce } = balance
  if (own.length === 0) return { charges: [], plan: [], open: [] }
  const { currency } = before.policy
  let planned = [...balance.planned]
  const open = [...balance.absorbed]
  const remaining = [...balance.remaining]
  for (;;) {
    const plan = numbered([atOnce, ...planned])
    const charges = [...own, ...restsApart(before, open)]
    const negative = totalsDue(plan, charges, currency).findLastIndex(({ minor }, at) => at > 0 && minor < 0)
    if (negative < 0) return { charges, plan: withoutEmptyBills(plan, charges, currency), open }
    const at = negative - 1
    if (at > 0)
      planned = [
        ...planned.slice(0, at - 1),
        joined(planned[at - 1]!, planned[at]!),
        ...planned.slice(at + 1),
      ]
    else {
      const previous = remaining.pop()
      if (previous) open.push(previous)
      planned = [...(previous ? [joined(draftOf(previous), planned[0]!)] : []), ...planned.slice(1)]
    }
  }
}

/** The plan without an invoice at once that bills nothing; installments whose items come to nothing are silent. */
function withoutEmptyBills(
  plan: readonly Installment[],
  charges: readonly Charge[],
  currency: CurrencyCode,
): Installment[] {
  const items = installmentItems(plan, charges)
  const totals = totalsDue(plan, charges, currency)
  const nothing = money(0, currency).minor
  return numbered(
    plan
      .map((one, at) =>
        totals[at]!.minor === nothing
          ? { ...one, replans: { ...one.replans!, isSilent: true as const } }
          : one,
      )
      .filter((one, at) => one.replans!.bill === 'planned' || items[at]!.length > 0),
  )
}

const inOrder = (open: readonly PlannedInstallment[]): PlannedInstallment[] =>
  [...open].sort((a, b) => a.start - b.start || a.dueAt - b.dueAt || a.end - b.end)

/** The installment as the new plan has it: with its dates, and without what holds of new plans only (small amounts). */
const draftOf = ({ locator, start, end, issueAt, dueAt, periods, writeOff }: PlannedInstallment): Draft => ({
  start,
  end,
  issueAt,
  dueAt,
  periods,
  ...(writeOff && { writeOff }),
  replans: { bill: 'planned', open: [locator] },
})

const continuing = (draft: Draft, more: readonly Uuid[]): Draft => ({
  ...draft,
  replans: { ...draft.replans!, open: [...draft.replans!.open, ...more] },
})

const joined = (first: Draft, second: Draft): Draft => ({
  ...first,
  end: later(first.end, second.end),
  periods: [...first.periods, ...second.periods],
  replans: { ...second.replans!, open: [...first.replans!.open, ...second.replans!.open] },
})

/** What is charged or given back at once: one invoice, due by the end of today. */
const atOnceOf = (before: PolicyAggregate, modification: Modification, now: Instant): Draft => ({
  ...onlyInstallment(before, modification, now),
  replans: { bill: 'atOnce', open: [] },
})
