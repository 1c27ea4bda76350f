// Plans by a payment schedule (brief 4.2): the periods of a term, the installments that pay for them, and when each invoice is made
// and due.
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import { type CurrencyCode, money, sum } from '../kernel/money.ts'
import {
  add,
  type CalendarUnit,
  earlier,
  endOfDay,
  type Instant,
  later,
  type Span,
  startOfDay,
  type TimeZone,
} from '../kernel/time.ts'
import { chargesOf } from '../policy/bills/amounts-due.ts'
import { type Charge, isPayable } from '../policy/bills/charge.ts'
import { contractEndAfter, isIssued } from '../policy/fold/line.ts'
import type { Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import {
  type BillingPeriod,
  type Installment,
  isSilent,
  LARGEST_PLAN_PERIODS,
  type PlannedInstallment,
} from '../policy/records/invoice.ts'
import type { PaymentScheduleType, ProductDefinition } from '../product/configuration.ts'

/** The period of each schedule (brief 4.2). `total` has a single period. */
const STEPS: Record<PaymentScheduleType, CalendarStep | undefined> = {
  total: undefined,
  annually: { count: 12, unit: 'month' },
  semiannually: { count: 6, unit: 'month' },
  quarterly: { count: 3, unit: 'month' },
  monthly: { count: 1, unit: 'month' },
  every_two_weeks: { count: 2, unit: 'week' },
  every_week: { count: 1, unit: 'week' },
}

/**
 * Returns the periods that tile the coverage. Each starts at the local day of month and time of the coverage start. A month that
 * lacks the day uses its last day, and later months return to it. The coverage end cuts the last period. Throws 413 for plans of
 * more than `LARGEST_PLAN_PERIODS`.
 */
export function billingPeriods(coverage: Span, type: PaymentScheduleType, zone: TimeZone): BillingPeriod[] {
  if (coverage.end <= coverage.start) throw new RangeError('The end of coverage must be after its start.')
  const step = STEPS[type]
  if (step === undefined) return [{ ...coverage, wholeMs: coverage.end - coverage.start }]
  const periods = tiles(coverage, step, zone, LARGEST_PLAN_PERIODS + 1)
  if (periods.length > LARGEST_PLAN_PERIODS) throw tooManyPeriods(type)
  return periods
}

type CalendarStep = { readonly count: number; readonly unit: CalendarUnit }

/** Returns the steps that tile the coverage, whose end cuts the last one. */
function tiles(
  coverage: Span,
  step: CalendarStep,
  zone: TimeZone,
  most = Number.POSITIVE_INFINITY,
): BillingPeriod[] {
  const startOf = (index: number): Instant => add(coverage.start, index * step.count, step.unit, zone)
  const periods: BillingPeriod[] = []
  for (let start = coverage.start; start < coverage.end && periods.length < most; ) {
    const next = startOf(periods.length + 1)
    periods.push({ start, end: earlier(next, coverage.end), wholeMs: next - start })
    start = next
  }
  return periods
}

/**
 * Returns the billing periods of consecutive terms from a time on; `from` cuts the period that contains it. Each period is the list
 * of its months or weeks, which weigh the same: a quarter cut after its first month has two thirds left, no matter how many days
 * its months have. Throws 413 for plans of more than `LARGEST_PLAN_PERIODS`.
 */
export function periodsFrom(
  terms: readonly Span[],
  type: PaymentScheduleType,
  zone: TimeZone,
  from: Instant,
): BillingPeriod[][] {
  const step = STEPS[type]
  const periods = terms
    .filter(term => term.end > from)
    .flatMap(term => {
      const whole = billingPeriods(term, type, zone)
      const units = step ? tiles(term, { ...step, count: 1 }, zone) : whole
      return whole.map(period =>
        units
          .filter(one => period.start <= one.start && one.start < period.end && one.end > from)
          .map(one => ({ ...one, start: later(one.start, from) })),
      )
    })
    .filter(period => period.length > 0)
  if (periods.length > LARGEST_PLAN_PERIODS) throw tooManyPeriods(type)
  return periods
}

/** Returns the parts of a period between these times. */
export function cutAt(period: BillingPeriod, times: ReadonlySet<Instant>): BillingPeriod[] {
  const cuts = [...times].filter(at => period.start < at && at < period.end).sort((a, b) => a - b)
  return [period.start, ...cuts].map((start, at) => ({ ...period, start, end: cuts[at] ?? period.end }))
}

/**
 * Returns the periods from a time on, each within one of the planned bills. A renewal or a later change may have brought a
 * different schedule from that of the bills. A term's months or weeks then count, if they fit its bills; otherwise its periods are
 * cut where bills meet.
 */
export function periodsOfBills(
  terms: readonly Span[],
  bills: readonly Span[],
  type: PaymentScheduleType,
  zone: TimeZone,
  from: Instant,
): BillingPeriod[][] {
  const ends = new Set(bills.flatMap(({ start, end }) => [start, end]))
  const fitsBills = (groups: readonly BillingPeriod[][]): boolean =>
    groups.flat().every(period => cutAt(period, ends).length === 1)
  const lastEnd = bills.map(one => one.end).reduce(later, from)
  const all = periodsFrom(terms, type, zone, from)
  if (fitsBills(all)) return all
  return terms.flatMap(term => {
    const own = periodsFrom([term], type, zone, from)
    const fitting = [own]
    // Time that gains its own bills keeps the schedule's periods.
    if (term.end <= lastEnd) for (const other of UNITS) fitting.push(periodsFrom([term], other, zone, from))
    return fitting.find(fitsBills) ?? own.map(group => group.flatMap(period => cutAt(period, ends)))
  })
}

/** A schedule of months and one of weeks, both with few groups. */
const UNITS = ['annually', 'every_two_weeks'] as const satisfies PaymentScheduleType[]

const tooManyPeriods = (type: PaymentScheduleType): Refusal =>
  new Refusal(
    'policyLimit',
    `The payment schedule '${type}' has more than ${LARGEST_PLAN_PERIODS} billing periods over the policy's span; choose longer periods.`,
  )

type PlanInput = {
  /** If they total a small amount, the plan is a single installment. */
  readonly charges: Iterable<Charge>
  readonly schedule: PaymentScheduleType
  /** How long before its due time an invoice is made. */
  readonly terms: ProductDefinition['defaultPaymentTerms']
  /** The whole span of the term. */
  readonly coverage: Span
  readonly now: Instant
  readonly timeZone: TimeZone
}

/**
 * Returns the installments of a transaction by a built-in schedule, in order of time; never empty (brief 4.2).
 * - An installment is due at the end of the day on which its first period starts, in the tenant's zone.
 * - All periods that would be due by the end of today share one installment, due then.
 * - The first invoice is made now, each other one the payment terms before it is due, but not before `now`. Those with `issueAt` =
 *   `now` are made with the transaction.
 */
export function planInstallments(input: PlanInput): Installment[] {
  const { now, timeZone } = input
  const schedule = scheduleFor(input.charges, input.schedule)
  const periods = billingPeriods(input.coverage, schedule, timeZone).map(period => [period])
  const [first, ...others] = mergePastGroups(periods, endOfDay(now, timeZone)).map(group =>
    installmentOf(group, input),
  )
  return numberInstallments([{ ...first!, issueAt: now }, ...others])
}

/** Returns an installment for the periods. Its invoice is made the payment terms before it is due, or now if that is later. */
export function installmentOf(
  periods: readonly BillingPeriod[],
  { terms, now, timeZone }: Pick<PlanInput, 'terms' | 'now' | 'timeZone'>,
): Omit<Installment, 'number'> {
  const { start } = periods[0]!
  const dueAt = later(endOfDay(start, timeZone), endOfDay(now, timeZone))
  // Not in the last millisecond of the day on which it is due: its timer would make the invoice the day after, past due.
  const onTime = earlier(add(dueAt, -terms.amount, terms.unit, timeZone), startOfDay(dueAt, timeZone))
  const issueAt = later(onTime, now)
  return { start, end: periods.at(-1)!.end, issueAt, dueAt, periods }
}

/** Counts the installments that become invoices immediately, for which digit locators are needed. */
export const countInvoicedNow = (plan: readonly Installment[], now: Instant): number =>
  plan.filter(one => one.issueAt <= now && !isSilent(one)).length

/** Numbers the installments from 1, in the order of the list. */
export const numberInstallments = (plan: readonly Omit<Installment, 'number'>[]): Installment[] =>
  plan.map((installment, index) => ({ ...installment, number: index + 1 }))

/** In major units. Totals up to this amount are one installment, and refunds are not spread (brief 5.6). */
const SMALLEST_PLAN = 5

/** Decimal text in major units: what a product that does not set `invoicing.carryForwardBelow` carries forward (brief 4.5, 5.6). */
const CARRIED_BY_DEFAULT = '2'

/** Returns the schedule, or `total` if there is a small total, a refund or nothing to pay. */
export function scheduleFor(charges: Iterable<Charge>, schedule: PaymentScheduleType): PaymentScheduleType {
  const amounts = Array.from(charges)
    .filter(isPayable)
    .map(charge => charge.amount)
  if (amounts.length === 0) return 'total'
  const { currency } = amounts[0]!
  return sum(amounts, currency).minor > money(SMALLEST_PLAN, currency).minor ? schedule : 'total'
}

/** Merges the groups that start by the end of today into one. */
export function mergePastGroups(
  groups: readonly (readonly BillingPeriod[])[],
  endOfToday: Instant,
): (readonly BillingPeriod[])[] {
  const past = groups.filter(group => group[0]!.start <= endOfToday)
  const others = groups.slice(past.length)
  return past.length === 0 ? others : [past.flat(), ...others]
}

/** An installment that is not recorded yet. */
export type PlannedBill = Installment & Pick<PlannedInstallment, 'takesOver' | 'leavesOut' | 'paidBefore'>

/** `open` lists the installments that the plan takes over. */
export type BillPlan = {
  readonly charges: readonly Charge[]
  readonly plan: readonly PlannedBill[]
  readonly open: readonly PlannedInstallment[]
}

/** A transaction to be billed. `before` already has the modification and everything that it made. */
export type BilledChange = {
  readonly before: PolicyAggregate
  readonly modification: Modification
  /** Charges of the transaction. */
  readonly charges: readonly Charge[]
  /** Installments that are planned and not billed yet, in order of time. */
  readonly open: readonly PlannedInstallment[]
  readonly product: ProductDefinition
  /** The payment schedule after the transaction. */
  readonly scheduleName: string
  readonly now: Instant
}

/** Returns the policy's terms. The last one ends at `policyEnd`. */
export function termsOf({ modifications }: PolicyAggregate, policyEnd: Instant): Span[] {
  const terms = [...modifications.values()]
    .filter(one => isIssued(one) && (one.kind === 'creation' || one.kind === 'renewal'))
    .map(one => ({ start: one.effectiveAt, end: earlier(one.policyEnd, policyEnd) }))
    .filter(term => term.start < term.end)
    .sort((a, b) => a.start - b.start)
  return terms.map((term, at) => (at === terms.length - 1 ? { ...term, end: policyEnd } : term))
}

/**
 * Returns a single installment, due at the end of today. Its period ends where the cover ended before the modification, because a
 * refund is for the time that the modification removes.
 */
export function singleInstallment(
  { policy, modifications }: PolicyAggregate,
  { number, effectiveAt: start, policyEnd }: Modification,
  now: Instant,
): Installment {
  const previous = [...modifications.values()]
    .filter(one => isIssued(one) && one.number < number)
    .sort((a, b) => a.number - b.number)
  const end = later(policyEnd, later(policy.originalEnd, contractEndAfter(previous, start)))
  const span = { start, end: end > start ? end : ((start + 1) as Instant) }
  return {
    ...span,
    number: 1,
    issueAt: now,
    dueAt: endOfDay(now, policy.timeZone),
    periods: [{ ...span, wholeMs: span.end - span.start }],
  }
}

/**
 * Plans the charges of a new term, from the start of its cover, by the payment schedule of that name. Throws an error if the
 * product has no such schedule, so check a name from a request first.
 */
export function termPlan(
  aggregate: PolicyAggregate,
  modification: Modification,
  scheduleName: string,
  product: ProductDefinition,
  now: Instant,
): Installment[] {
  const schedule = product.paymentSchedules.find(one => one.name === scheduleName)
  if (!schedule) throw new Error(`Product '${product.name}' has no payment schedule '${scheduleName}'.`)
  const plan = planInstallments({
    charges: chargesOf(aggregate, modification),
    schedule: schedule.type,
    terms: product.defaultPaymentTerms,
    coverage: { start: modification.effectiveAt, end: modification.policyEnd },
    now,
    timeZone: aggregate.policy.timeZone,
  })
  return withCarryForward(plan, carriedBelow(product), aggregate.policy.currency)
}

/** Returns, as decimal text, the amount below which a plan that the product's schedule makes carries an invoice forward. */
export const carriedBelow = ({ invoicing }: ProductDefinition): string =>
  invoicing.carryForwardBelow ?? CARRIED_BY_DEFAULT

/** Makes every installment but the last carry invoices below the amount forward. */
export function withCarryForward(
  plan: readonly Installment[],
  below: string | undefined,
  currency: CurrencyCode,
): Installment[] {
  if (below === undefined) return [...plan]
  const carriesBelow = money(below, currency).minor
  return plan.map((one, at) => (at < plan.length - 1 ? { ...one, carriesBelow } : one))
}

/** Returns installments that a cancellation or lapse took over, unchanged in dates and amounts, to follow the first of a plan. */
export const returningInstallments = (coming: readonly PlannedInstallment[]): PlannedBill[] =>
  coming.map(({ locator, start, end, issueAt, dueAt, writeOff }, at) => ({
    number: at + 2,
    start,
    end,
    issueAt,
    dueAt,
    periods: [],
    ...(writeOff && { writeOff }),
    takesOver: [locator],
  }))

/** Returns the plan as records of the modification, with new locators. */
export const planRecords = (
  plan: readonly PlannedBill[],
  modification: Modification,
  supply: Pick<LocatorSupply, 'uuid'>,
): PlannedInstallment[] =>
  plan.map(installment => ({
    ...installment,
    locator: supply.uuid(),
    modificationLocator: modification.locator,
    absorbedBy: [],
  }))
