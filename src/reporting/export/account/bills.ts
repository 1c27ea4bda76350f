// Bills of a policy, as they are now: invoices, and those that are planned.

import type { PolicyRecord } from '../policy-record.ts'
import { minorOf } from './words.ts'

type Item = PolicyRecord['invoices'][number]['financialTransactions'][number]

export type Bill = {
  /** Of an invoice. */
  readonly invoiceId?: string
  readonly times: { readonly startTime: number; readonly dueTime: number; readonly generateTime: number }
  /** What it asks for, in minor units. */
  readonly minor: number
  readonly items: readonly Item[]
}

type RecordedInvoice = PolicyRecord['invoices'][number]

/** Payments that were not taken back. */
export const standing = ({ payments }: Pick<RecordedInvoice, 'payments'>): RecordedInvoice['payments'] =>
  payments.filter(one => one.reversedTimestamp === undefined)

/** What payments paid of the invoice, in minor units, without what became credit. */
export const paidOf = (invoice: Pick<RecordedInvoice, 'payments' | 'totalDueCurrency'>): number =>
  standing(invoice).reduce(
    (sum, { amount, creditedAmount = 0 }) =>
      sum + minorOf(amount, invoice.totalDueCurrency) - minorOf(creditedAmount, invoice.totalDueCurrency),
    0,
  )

/** An invoice that is carried over, with what it asks for in minor units. */
export type CarriedInvoice = RecordedInvoice & { readonly due: number }

const minorDue = ({ totalDue, totalDueCurrency }: RecordedInvoice): number =>
  minorOf(totalDue, totalDueCurrency)

/**
 * Those that are carried over: of issued transactions, and not void. What another bill took over is what was paid before; where that is
 * nothing, the invoice is left out.
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
  return withoutGivenUp(carried, excessOf(record, carried)).filter(
    one => one.settlementType !== 'carriedForward' || one.due !== 0,
  )
}

/** By how much bills come to more than what the policy costs. */
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
 * A bill after a lapse charges once more what was written off before it, since that is not given back (brief 4.5). Bills then come to
 * that much more than the policy costs. So what was written off counts as taken over by that bill.
 */
function withoutGivenUp(invoices: readonly CarriedInvoice[], excess: number): CarriedInvoice[] {
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

/** Invoices first. Planned ones of the same times are one. */
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
