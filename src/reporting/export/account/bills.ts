// The current bills of a policy: invoices, and planned bills.

import type { PolicyRecord } from '../policy-record.ts'
import { minorOf } from './words.ts'

type Item = PolicyRecord['invoices'][number]['financialTransactions'][number]

export type Bill = {
  /** Set for an invoice. */
  readonly invoiceId?: string
  readonly times: { readonly startTime: number; readonly dueTime: number; readonly generateTime: number }
  /** The amount due, in minor units. */
  readonly minor: number
  readonly items: readonly Item[]
}

type RecordedInvoice = PolicyRecord['invoices'][number]

/** Returns payments that were not reversed. */
export const activePayments = ({
  payments,
}: Pick<RecordedInvoice, 'payments'>): RecordedInvoice['payments'] =>
  payments.filter(payment => payment.reversedTimestamp === undefined)

/** Returns how much payments paid of the invoice, in minor units, without the part that became credit. */
export const paidOf = (invoice: Pick<RecordedInvoice, 'payments' | 'totalDueCurrency'>): number =>
  activePayments(invoice).reduce(
    (sum, { amount, creditedAmount = 0 }) =>
      sum + minorOf(amount, invoice.totalDueCurrency) - minorOf(creditedAmount, invoice.totalDueCurrency),
    0,
  )

/** An invoice that is carried over, with its amount due in minor units. */
export type CarriedInvoice = RecordedInvoice & { readonly due: number }

const minorDue = ({ totalDue, totalDueCurrency }: RecordedInvoice): number =>
  minorOf(totalDue, totalDueCurrency)

/**
 * Returns the invoices to carry over: those of issued transactions that are not void. An invoice that another bill took over
 * counts with the amount paid before. If that is zero, the invoice is left out.
 */
export function carriedInvoices(
  record: Pick<PolicyRecord, 'invoices' | 'futureInvoices' | 'price' | 'currency'>,
): CarriedInvoice[] {
  const carried = record.invoices
    .filter(one => one.transactionIssued && one.settlementType !== 'invalidated')
    .map((one): CarriedInvoice => {
      const isTakenOver = one.settlementType === 'carriedForward'
      return { ...one, due: isTakenOver ? paidOf(one) : minorDue(one) }
    })
  return withoutWrittenOff(carried, excessOf(record, carried)).filter(
    one => one.settlementType !== 'carriedForward' || one.due !== 0,
  )
}

/** Returns how much the bills exceed the cost of the policy. */
function excessOf(
  { futureInvoices, price, currency }: Pick<PolicyRecord, 'futureInvoices' | 'price' | 'currency'>,
  invoices: readonly CarriedInvoice[],
): number {
  if (!price) return 0
  const planned = futureInvoices.flatMap(one => one.financialTransactions).filter(isPayable)
  const billed =
    invoices.reduce((sum, { due }) => sum + due, 0) +
    planned.reduce((sum, { amount }) => sum + minorOf(amount, currency), 0)
  return billed - minorOf(price.total, currency)
}

/**
 * A bill after a lapse charges again what was written off before it, because that is not given back (brief 4.5). The bills then
 * exceed the cost of the policy by that amount. So the written-off amount counts as taken over by that bill.
 */
function withoutWrittenOff(invoices: readonly CarriedInvoice[], excess: number): CarriedInvoice[] {
  const rests = invoices.map(one => (one.settlementType === 'writtenOff' ? one.due - paidOf(one) : 0))
  if (excess <= 0 || rests.reduce((sum, rest) => sum + rest, 0) < excess) return [...invoices]
  let left = excess
  return invoices.map((one, at): CarriedInvoice => {
    const taken = Math.min(left, Math.max(0, rests[at]!))
    left -= taken
    if (taken === 0) return one
    return {
      ...one,
      due: one.due - taken,
      financialTransactions: [],
      ...(taken === rests[at] && { settlementType: 'carriedForward' }),
    }
  })
}

const isPayable = ({ type }: Item): boolean => type !== 'commission'

/** Returns the bills, invoices first. Planned bills with the same times become one. */
export function billsOf(record: PolicyRecord): Bill[] {
  const { currency, futureInvoices } = record
  const invoiced = carriedInvoices(record).map(
    (one): Bill => ({
      invoiceId: one.locator,
      times: {
        startTime: Number(one.startTimestamp),
        dueTime: Number(one.dueTimestamp),
        generateTime: Number(one.createdTimestamp),
      },
      minor: one.due,
      items: one.settlementType === 'carriedForward' ? [] : one.financialTransactions,
    }),
  )
  const planned = Map.groupBy(futureInvoices, one => `${one.issueTimestamp} ${one.dueTimestamp}`)
  return [
    ...invoiced,
    ...[...planned.values()].map((list): Bill => {
      const items = list.flatMap(one => one.financialTransactions)
      return {
        times: {
          startTime: Math.min(...list.map(one => Number(one.startTimestamp))),
          dueTime: Number(list[0]!.dueTimestamp),
          generateTime: Number(list[0]!.issueTimestamp),
        },
        minor: items.filter(isPayable).reduce((sum, one) => sum + minorOf(one.amount, currency), 0),
        items,
      }
    }),
  ]
}
