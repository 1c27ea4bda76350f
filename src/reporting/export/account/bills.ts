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

/** What another bill took over is what was paid before. */
export const dueOf = (invoice: RecordedInvoice): number =>
  invoice.settlementType === 'carriedForward'
    ? paidOf(invoice)
    : minorOf(invoice.totalDue, invoice.totalDueCurrency)

/** Those that are carried over: of issued transactions, not void, and not taken over by another bill before anything was paid. */
export const carriedInvoices = ({ invoices }: Pick<PolicyRecord, 'invoices'>): RecordedInvoice[] =>
  invoices.filter(
    one =>
      one.transactionIssued &&
      one.settlementType !== 'invalidated' &&
      (one.settlementType !== 'carriedForward' || paidOf(one) !== 0),
  )

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
      minor: dueOf(one),
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
