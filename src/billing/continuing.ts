// What a plan becomes when a transaction changes what is in force (brief 4.5): the bills that are planned go on with the
// dates that they had, each for what is in force in its time, and what bills already made charged too much or too little
// for is one invoice at once. No planned bill becomes negative while one before it can give.
import type { LocatorSupply, Uuid } from '../kernel/locators.ts'
import { type CurrencyCode, money } from '../kernel/money.ts'
import { earlier, endOfDay, type Instant, later } from '../kernel/time.ts'
import { chargesOf, openInstallments, restsApart } from '../policy/bills/amounts-due.ts'
import { type Charge, lineOfCharge, NOTHING_KEPT } from '../policy/bills/charge.ts'
import { installmentItems, isContinued, totalsDue } from '../policy/bills/items.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../policy/records/aggregate.ts'
import { type Installment, isSilent, type PlannedInstallment } from '../policy/records/invoice.ts'
import type { Planned } from '../policy/transitions.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import {
  type Invoicing,
  type InvoicingContext,
  invoiceInstallments,
  invoiceTimers,
  invoiceWhatIsDue,
} from './invoicing.ts'
import type { OwnBills } from './plugin-bills.ts'
import { rescheduled } from './replan.ts'
import { planAfterReinstatement } from './returning.ts'
import {
  type BillPlan,
  installmentOf,
  numbered,
  onlyInstallment,
  periodsFrom,
  recorded,
  termPlan,
  termsOf,
} from './schedule.ts'

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

// How a transaction is billed, from the charge to the invoice (brief 4.5; docs/design.md, section 4):
//
// 1. what the transaction charges (`chargesOf`, policy/bills/amounts-due.ts);
// 2. what of that was planned and not billed yet (`openInstallments`, `restsOf`);
// 3. what the plan becomes (`planBills`): the product's plugin plans it, or one of the built-in ways does;
// 4. which bills are made now (`makeBills`); the others have timers;
// 5. what offsets and credit settle (transactions/payments), once the change is recorded.
export type PlanContext = {
  readonly product: ProductDefinition
  readonly now: Instant
  /** The payment schedule that the transaction names, if it names one. */
  readonly newPaymentScheduleName?: string
}

/** Bills a transaction in one step with its effect; `before` has its modification and everything that it made. */
export async function billTransaction(
  before: PolicyAggregate,
  modification: Modification,
  { ownBills, supply, ...context }: PlanContext & { supply: LocatorSupply; ownBills: OwnBills },
): Promise<Planned> {
  const { now } = context
  const own = await ownBills(before, modification)
  return own
    ? makeBills(before, modification, own.bills, { now, supply: own.supply })
    : makeBills(before, modification, planBills(before, modification, context), { now, supply })
}

/**
 * What the plan becomes where no plugin plans it. Most transactions let the planned bills go on, each for what is then in
 * force, and bill at once what bills already made charged too much or too little. A renewal plans its own term. An
 * endorsement that names a payment schedule, even the one that the policy has, plans all that is open anew (brief 4.3).
 */
export function planBills(
  before: PolicyAggregate,
  modification: Modification,
  { product, now, newPaymentScheduleName }: PlanContext,
): BillPlan {
  const scheduleName = newPaymentScheduleName ?? before.policy.paymentScheduleName
  switch (modification.kind) {
    case 'renewal':
      return {
        charges: chargesOf(before, modification),
        plan: termPlan(before, modification, scheduleName, product, now),
        open: [],
      }
    case 'endorsement':
      return newPaymentScheduleName === undefined
        ? planAfterEndorsement(before, modification, scheduleName, product, now)
        : rescheduled(before, modification, scheduleName, product, now)
    case 'cancellation':
    case 'withdrawal':
      return planAfterCancellation(before, modification, now)
    case 'reinstatement':
      return planAfterReinstatement(before, modification, product, now)
    case 'feeUpdate':
      return planAfterFeeUpdate(before, modification, now)
    default:
      throw new Error(`A modification of kind ${modification.kind} is billed elsewhere.`)
  }
}

/**
 * The policy with the plan, which takes over the open installments, and with the invoices that are made now. What was
 * invoiced before stays as it is. Takes a digit for each invoice.
 */
export function makeBills(
  before: PolicyAggregate,
  modification: Modification,
  { plan, open }: Pick<BillPlan, 'plan' | 'open'>,
  context: InvoicingContext,
): Invoicing {
  const { now, supply } = context
  const own = recorded(plan, modification, supply)
  const absorbed = open.map(one => ({ ...one, absorbedBy: [...one.absorbedBy, modification.locator] }))
  const planned = { ...before, installments: putRecords(before.installments, [...absorbed, ...own]) }
  // Bills that go on are made when their time comes, even where that is now: their timers are due at once.
  const atOnce = own.filter(one => one.replans?.bill !== 'planned' && one.issueAt <= now && !isSilent(one))
  const invoiced = isContinued(own)
    ? invoiceInstallments(planned, modification, atOnce, context)
    : invoiceWhatIsDue(planned, modification, context)
  return { ...invoiced, timers: invoiceTimers(invoiced.aggregate, modification, now) }
}
