// The plan of a transaction: which billing periods are paid together, when the invoice of each is made and
// when it is due. A plan says nothing about amounts: every charge is split over it by the same formula when it
// is read (bills/items.ts), so what is stored grows with the installments and with the charges, not with both. Only a plan
// that a plugin made (billing/plugin-bills.ts) has amounts of its own, charge by charge, since no formula gives them.
import type { Uuid } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import type { Instant, Span } from '../../kernel/time.ts'

/**
 * One planned invoice. `start` and `end` are those of its periods, which follow one another without a gap; the first bill
 * after a reinstatement has periods of the gap before them too (billing/returning.ts).
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

/** Of a plan that continues what was planned (brief 4.5, bills/continued-plan.ts): what the installment is to it. */
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

/** Whether what it bills comes to nothing, so that nobody is asked for it. */
export const isSilent = ({ replans }: Pick<Installment, 'replans'>): boolean => replans?.isSilent === true

/** Most billing periods of one plan: a hundred years of months, or 23 years of weeks. */
export const LARGEST_PLAN_PERIODS = 1_200

/** A span that one installment pays for, and how much of a whole period it is: (end − start) ÷ wholeMs. */
export type BillingPeriod = Span & {
  /** Milliseconds of the whole calendar period from `start`; longer than the span where coverage ends early. */
  readonly wholeMs: number
}

/** An installment of the plan that a modification is billed by. */
export type PlannedInstallment = Installment & {
  readonly locator: Uuid
  readonly modificationLocator: Uuid
  /**
   * Modifications whose plans took over what it bills. Of those one counts at most: the others were invalidated, and
   * are kept since their void invoices say what they asked for.
   */
  readonly absorbedBy: readonly Uuid[]
  /** Other installments that it asks for too, whole, and those that it leaves out of what it asks for. */
  readonly takesOver?: readonly Uuid[]
  readonly leavesOut?: readonly Uuid[]
  /** Of a lapse: what had been paid, in minor units, of installments that it took over; it does not take over that part. */
  readonly paidBefore?: Readonly<Record<Uuid, number>>
}
