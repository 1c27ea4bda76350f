// An invoice is an installment that has been invoiced. It stores no amount: it bills the items of its installment (bills/items.ts).
import type { DisplayId, PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Money, minus } from '../../kernel/money.ts'
import { endOfDay, type Instant, type Span, type TimeZone } from '../../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { FieldValues } from '../../product/fields/values.ts'
import type { InvoiceType, PaymentSource, SettlementType } from '../contract/billing.ts'
import { recordFinder, type Stamped } from './aggregate.ts'

export type InvoiceStatus = 'unfulfilled' | SettlementType

/** The invoice types that name a transaction: the type of the first invoice of its plan. */
export type InvoicedTransaction = Exclude<InvoiceType, 'premiumReporting'>

export type InvoiceStatusEntry = {
  readonly at: Instant
  readonly status: InvoiceStatus
  /** The previous due time, if the change of status moved it. */
  readonly dueBefore?: Instant
}

export type Invoice = Span &
  Stamped & {
    readonly locator: Uuid
    readonly displayId: DisplayId
    readonly policyLocator: PolicyLocator
    /** The transaction whose plan the invoice bills, and the number of the installment in that plan. */
    readonly policyModificationLocator: Uuid
    readonly installmentNumber: number
    readonly type: InvoiceType
    readonly dueAt: Instant
    /** Ordered by time, beginning with `unfulfilled`. The last one applies. */
    readonly statuses: readonly InvoiceStatusEntry[]
    /**
     * End of the grace period that the invoice starts. Set by a plugin after a payment was reversed, or by a migration if the
     * invoice was overdue for longer than the grace period.
     */
    readonly graceEndAt?: Instant
    /** Whether it refunds money, which never changes, since its total does not. Unknown for invoices of earlier releases. */
    readonly isRefund?: boolean
  }

/** Returns the invoice of an installment, made `at` that time. If nothing is due, it is settled immediately (brief 4.4). */
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

/** Returns the newest of the statuses. An invoice always has one. */
export const invoiceStatus = (invoice: Invoice): InvoiceStatus => invoice.statuses.at(-1)!.status

/** Whether the invoice is neither paid nor otherwise settled. A part of it may be paid. */
export const isOutstanding = (invoice: Invoice): boolean => invoiceStatus(invoice) === 'unfulfilled'

export type InvoiceAction = 'pay' | 'reverse' | 'invalidate' | 'writeOff' | 'carryForward'

/**
 * Invoice actions by status, with the next status. `reverse` reverses one payment. An invoice that was partly paid and then written
 * off remains written off even if its payments are reversed; a refund becomes outstanding again.
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

/** Throws 409 `wrongState` if the invoice's status does not allow the action. */
export function assertInvoiceAllows(invoice: Invoice, action: InvoiceAction): void {
  assertAllowed(INVOICE_TRANSITIONS, `Invoice ${invoice.displayId}`, invoiceStatus(invoice), action)
}

const withSettledStatus = (invoice: Invoice, status: SettlementType, at: Instant): Invoice => ({
  ...invoice,
  updatedAt: at,
  statuses: [...invoice.statuses, { at, status }],
})

/** Returns the invoice after a payment, in full or in part. Throws 409 `wrongState` if it is settled. */
export function applyPayment(invoice: Invoice, inFull: boolean, at: Instant): Invoice {
  assertInvoiceAllows(invoice, 'pay')
  return inFull ? withSettledStatus(invoice, 'paid', at) : { ...invoice, updatedAt: at }
}

/**
 * Returns the invoice after the reversal of a payment. A paid invoice becomes outstanding; if it is overdue, it becomes due by the
 * end of today (brief 4.4). An invoice that was outstanding keeps its due time.
 */
