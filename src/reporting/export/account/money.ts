// Invoices and payments of an account in the words of a migration request, with the totals that it must come to.
import type { PolicyRecord } from '../policy-record.ts'
import { type CarriedInvoice, carriedInvoices, standing } from './bills.ts'
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

export type ToldMoney = {
  readonly invoices: object[]
  readonly payments: object[]
  readonly disbursements: object[]
  /** Control totals by name. */
  readonly totals: Readonly<Record<'invoiced' | 'paid' | 'credit' | 'disbursed', string>>
}

/** `others` are not carried over: of what was paid for them only that is which is credit of the account. */
export function toldMoney(
  policies: readonly PolicyRecord[],
  others: readonly PolicyRecord[],
  disbursements: readonly DisbursementRecord[],
  currency: string,
): ToldMoney {
  const told = policies.flatMap(one => carriedInvoices(one))
  const carried = new Set(told.map(one => one.locator))
  const payments = [
    ...policies
      .flatMap(one => one.invoices)
      .flatMap(invoice =>
        standing(invoice).flatMap(payment => toldPayment(payment, carried.has(invoice.locator), currency)),
      ),
    ...others
      .flatMap(one => one.invoices)
      .flatMap(invoice =>
        standing(invoice)
          .filter(({ creditedAmount = 0 }) => creditedAmount > 0)
          .flatMap(one => toldPayment({ ...one, amount: one.creditedAmount! }, false, currency)),
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
    disbursements: disbursements.map(one => ({
      id: one.locator,
      disbursementTime: one.disbursedAt,
      disbursementType: one.type,
      data: one.data,
      sources: [{ amount: one.amount }],
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

/** One that was given up after a part was paid is open, and its rest is given up. */
function stateOf(invoice: CarriedInvoice): State {
  if (invoice.settlementStatus !== 'settled') return 'open'
  if (invoice.settlementType !== 'writtenOff') return 'settled'
  return standing(invoice).length === 0 ? 'discarded' : 'open'
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

type ToldPayment = { readonly request: object; readonly received: number; readonly credit: number }

/**
 * Paid from credit, and what a refund and an invoice settled of each other, moves credit of the account: the one adds what the other takes.
 * Without its invoice, what came in is credit, what went out is not told, and what credit paid is credit still.
 */
function toldPayment(
  { amount, creditedAmount = 0, source, ...payment }: RecordedPayment,
  isCarried: boolean,
  currency: string,
): ToldPayment[] {
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
      values.filter(one => !payment.mediaByLocator[one]),
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
