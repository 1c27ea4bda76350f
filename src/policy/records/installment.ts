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
   * The parts of charges that a plugin put on it, by charge id, in minor units. Every installment of such a plan has them and
   * no periods; charges that it does not name are not billed by it.
   */
  readonly items?: Readonly<Record<string, number>>
  readonly fees?: readonly InstallmentFee[]
  /** Its invoice is written off as soon as it is made: the plan says that nobody is asked for it (brief 4.4). */
  readonly writeOff?: boolean
  readonly replans?: Replanned
}

/**
 * For a plan that continues an earlier one (brief 4.5, bills/continued-plan.ts): the role of the installment in it.
 */
export type Replanned = {
  /** `atOnce` bills what is charged or given back at once; `planned` keeps the dates of the earlier plan. */
  readonly bill: 'atOnce' | 'planned'
  /** Installments that were planned, and in whose place it is. */
  readonly open: readonly Uuid[]
  /** It comes to nothing and is never invoiced. */
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

/** Whether it comes to nothing, so that nobody is asked for it. */
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
   * Modifications whose plans took over what it bills. At most one of them counts: the others were invalidated, and are kept
   * because their void invoices still say what they asked for.
   */
  readonly absorbedBy: readonly Uuid[]
  /** Other installments that it includes whole, and those that it leaves out. */
  readonly takesOver?: readonly Uuid[]
  readonly leavesOut?: readonly Uuid[]
  /**
   * For a lapse: what had been paid, in minor units, of installments that it took over. It does not take over that part.
   */
  readonly paidBefore?: Readonly<Record<Uuid, number>>
}
