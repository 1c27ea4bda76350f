// Shows what is billed and planned for a policy.
import { notFound } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { futureInstallments, installmentOf } from '../policy/bills/amounts-due.ts'
import type { InstallmentItem } from '../policy/bills/items.ts'
import type {
  CheckInvoicesResponse,
  FutureInvoiceResponse,
  GetInvoiceFinancialTransactionsResponse,
  PolicyInvoiceResponse,
} from '../policy/contract/billing.ts'
import { billedItemsOf, MOST_ITEMISED, shownItems } from '../policy/projection/billed-items.ts'
import { invoiceResponses } from '../policy/projection/invoices.ts'
import type { Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { PlannedInstallment } from '../policy/records/installment.ts'
import type { Invoice } from '../policy/records/invoice.ts'

/** The invoice of that locator; 404 when the policy has none such. */
export function invoiceNamed({ invoices }: PolicyAggregate, locator: Uuid): Invoice {
  const invoice = invoices.get(locator)
  if (!invoice) throw notFound('invoice', locator)
  return invoice
}

export const invoiceResponse = (aggregate: PolicyAggregate, locator: Uuid): PolicyInvoiceResponse =>
  invoiceResponses(aggregate, [invoiceNamed(aggregate, locator)])[0]!

/** The items of an invoice, posted when it was made; above 10,000 those of the same type and name are one. */
export function invoiceItems(
  aggregate: PolicyAggregate,
  locator: Uuid,
): GetInvoiceFinancialTransactionsResponse {
  const invoice = invoiceNamed(aggregate, locator)
  const billed = billedItemsOf(aggregate)(installmentOf(aggregate, invoice))
  return { financialTransactions: shownItems(aggregate, billed, invoice.createdAt) }
}

/** Every invoice with its items, and what is planned (brief 3.5). Above 10,000 items in all they are summed. */
export function checkedInvoices(aggregate: PolicyAggregate): CheckInvoicesResponse {
  const billedItems = billedItemsOf(aggregate)
  const invoices = [...aggregate.invoices.values()]
  const billed = invoices.map(invoice => billedItems(installmentOf(aggregate, invoice)))
  const future = futureInstallments(aggregate)
  const planned = future.map(billedItems)
  const itemised = [...billed, ...planned].reduce((count, one) => count + one.length, 0) <= MOST_ITEMISED
  return {
    policyLocator: String(aggregate.policy.locator),
    invoices: invoiceResponses(aggregate, invoices).map((response, at) => ({
      ...response,
      financialTransactions: shownItems(aggregate, billed[at]!, invoices[at]!.createdAt, itemised),
    })),
    futureInvoices: future.map((one, at) => futureInvoice(aggregate, one, planned[at]!, itemised)),
  }
}

/** The open installments of the modification's own plan. */
export function plannedBy(aggregate: PolicyAggregate, { locator }: Modification): FutureInvoiceResponse[] {
  const itemsOf = billedItemsOf(aggregate)
  return futureInstallments(aggregate)
    .filter(one => one.modificationLocator === locator)
    .map(one => futureInvoice(aggregate, one, itemsOf(one)))
}

const futureInvoice = (
  aggregate: PolicyAggregate,
  { issueAt, dueAt, start, end, writeOff = false }: PlannedInstallment,
  items: readonly InstallmentItem[],
  itemised?: boolean,
): FutureInvoiceResponse => ({
  issueTimestamp: String(issueAt),
  dueTimestamp: String(dueAt),
  startTimestamp: String(start),
  endTimestamp: String(end),
  writeOff,
  financialTransactions: shownItems(aggregate, items, issueAt, itemised),
})
