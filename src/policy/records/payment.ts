// Money received on an invoice, or paid out on a refund invoice, whose amounts are negative throughout.
import { notFound } from '../../kernel/errors.ts'
import type { DisplayId, Uuid } from '../../kernel/locators.ts'
import { type Money, minus } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { FieldValues } from '../../product/fields/values.ts'
import type { Invoice } from './invoice.ts'

/**
 * `received` comes from outside; `credit` from what the policyholder had left of earlier payments. A refund goes to either.
 */
export type PaymentSource = 'received' | 'credit' | 'offset'

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
  reverse: {
    from: ['posted'],
    to: 'reversed',
    event: 'payment.reverse',
    past: 'reversed',
  },
}

export const paymentState = ({ reversedAt }: Payment): PaymentState =>
  reversedAt === undefined ? 'posted' : 'reversed'

export function assertPaymentAllows(payment: Payment, action: PaymentAction): void {
  assertAllowed(PAYMENT_TRANSITIONS, `Payment ${payment.displayId}`, paymentState(payment), action)
}

/** The payment of that locator; 404 when the policy has none such. */
export function paymentNamed({ payments }: WithPayments, locator: Uuid): Payment {
  const payment = payments.get(locator)
  if (!payment) throw notFound('payment', locator)
  return payment
}

/** Payments of the invoice, reversed ones too, in the order in which they were made. */
export const paymentsOf = ({ payments }: WithPayments, { locator }: Pick<Invoice, 'locator'>): Payment[] =>
  [...payments.values()].filter(payment => payment.invoiceLocator === locator)

/** Payments of the invoice that are not reversed. */
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
