// An invoice is an installment that has been invoiced. It stores no amount: it bills the items of its installment (items.ts).
import type { DisplayId, PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Money, minus } from '../../kernel/money.ts'
import { endOfDay, type Instant, type Span, type TimeZone } from '../../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { FieldValues } from '../../product/fields/values.ts'
import type { InvoiceType, PaymentSource, SettlementType } from '../contract/billing.ts'
import { recordFinder, type Stamped } from './aggregate.ts'

export type InvoiceStatus = 'unfulfilled' | SettlementType

/** Transactions that name the first invoice of their plan. */
export type InvoicedTransaction = Exclude<InvoiceType, 'premiumReporting'>

export type InvoiceStatusEntry = {
  readonly at: Instant
  readonly status: InvoiceStatus
  /** The former due time, if the change moved it. */
  readonly dueBefore?: Instant
}

export type Invoice = Span &
  Stamped & {
    readonly locator: Uuid
    readonly displayId: DisplayId
    readonly policyLocator: PolicyLocator
    /** The transaction whose plan it bills, and the installment in that plan. */
    readonly policyModificationLocator: Uuid
    readonly installmentNumber: number
    readonly type: InvoiceType
    readonly dueAt: Instant
    /** Ordered by time, from `unfulfilled`; the last one holds. */
    readonly statuses: readonly InvoiceStatusEntry[]
    /**
     * End of the grace period that it starts: set by a plugin after a payment was reversed, or by a migration if it was overdue
     * for longer than the grace period.
     */
    readonly graceEndAt?: Instant
    /** Whether it refunds money; unknown for invoices of earlier releases. An invoice's total never changes. */
    readonly isRefund?: boolean
  }

/** The invoice of an installment, made `at`. With nothing due it is settled at once (brief 4.4). */
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
 * Invoice actions by status, with the next status. `reverse` reverses one payment. An invoice partly paid and then written
 * off stays so whatever happens to its payments; a refund reopens.
 */
