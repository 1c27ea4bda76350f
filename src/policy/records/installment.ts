// The plan of a transaction: which billing periods are paid together, when the invoice of each is made and
// when it is due. A plan says nothing about amounts: every charge is split over it by the same formula when it
// is read (items.ts), so what is stored grows with the installments and with the charges, not with both. Only a plan
// that a plugin made (own-plan.ts) has amounts of its own, charge by charge, since no formula gives them.

import { type Charge, isPayable } from '../../billing/charge.ts'
import { type BillingPeriod, billingPeriods } from '../../billing/schedule.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, money, sum } from '../../kernel/money.ts'
import { add, endOfDay, type Instant, later, type Span, type TimeZone } from '../../kernel/time.ts'
import type { PaymentScheduleType, ProductDefinition } from '../../product/configuration.ts'

/**
 * One planned invoice. `start` and `end` are those of its periods, which follow one another without a gap; the first bill
 * after a reinstatement has periods of the gap before them too (returning.ts).
 */
export type Installment = Span & {
  /** From 1, in order of time. */
  readonly number: number
  /** When the invoice is made; the plan's first is made at once. */
  readonly issueAt: Instant
  readonly dueAt: Instant
  /** One, but for an installment that takes in periods already past, or of a schedule that began later than its term. */
  readonly periods: readonly BillingPeriod[]
  /** An invoice of it that asks for less, in minor units, is carried forward to the next installment. */
  readonly carriesBelow?: number
  /**
   * What a plugin put on it: of charges, by their ids, the part that it bills, in minor units. Every installment of
   * such a plan has them, and has no periods; what is not named is not billed by it.
   */
  readonly items?: Readonly<Record<string, number>>
  readonly fees?: readonly InstallmentFee[]
  /** Its invoice is given up as soon as it is made: the plan says that nobody is asked for it (brief 4.4). */
  readonly writeOff?: boolean
  readonly replans?: Replanned
}

/** Of a plan that continues what was planned (brief 4.5, continued-plan.ts): what the installment is to it. */
export type Replanned = {
  /** `atOnce` bills what is charged or given back at once; a `planned` one, what is billed when it would have been. */
  readonly bill: 'atOnce' | 'planned'
  /** Installments that were planned, and in whose place it is. */
  readonly open: readonly Uuid[]
  /** What it bills comes to nothing: it is never invoiced. */
  readonly isSilent?: true
  /**
   * Where cover ends by a cancellation. What those installments gave back for time after it, of what bills already made
   * had charged, is given back at once (continued-plan.ts). Plans of earlier releases have none.
   */
  readonly freesAfter?: Instant
}

/**
 * What the service of paying by installments costs, asked for with one of them (brief 3.3, 5.6). It belongs to the
 * installment and not to the policy: it comes to be with the invoice, is gone with an installment that another plan takes
 * the place of, and once invoiced it stays, whatever becomes of the policy, unless it is reversed by hand. So it is in
 * invoices, in their totals and in what is planned, but neither in the policy's price nor among its fees, and no
 * cancellation prorates it.
 */
export type InstallmentFee = {
  readonly locator: Uuid
  readonly name: string
  readonly description: string
  readonly amount: Money
  /** The change of fees by which it was given back. */
  readonly reversedBy?: Uuid
}

export type PlanInput = {
  /** What the plan is for; without much to pay, it is a single installment. */
  readonly charges: Iterable<Charge>
  readonly schedule: PaymentScheduleType
  /** How long before its due time an invoice is made. */
  readonly terms: ProductDefinition['defaultPaymentTerms']
  /** The term's whole span. */
  readonly coverage: Span
  readonly now: Instant
  readonly timeZone: TimeZone
}

/**
 * The installments of a transaction by a built-in schedule, in order of time; never empty (brief 4.2). An
 * installment is due at the end of the day on which its first period starts, in the tenant's zone. All periods
 * that would be due by the end of today are one installment, due then. Invoices are made the payment terms
 * before their due time, but not in the past: those with `issueAt` = `now` are made with the transaction.
 */
export function planInstallments(input: PlanInput): Installment[] {
  const { now, timeZone } = input
  const schedule = scheduleFor(input.charges, input.schedule)
  const periods = billingPeriods(input.coverage, schedule, timeZone).map(period => [period])
  const [first, ...others] = paidTogether(periods, endOfDay(now, timeZone)).map(group =>
    installmentOf(group, input),
  )
  return numbered([{ ...first!, issueAt: now }, ...others])
}

/** The installment that the periods are paid by. Its invoice is made the payment terms before it is due, or now. */
export function installmentOf(
  periods: readonly BillingPeriod[],
  { terms, now, timeZone }: Pick<PlanInput, 'terms' | 'now' | 'timeZone'>,
): Omit<Installment, 'number'> {
  const { start } = periods[0]!
  const dueAt = later(endOfDay(start, timeZone), endOfDay(now, timeZone))
  const issueAt = later(add(dueAt, -terms.amount, terms.unit, timeZone), now)
  return { start, end: periods.at(-1)!.end, issueAt, dueAt, periods }
}

/** How many invoices of the plan are made at once. */
export const invoicedAtOnce = (plan: readonly Installment[], now: Instant): number =>
  plan.filter(one => one.issueAt <= now && !isSilent(one)).length

/** Whether what it bills comes to nothing, so that nobody is asked for it. */
export const isSilent = ({ replans }: Pick<Installment, 'replans'>): boolean => replans?.isSilent === true

/** Installments of a plan with their numbers. */
export const numbered = (plan: readonly Omit<Installment, 'number'>[]): Installment[] =>
  plan.map((installment, index) => ({ ...installment, number: index + 1 }))

/** In major units: whoever owes no more pays it at once, and refunds are not spread (brief 5.6). */
const SMALLEST_PLAN = 5

/** The schedule that the charges are paid by: a small total, a refund and what is nothing to pay are one installment. */
export function scheduleFor(charges: Iterable<Charge>, schedule: PaymentScheduleType): PaymentScheduleType {
  const payable = Array.from(charges).filter(isPayable)
  const [first] = payable
  if (!first) return 'total'
  const { currency } = first.amount
  const total = sum(
    payable.map(charge => charge.amount),
    currency,
  )
  return total.minor > money(SMALLEST_PLAN, currency).minor ? schedule : 'total'
}

/** Every group of periods by itself, but those that start by the end of today together. */
export function paidTogether(
  groups: readonly (readonly BillingPeriod[])[],
  endOfToday: Instant,
): (readonly BillingPeriod[])[] {
  const past = groups.filter(group => group[0]!.start <= endOfToday)
  const others = groups.slice(past.length)
  return past.length === 0 ? others : [past.flat(), ...others]
}
