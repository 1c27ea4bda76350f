// An invoice is an installment that has been asked for. It has no amount of its own: what it bills are the
// items of its installment (items.ts), and its total is their sum.
import type { DisplayId, PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Money, minus } from '../../kernel/money.ts'
import { endOfDay, type Instant, type Span, type TimeZone } from '../../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { FieldValues } from '../../product/fields/values.ts'
import type { InvoiceType, PaymentSource, SettlementType } from '../contract/billing.ts'
import { recordFinder, type Stamped } from './aggregate.ts'

export type InvoiceStatus = 'unfulfilled' | SettlementType

/** Transactions that give their name to the first invoice of their plan. */
export type InvoicedTransaction = Exclude<InvoiceType, 'premiumReporting'>

export type InvoiceStatusEntry = {
  readonly at: Instant
  readonly status: InvoiceStatus
  /** When it was due until then, where the change moved that. */
  readonly dueBefore?: Instant
}

export type Invoice = Span &
  Stamped & {
    readonly locator: Uuid
    readonly displayId: DisplayId
    readonly policyLocator: PolicyLocator
    /** The transaction whose plan it belongs to, and the installment of that plan that it bills. */
    readonly policyModificationLocator: Uuid
    readonly installmentNumber: number
    readonly type: InvoiceType
    readonly dueAt: Instant
    /** In order of time, from `unfulfilled`; the last one holds. */
    readonly statuses: readonly InvoiceStatusEntry[]
    /**
     * When the grace period that it begins ends: set by a plugin when a payment of it was reversed last, or by the migration of
     * one that was past due for longer than grace is.
     */
    readonly graceEndAt?: Instant
    /** Whether it gives money back; unknown for invoices of earlier releases. An invoice's total never changes. */
    readonly isRefund?: boolean
  }

/**
 * The invoice of an installment, made `at`. With nothing due it is settled at once (brief 4.4).
 */
export function invoiceOf(
  installment: Installment,
  totalDue: Money,
  type: InvoicedTransaction,
  identity: Pick<Invoice, 'locator' | 'displayId' | 'policyLocator' | 'policyModificationLocator'>,
  at: Instant,
): Invoice {
  const statuses: InvoiceStatusEntry[] = [{ at, status: 'unfulfilled' }]
  if (totalDue.minor === 0) statuses.push({ at, status: 'zeroDue' })
  return {
    ...identity,
    installmentNumber: installment.number,
    type,
    start: installment.start,
    end: installment.end,
    dueAt: installment.dueAt,
    createdAt: at,
    updatedAt: at,
    statuses,
    ...(totalDue.minor < 0 && { isRefund: true }),
  }
}

export const invoiceStatus = (invoice: Invoice): InvoiceStatus => invoice.statuses.at(-1)!.status

export const isOutstanding = (invoice: Invoice): boolean => invoiceStatus(invoice) === 'unfulfilled'

export type InvoiceAction = 'pay' | 'reverse' | 'invalidate' | 'writeOff' | 'carryForward'

/**
 * The actions on an invoice by status, and the status that follows. `reverse` is the reversal of one of its payments. An
 * invoice that was partly paid and then written off stays so, whatever happens to its payments; a refund becomes open again.
 */
export const INVOICE_TRANSITIONS: TransitionTable<InvoiceAction, InvoiceStatus> = {
  pay: { from: ['unfulfilled'], to: ['paid', 'unfulfilled'], event: 'payment.pay', past: 'paid' },
  reverse: { from: ['unfulfilled', 'paid'], to: 'unfulfilled', event: 'payment.reverse', past: 'reversed' },
  invalidate: { from: ['unfulfilled'], to: 'invalidated', event: 'invoice.invalidate', past: 'invalidated' },
  writeOff: { from: ['unfulfilled'], to: 'writtenOff', event: 'invoice.writtenOff', past: 'written off' },
  carryForward: { from: ['unfulfilled'], to: 'carriedForward', past: 'carried forward' },
}

/** Refuses (409 `wrongState`) an action that the invoice's status does not allow. */
export function assertInvoiceAllows(invoice: Invoice, action: InvoiceAction): void {
  assertAllowed(INVOICE_TRANSITIONS, `Invoice ${invoice.displayId}`, invoiceStatus(invoice), action)
}

const settled = (invoice: Invoice, status: SettlementType, at: Instant): Invoice => ({
  ...invoice,
  updatedAt: at,
  statuses: [...invoice.statuses, { at, status }],
})

/** The invoice after a payment, which pays it in full or leaves a rest. Refuses with `wrongState` one that is settled. */
export function paid(invoice: Invoice, inFull: boolean, at: Instant): Invoice {
  assertInvoiceAllows(invoice, 'pay')
  return inFull ? settled(invoice, 'paid', at) : { ...invoice, updatedAt: at }
}

