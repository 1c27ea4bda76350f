// The invoices that a transaction would make at once, and those that are then planned.

import { invoiceTypeOf } from '../../billing/billing.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, toNumber } from '../../kernel/money.ts'
import { amountsDue, futureInstallments, installmentOf, invoicesOf } from '../../policy/bills/amounts-due.ts'
import { billedItemsOf, shownItems } from '../../policy/projection/billed-items.ts'
import { type PolicyAggregate, recordsWhere } from '../../policy/records/aggregate.ts'
import { type Invoice, invoiceStatus } from '../../policy/records/invoice.ts'
import type { PreviewedInvoiceResponse } from './contract.ts'

/** Those that `after` has and `before` has not, and all that are then planned, by the time of their invoices. */
export function previewedInvoices(
  before: PolicyAggregate,
  after: PolicyAggregate,
): PreviewedInvoiceResponse[] {
  const itemsOf = billedItemsOf(after)
  const known = new Map<Uuid, Money[]>()
  const made = recordsWhere(after.invoices, one => !before.invoices.has(one.locator) && !isVoid(one))
  return [...made.map(invoice => installmentOf(after, invoice)), ...futureInstallments(after)]
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start || a.number - b.number)
    .map(installment => {
      const { number, issueAt, modificationLocator } = installment
      const modification = after.modifications.get(modificationLocator)!
      const totals = known.get(modificationLocator) ?? amountsDue(after, modification)
      known.set(modificationLocator, totals)
      const invoice = invoicesOf(after, modification).find(one => one.installmentNumber === number)
      const totalDue = totals[number - 1]!
      return {
        issueTimestamp: String(issueAt),
        dueTimestamp: String((invoice ?? installment).dueAt),
        startTimestamp: String(installment.start),
        endTimestamp: String(installment.end),
        writeOff: installment.writeOff ?? false,
        invoiceType: invoiceTypeOf(installment, modification),
        totalDue: toNumber(totalDue),
        totalDueCurrency: totalDue.currency,
        financialTransactions: shownItems(after, itemsOf(installment), issueAt),
      }
    })
}

const isVoid = (invoice: Invoice): boolean => invoiceStatus(invoice) === 'invalidated'
