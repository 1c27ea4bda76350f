// Invoices and payments of an account for a migration request, with the control totals that they must match.
import type { PolicyRecord } from '../policy-record.ts'
import { activePayments, type CarriedInvoice, carriedInvoices } from './bills.ts'
import { amountText, minorOf } from './words.ts'

type RecordedInvoice = PolicyRecord['invoices'][number]
type RecordedPayment = RecordedInvoice['payments'][number]

export type DisbursementRecord = {
  readonly locator: string
  readonly type: string
  readonly amount: string
  readonly currency: string
  readonly data: Readonly<Record<string, unknown>>
  readonly disbursedAt: number
}

export type MoneyRequests = {
  readonly invoices: object[]
  readonly payments: object[]
  readonly disbursements: object[]
  /** Control totals by name. */
  readonly totals: Readonly<Record<'invoiced' | 'paid' | 'credit' | 'disbursed', string>>
}

/**
 * `others` are policies that are not carried over. Of the payments for them, only the part that became credit of the account
 * counts.
 */
export function moneyRequests(
  policies: readonly PolicyRecord[],
  others: readonly PolicyRecord[],
  disbursements: readonly DisbursementRecord[],
  currency: string,
): MoneyRequests {
  const told = policies.flatMap(policy => carriedInvoices(policy))
  const carried = new Set(told.map(one => one.locator))
  const payments = [
    ...policies
      .flatMap(policy => policy.invoices)
      .flatMap(invoice =>
        activePayments(invoice).flatMap(payment =>
          paymentRequests(payment, carried.has(invoice.locator), currency),
        ),
      ),
    ...others
      .flatMap(one => one.invoices)
      .flatMap(invoice =>
        activePayments(invoice)
          .filter(({ creditedAmount = 0 }) => creditedAmount > 0)
          .flatMap(one => paymentRequests({ ...one, amount: one.creditedAmount! }, false, currency)),
      ),
  ]
  const sums = { invoiced: 0, paid: 0, credit: 0, disbursed: 0 }
  for (const invoice of told) if (stateOf(invoice) !== 'discarded') sums.invoiced += invoice.due
  for (const { received, credit } of payments) {
    sums.paid += received
    sums.credit += credit
  }
  for (const one of disbursements) sums.disbursed += minorOf(Number(one.amount), currency)
  sums.credit -= sums.disbursed
  const text = (minor: number): string => amountText(minor, currency)
  return {
    invoices: told.map(invoiceRequest),
    payments: payments.map(one => one.request),
    disbursements: disbursements.map(disbursement => ({
      id: disbursement.locator,
      disbursementTime: disbursement.disbursedAt,
      disbursementType: disbursement.type,
      data: disbursement.data,
      sources: [{ amount: disbursement.amount }],
    })),
    totals: {
      invoiced: text(sums.invoiced),
      paid: text(sums.paid),
      credit: text(sums.credit),
      disbursed: text(sums.disbursed),
    },
  }
}

type State = 'open' | 'settled' | 'discarded'

/** An invoice that was written off after a partial payment is open, and its remainder is written off. */
function stateOf(invoice: CarriedInvoice): State {
  if (invoice.settlementStatus !== 'settled') return 'open'
  if (invoice.settlementType !== 'writtenOff') return 'settled'
  return activePayments(invoice).length === 0 ? 'discarded' : 'open'
}

function invoiceRequest(invoice: CarriedInvoice): object {
  const state = stateOf(invoice)
  return {
    id: invoice.locator,
    startTime: Number(invoice.startTimestamp),
    endTime: Number(invoice.endTimestamp),
    dueTime: Number(invoice.dueTimestamp),
    generateTime: Number(invoice.createdTimestamp),
    invoiceState: state,
    ...(state === 'open' && invoice.settlementType === 'writtenOff' && { restGivenUp: true }),
  }
}

type PaymentRequest = { readonly request: object; readonly received: number; readonly credit: number }

/**
 * Payments from credit, and offsets of refunds against invoices, move credit of the account: one adds what the other uses.
 * Without its invoice, a payment received becomes credit, a payment out is omitted, and credit that was used remains credit.
 */
function paymentRequests(
  { amount, creditedAmount = 0, source, ...payment }: RecordedPayment,
  isCarried: boolean,
  currency: string,
): PaymentRequest[] {
  const minor = minorOf(amount, currency)
  const credited = minorOf(creditedAmount, currency)
  const request = { id: payment.locator, paymentTime: Number(payment.postedTimestamp) }
  const item = (part: number, invoiceId?: string): object[] =>
    part === 0 ? [] : [{ amount: amountText(part, currency), ...(invoiceId !== undefined && { invoiceId }) }]
  if (source !== 'received') {
    if (!isCarried) return []
    return [
      {
        request: { ...request, source: 'credit', paymentItems: item(minor, payment.invoiceLocator) },
        received: 0,
        credit: -minor,
      },
    ]
  }
  const data = Object.fromEntries(
    Object.entries(payment.fieldValues).map(([name, values]) => [
      name,
      values.filter(value => !payment.mediaByLocator[value]),
    ]),
  )
  if (!isCarried && minor <= 0) return []
  const paymentItems = isCarried
    ? [...item(minor - credited, payment.invoiceLocator), ...item(credited)]
    : item(minor)
  return [
    { request: { ...request, data, paymentItems }, received: minor, credit: isCarried ? credited : minor },
  ]
}
