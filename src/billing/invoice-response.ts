import type { PolicyDocumentResponse } from '../documents/contract.ts'
import { type Money, toNumber } from '../platform/money.ts'
import type { PaymentResponse, PolicyInvoiceResponse } from './contract.ts'
import { type Invoice, invoiceStatus } from './invoice.ts'

/** What an answer says of an invoice beyond the invoice itself. */
export type InvoiceSurroundings = {
  /** The sum of its items. */
  readonly totalDue: Money
  /** Whether its transaction is issued, not only accepted. */
  readonly transactionIssued: boolean
  readonly premiumReportName?: string
  readonly payments: PaymentResponse[]
  readonly documents: PolicyDocumentResponse[]
}

/** An invoice as answers carry it (brief 4.1). */
export function policyInvoiceResponse(
  invoice: Invoice,
  { totalDue, transactionIssued, premiumReportName, payments, documents }: InvoiceSurroundings,
): PolicyInvoiceResponse {
  const status = invoiceStatus(invoice)
  return {
    locator: invoice.locator,
    displayId: String(invoice.displayId),
    policyLocator: String(invoice.policyLocator),
    policyModificationLocator: invoice.policyModificationLocator,
    premiumReportName,
    createdTimestamp: String(invoice.createdAt),
    updatedTimestamp: String(invoice.updatedAt),
    startTimestamp: String(invoice.start),
    endTimestamp: String(invoice.end),
    dueTimestamp: String(invoice.dueAt),
    invoiceType: invoice.type,
    totalDue: toNumber(totalDue),
    totalDueCurrency: totalDue.currency,
    ...(status === 'unfulfilled'
      ? { settlementStatus: 'outstanding' }
      : { settlementStatus: 'settled', settlementType: status }),
    statuses: invoice.statuses.map(({ at, status }) => ({ timestamp: String(at), status })),
    transactionIssued,
    payments,
    documents,
  }
}