/**
 * The invoice after a payment of it was reversed. Paid before, it is outstanding, and where its due time is past it is
 * due by the end of today (brief 4.4); an invoice that was outstanding all along stays due when it was.
 */
export function reopened(invoice: Invoice, at: Instant, timeZone: TimeZone): Invoice {
  // A refund may have been written off beyond what was paid out.
  if (!(invoice.isRefund && invoiceStatus(invoice) === 'writtenOff')) assertInvoiceAllows(invoice, 'reverse')
  if (isOutstanding(invoice)) return { ...invoice, updatedAt: at }
  const isPast = invoice.dueAt < at
  const moved = isPast && { dueBefore: invoice.dueAt }
  return {
    ...invoice,
    dueAt: isPast ? endOfDay(at, timeZone) : invoice.dueAt,
    // The settings were for the former due time.
    graceEndAt: isPast ? undefined : invoice.graceEndAt,
    updatedAt: at,
    statuses: [...invoice.statuses, { at, status: 'unfulfilled', ...moved }],
  }
}

/** A way to settle an invoice by hand. Refuses (409 `wrongState`) one that is settled. */
const settling =
  (action: InvoiceAction, status: SettlementType) =>
  (invoice: Invoice, at: Instant): Invoice => {
    assertInvoiceAllows(invoice, action)
    return settled(invoice, status, at)
  }

export const invalidated = settling('invalidate', 'invalidated')

/** The invoice written off: the rest of it is no longer expected. */
export const writtenOff = settling('writeOff', 'writtenOff')

/** The invoice settled by another that asks for its amount. */
export const carriedForward = settling('carryForward', 'carriedForward')

// Money received on an invoice, or paid out on a refund invoice, whose amounts are negative throughout.
export type Payment = {
  readonly locator: Uuid
  readonly displayId: DisplayId
  readonly policyholderLocator: Uuid
  readonly invoiceLocator: Uuid
  readonly source: PaymentSource
  /** Of an offset: the invoice that has the payment of opposite amount. */
  readonly offsetInvoiceLocator?: Uuid
  /** All that was paid; negative for a refund. */
  readonly amount: Money
  /** The part of it that the invoice did not ask for, which is the policyholder's credit. Not negative. */
  readonly credited: Money
  readonly fieldValues: FieldValues
  readonly postedAt: Instant
  readonly reversedAt?: Instant
}

/** The holder of a policy's payments: its aggregate. */
type WithPayments = { readonly payments: ReadonlyMap<Uuid, Payment> }

export type PaymentState = 'posted' | 'reversed'

export type PaymentAction = 'reverse'

export const PAYMENT_TRANSITIONS: TransitionTable<PaymentAction, PaymentState> = {
  reverse: { from: ['posted'], to: 'reversed', event: 'payment.reverse', past: 'reversed' },
}

export const paymentState = ({ reversedAt }: Payment): PaymentState =>
  reversedAt === undefined ? 'posted' : 'reversed'

export function assertPaymentAllows(payment: Payment, action: PaymentAction): void {
  assertAllowed(PAYMENT_TRANSITIONS, `Payment ${payment.displayId}`, paymentState(payment), action)
}

export const paymentOf = recordFinder('payments', 'payment')

/** Payments of the invoice, reversed ones too, in the order in which they were made. */
export const paymentsOf = ({ payments }: WithPayments, { locator }: Pick<Invoice, 'locator'>): Payment[] =>
  [...payments.values()].filter(payment => payment.invoiceLocator === locator)

export const standingPayments = (aggregate: WithPayments, invoice: Invoice): Payment[] =>
  paymentsOf(aggregate, invoice).filter(payment => paymentState(payment) === 'posted')

/** The part of the payment that goes to its invoice. */
export const applied = ({ amount, credited }: Payment): Money => minus(amount, credited)

/** The payment of opposite amount on the other invoice of a standing offset. */
export function counterpartOf({ payments }: WithPayments, offset: Payment): Payment | undefined {
  return [...payments.values()].find(
    one =>
      one.source === 'offset' &&
      paymentState(one) === 'posted' &&
      one.invoiceLocator === offset.offsetInvoiceLocator &&
      one.offsetInvoiceLocator === offset.invoiceLocator &&
      one.amount.minor === -offset.amount.minor,
  )
}

// The plan of a transaction: which billing periods are paid together, when the invoice of each is made and
// when it is due. A plan says nothing about amounts: every charge is split over it by the same formula when it
// is read (bills/items.ts), so what is stored grows with the installments and with the charges, not with both. Only a plan
// that a plugin made (billing/plugin-bills.ts) has amounts of its own, charge by charge, since no formula gives them.
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
  /** Its invoice is written off as soon as it is made: its plan asks nobody for it (brief 4.4). */
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