export function reopenInvoice(invoice: Invoice, at: Instant, timeZone: TimeZone): Invoice {
  // A refund may be written off after part of it was paid out, and that payment may still be reversed.
  if (!(invoice.isRefund && invoiceStatus(invoice) === 'writtenOff')) assertInvoiceAllows(invoice, 'reverse')
  if (isOutstanding(invoice)) return { ...invoice, updatedAt: at }
  const isPast = invoice.dueAt < at
  const moved = isPast && { dueBefore: invoice.dueAt }
  return {
    ...invoice,
    dueAt: isPast ? endOfDay(at, timeZone) : invoice.dueAt,
    // The end of grace applied to the previous due time.
    graceEndAt: isPast ? undefined : invoice.graceEndAt,
    updatedAt: at,
    statuses: [...invoice.statuses, { at, status: 'unfulfilled', ...moved }],
  }
}

/** Returns a function that settles an invoice by hand and throws 409 `wrongState` if its status does not allow that. */
const settling =
  (action: InvoiceAction, status: SettlementType) =>
  (invoice: Invoice, at: Instant): Invoice => {
    assertInvoiceAllows(invoice, action)
    return withSettledStatus(invoice, status, at)
  }

/** Voids an invoice that is not paid, even if it is settled in another way. */
export const invalidateInvoice = settling('invalidate', 'invalidated')

/** Writes off the unpaid part of the invoice. */
export const writeOffInvoice = settling('writeOff', 'writtenOff')

/** Settles the invoice because another invoice bills its amount. */
export const carryInvoiceForward = settling('carryForward', 'carriedForward')

/** Money received for an invoice, or paid out for a refund invoice. All amounts of a refund are negative. */
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
  /** The part that exceeds the invoice and becomes the policyholder's credit. Never negative. */
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

/** Throws 409 if the payment's state does not allow the action. */
export function assertPaymentAllows(payment: Payment, action: PaymentAction): void {
  assertAllowed(PAYMENT_TRANSITIONS, `Payment ${payment.displayId}`, paymentState(payment), action)
}

/** Returns the payment with the locator. Throws 404 if the policy has none. */
export const paymentOf = recordFinder('payments', 'payment')

/** Returns the payments of the invoice in the order in which they were made, including reversed ones. */
export const paymentsOf = ({ payments }: WithPayments, { locator }: Pick<Invoice, 'locator'>): Payment[] =>
  [...payments.values()].filter(payment => payment.invoiceLocator === locator)

/** Returns the payments of the invoice that are not reversed. */
export const standingPayments = (aggregate: WithPayments, invoice: Invoice): Payment[] =>
  paymentsOf(aggregate, invoice).filter(payment => paymentState(payment) === 'posted')

/** Returns the part of the payment that pays its invoice. */
export const appliedAmount = ({ amount, credited }: Payment): Money => minus(amount, credited)

/** Returns the payment of opposite amount on the other invoice of an offset, if it is not reversed. */
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

// A plan states which billing periods are paid together, and when their invoices are made and due. It has no amounts: each read
// splits the charges by formula (bills/items.ts), so storage grows with installments plus charges, not with their product. Only a
// plugin's plan (billing/plugin-bills.ts) stores an amount for each charge, because no formula gives it.
/**
 * One planned invoice. Its span is that of its periods, which adjoin each other. The first bill after a reinstatement may also have
 * earlier periods, of the gap (billing/returning.ts).
 */
export type Installment = Span & {
  /** Numbered from 1, ordered by time. */
  readonly number: number
  /** When the invoice is made. The first of a plan is made immediately. */
  readonly issueAt: Instant
  readonly dueAt: Instant
  /** Usually one. More if the installment includes past periods, or if the schedule began later than its term. */
  readonly periods: readonly BillingPeriod[]
  /** In minor units. An invoice for less is carried forward to the next installment. */
  readonly carriesBelow?: number
  /**
   * Parts of charges that a plugin assigned, in minor units by charge id. Every installment of such a plan has items and no
   * periods, and bills only the charges that it names.
   */
  readonly items?: Readonly<Record<string, number>>
  readonly fees?: readonly InstallmentFee[]
  /** Whether its invoice is written off as soon as it is made, so that nobody has to pay it (brief 4.4). */
  readonly writeOff?: boolean
  readonly replans?: Replanned
}