export const INVOICE_TRANSITIONS: TransitionTable<InvoiceAction, InvoiceStatus> = {
  pay: { from: ['unfulfilled'], to: ['paid', 'unfulfilled'], event: 'payment.pay', past: 'paid' },
  reverse: { from: ['unfulfilled', 'paid'], to: 'unfulfilled', event: 'payment.reverse', past: 'reversed' },
  invalidate: {
    from: ['unfulfilled', 'zeroDue', 'writtenOff', 'carriedForward'],
    to: 'invalidated',
    event: 'invoice.invalidate',
    past: 'invalidated',
  },
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

/** The invoice after a payment in full or in part. Refuses (`wrongState`) a settled invoice. */
export function paid(invoice: Invoice, inFull: boolean, at: Instant): Invoice {
  assertInvoiceAllows(invoice, 'pay')
  return inFull ? settled(invoice, 'paid', at) : { ...invoice, updatedAt: at }
}

/**
 * The invoice after the reversal of a payment. A paid one becomes outstanding; if overdue, it is due by the end of today
 * (brief 4.4). One that was outstanding keeps its due time.
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

/** Settles an invoice by hand. Refuses (409 `wrongState`) a settled one. */
const settling =
  (action: InvoiceAction, status: SettlementType) =>
  (invoice: Invoice, at: Instant): Invoice => {
    assertInvoiceAllows(invoice, action)
    return settled(invoice, status, at)
  }

export const invalidated = settling('invalidate', 'invalidated')

/** Writes off the unpaid part. */
export const writtenOff = settling('writeOff', 'writtenOff')

/** Settles the invoice by another that bills its amount. */
export const carriedForward = settling('carryForward', 'carriedForward')

// Money received on an invoice, or paid out on a refund invoice, whose amounts are all negative.
export type Payment = {
  readonly locator: Uuid
  readonly displayId: DisplayId
  readonly policyholderLocator: Uuid
  readonly invoiceLocator: Uuid
  readonly source: PaymentSource
  /** For an offset: the invoice with the payment of opposite amount. */
  readonly offsetInvoiceLocator?: Uuid
  /** Negative for a refund. */
  readonly amount: Money
  /** The part beyond the invoice, which becomes the policyholder's credit. Not negative. */
  readonly credited: Money
  readonly fieldValues: FieldValues
  readonly postedAt: Instant
  readonly reversedAt?: Instant
}

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

/** Payments of the invoice in the order made, including reversed ones. */
export const paymentsOf = ({ payments }: WithPayments, { locator }: Pick<Invoice, 'locator'>): Payment[] =>
  [...payments.values()].filter(payment => payment.invoiceLocator === locator)

export const standingPayments = (aggregate: WithPayments, invoice: Invoice): Payment[] =>
  paymentsOf(aggregate, invoice).filter(payment => paymentState(payment) === 'posted')

/** The part of the payment that pays its invoice. */
export const applied = ({ amount, credited }: Payment): Money => minus(amount, credited)

/** The payment of opposite amount on the other invoice of an offset that is not reversed. */
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

// A plan states which billing periods are paid together, and when their invoices are made and due. It has no amounts: each
// read splits charges by formula (bills/items.ts), so storage grows with installments plus charges, not their product.
// Only a plugin's plan (billing/plugin-bills.ts) stores amounts, by charge, since no formula gives them.
/**
 * One planned invoice. Its span is that of its periods, which have no gaps; the first bill after a reinstatement may have
 * earlier periods of the gap too (billing/returning.ts).
 */
export type Installment = Span & {
  /** From 1, ordered by time. */
  readonly number: number
  /** When the invoice is made; the plan's first is made at once. */
  readonly issueAt: Instant
  readonly dueAt: Instant
  /** Usually one. More if it includes past periods, or if the schedule began later than its term. */
  readonly periods: readonly BillingPeriod[]
  /** In minor units: an invoice for less is carried forward to the next installment. */
  readonly carriesBelow?: number
  /**
   * Parts of charges that a plugin assigned, by charge id, in minor units. Every installment of such a plan has items and no
   * periods; it does not bill charges that it does not name.
   */
  readonly items?: Readonly<Record<string, number>>
  readonly fees?: readonly InstallmentFee[]
  /** Its invoice is written off as soon as it is made: the plan bills nobody for it (brief 4.4). */
  readonly writeOff?: boolean
  readonly replans?: Replanned
}

/** The role of an installment in a plan that replaces an earlier one (brief 4.5, bills/items.ts). */
export type Replanned = {
  /**
   * `atOnce` bills immediate charges and refunds; `planned` keeps the dates of the earlier plan. `spread` is of another
   * payment schedule: it bills its periods' share of what the replaced installments billed, each spread over its own time.
   */
  readonly bill: 'atOnce' | 'planned' | 'spread'
  /** Planned installments that it replaces; empty where they are spread. */
  readonly open: readonly Uuid[]
  /** It comes to zero and is never invoiced. */
  readonly isSilent?: true
  /**
   * When a cancellation ends cover. Refunds in those installments, for later time that was already invoiced, are paid at once
   * (bills/items.ts). Absent in plans of earlier releases.
   */
  readonly freesAfter?: Instant
  /**
   * The difference between the bills before an endorsement and what was in force then stays on a planned bill when the one
   * that bore it goes. Absent in plans of earlier releases, which gave it back at once.
   */
  readonly keepsDifferences?: true
  /**
   * Bills keep what they ask for time before a change that takes back all that a reinstatement brought (`Charge.coverUntil`). Absent
   * in plans of earlier releases.
   */
  readonly keepsCover?: true
  /**
   * Of the replaced installments, those after a cancellation that this bill does not reach up to: an invoice in between, such as a
   * renewal's first, charged the time up to it. What that charged too much is given back at once. Absent in plans of earlier
   * releases, where the bill bore it.
   */
  readonly frees?: readonly Uuid[]
}

/**
 * The fee for paying by installments, billed with one of them (brief 3.3, 5.6). It belongs to the installment, not the
 * policy: it is in invoices, their totals and planned totals, but neither in the policy's price nor among its fees, and
 * no cancellation prorates it. It goes if another plan replaces the installment. Once invoiced it stays, whatever
 * happens to the policy, unless it is reversed by hand.
 */
export type InstallmentFee = {
  readonly locator: Uuid
  readonly name: string
  readonly description: string
  readonly amount: Money
  /** The change of fees that reversed it. */
  readonly reversedBy?: Uuid
}

/** Whether it comes to zero and is never invoiced. */
export const isSilent = ({ replans }: Pick<Installment, 'replans'>): boolean => replans?.isSilent === true

/** A hundred years of months, or 23 years of weeks. */
export const LARGEST_PLAN_PERIODS = 1_200

/** A span that one installment pays for: (end − start) ÷ wholeMs of a whole period. */
export type BillingPeriod = Span & {
  /** Milliseconds of the whole calendar period from `start`; longer than the span if coverage ends early. */
  readonly wholeMs: number
}

/** An installment of a modification's plan. */
export type PlannedInstallment = Installment & {
  readonly locator: Uuid
  readonly modificationLocator: Uuid
  /**
   * Modifications whose plans took it over. At most one counts: the others were invalidated, and are kept to derive the
   * amounts of their void invoices.
   */
  readonly absorbedBy: readonly Uuid[]
  /** Other installments that it bills whole (`takesOver`), and those that it leaves out (`leavesOut`). */
  readonly takesOver?: readonly Uuid[]
  readonly leavesOut?: readonly Uuid[]
  /**
   * For a lapse: minor units already paid of installments that it took over. It does not take over that part. For the
   * reinstatement of a lapse: of that, what was reversed since. It bills that part.
   */
  readonly paidBefore?: Readonly<Record<Uuid, number>>
}
