// The invoices that a transaction would make: one for each installment that it puts on the policy's plan.
import { amountsDue, invoicesOf, invoiceTypeOf } from '../../billing/bill.ts'
import { billedItemsOf, shownItems } from '../../billing/billed-items.ts'
import type { Uuid } from '../../platform/locators.ts'
import { type Money, toNumber } from '../../platform/money.ts'
import { type PolicyAggregate, those } from '../aggregate.ts'
import type { PreviewedInvoiceResponse } from './contract.ts'

/** Of the installments that `after` has and `before` has not, by the time of their invoices. */
export function previewedInvoices(
  before: PolicyAggregate,
  after: PolicyAggregate,
): PreviewedInvoiceResponse[] {
  const itemsOf = billedItemsOf(after)
  const known = new Map<Uuid, Money[]>()
  return those(after.installments, one => !before.installments.has(one.locator))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
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