/** The role of an installment in a plan that replaces an earlier one (brief 4.5, bills/items.ts). */
export type Replanned = {
  /**
   * `atOnce` bills immediate charges and refunds. `planned` keeps the dates of the earlier plan. `spread` belongs to another
   * payment schedule: it bills the share, for its periods, of what the replaced installments billed, each spread over its own time.
   */
  readonly bill: 'atOnce' | 'planned' | 'spread'
  /** Planned installments that it replaces. Empty if they are spread. */
  readonly open: readonly Uuid[]
  /** Set if its items cancel out, so that it is never invoiced. */
  readonly isSilent?: true
  /**
   * When a cancellation ends cover. If the replaced installments contain refunds for later time that was already invoiced, those
   * are paid immediately (bills/items.ts). Absent in plans of earlier releases.
   */
  readonly freesAfter?: Instant
  /**
   * If the bills before an endorsement charged more or less than was in force then, the difference stays on a planned bill when the
   * bill that had it is dropped. Absent in plans of earlier releases, which refunded it immediately.
   */
  readonly keepsDifferences?: true
  /**
   * If a change takes back everything that a reinstatement brought, bills keep what they ask for time before that change
   * (`Charge.coverUntil`). Absent in plans of earlier releases.
   */
  readonly keepsCover?: true
  /**
   * If held-back commissions are on the last planned bill, as other holdbacks are. Absent in plans of earlier releases, which had them
   * on the immediate bill.
   */
  readonly bearsCommissions?: true
  /**
   * Set on a bill that ends before a cancellation: the replaced installments that end after it. An invoice in between, such as a
   * renewal's first, charged the time up to them. What it charged too much is refunded immediately. Absent in plans of earlier
   * releases, which took it off this bill.
   */
  readonly frees?: readonly Uuid[]
}

/**
 * The fee for paying by installments, billed with one of them (brief 3.3, 5.6). It belongs to the installment, not to the policy:
 * it is part of invoices, their totals and planned totals, but neither of the policy's price nor of its fees, and no cancellation
 * prorates it. If another plan replaces the installment, the fee is dropped. Once invoiced it remains, even if the policy is
 * cancelled, unless it is reversed by hand.
 */
export type InstallmentFee = {
  readonly locator: Uuid
  readonly name: string
  readonly description: string
  readonly amount: Money
  /** The fee update that reversed it. */
  readonly reversedBy?: Uuid
}

/** Whether the installment's items cancel out, so that it is never invoiced. */
export const isSilent = ({ replans }: Pick<Installment, 'replans'>): boolean => replans?.isSilent === true

/** Maximum number of periods in a plan: a hundred years of months, or 23 years of weeks. */
export const LARGEST_PLAN_PERIODS = 1_200

/** A span that one installment pays for. Its weight is (end − start) ÷ wholeMs of a whole period. */
export type BillingPeriod = Span & {
  /** Milliseconds of the whole calendar period from `start`. Longer than the span if coverage ends earlier. */
  readonly wholeMs: number
}

/** An installment of a modification's plan, as stored. */
export type PlannedInstallment = Installment & {
  readonly locator: Uuid
  readonly modificationLocator: Uuid
  /**
   * Modifications whose plans took the installment over. At most one of them counts. The others were invalidated and are kept
   * because the amounts of their void invoices are derived from them.
   */
  readonly absorbedBy: readonly Uuid[]
  /** Other installments that this one bills whole (`takesOver`) or leaves out of its own amount (`leavesOut`). */
  readonly takesOver?: readonly Uuid[]
  readonly leavesOut?: readonly Uuid[]
  /**
   * Minor units by installment. For a lapse: what was already paid of the installments that it took over, and is therefore not
   * taken over. For the reinstatement of a lapse: the part of those payments that was reversed since, which it bills.
   */
  readonly paidBefore?: Readonly<Record<Uuid, number>>
}
