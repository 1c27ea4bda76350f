// Invoices and payments as answers show them (brief 4.1).
import { type Money, toNumber } from '../../kernel/money.ts'
import { restDue, totalsDueOf } from '../bills/amounts-due.ts'
import type { PaymentResponse, PolicyInvoiceResponse } from '../contract/billing.ts'
import type { PolicyDocumentResponse } from '../contract/documents.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'
import { dataOfPayment } from '../records/document.ts'
import { type Invoice, invoiceStatus, type Payment, paymentsOf } from '../records/invoice.ts'
import { documentsOf, mediaByLocator } from './documents.ts'
import { textIfAny } from './parts.ts'

/** The invoices of the policy, each with its payments and with the sum of its items as its total. */
export function invoiceResponses(
  aggregate: PolicyAggregate,
  invoices: Iterable<Invoice> = aggregate.invoices.values(),
): PolicyInvoiceResponse[] {
  const totalDueOf = totalsDueOf(aggregate)
  return Array.from(invoices, invoice => {
    const totalDue = totalDueOf(invoice)
    return policyInvoiceResponse(invoice, {
      totalDue,
      outstanding: restDue(aggregate, invoice, totalDue),
      transactionIssued:
        aggregate.modifications.get(invoice.policyModificationLocator)!.issuedAt !== undefined,
      premiumReportName: aggregate.policy.premiumReportName,
      payments: paymentsOf(aggregate, invoice).map(one => paymentResponse(aggregate, one)),
      documents: documentsOf(aggregate, 'invoice', invoice.locator),
    })
  })
}

/** What an answer says of an invoice beyond the invoice itself. */
export type InvoiceSurroundings = {
  /** The sum of its items. */
  readonly totalDue: Money
  /** What of it is not paid; shown while the invoice is outstanding. */
  readonly outstanding: Money
  /** Whether its transaction is issued, not only accepted. */
  readonly transactionIssued: boolean
  readonly premiumReportName?: string
  readonly payments: PaymentResponse[]
  readonly documents: PolicyDocumentResponse[]
}

/** An invoice as answers carry it (brief 4.1). */
export function policyInvoiceResponse(
  invoice: Invoice,
  { totalDue, outstanding, transactionIssued, premiumReportName, payments, documents }: InvoiceSurroundings,
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
      ? {
          settlementStatus: 'outstanding',
          outstandingAmount: toNumber(outstanding),
          outstandingAmountCurrency: outstanding.currency,
        }
      : { settlementStatus: 'settled', settlementType: status }),
    statuses: invoice.statuses.map(({ at, status }) => ({ timestamp: String(at), status })),
    transactionIssued,
    payments,
    documents,
  }
}

/** A payment as answers carry it (brief 4.1). */
export const paymentResponse = (
  { media }: Pick<PolicyAggregate, 'media'>,
  { amount, credited, ...payment }: Payment,
): PaymentResponse => ({
  locator: payment.locator,
  displayId: String(payment.displayId),
  invoiceLocator: payment.invoiceLocator,
  postedTimestamp: String(payment.postedAt),
  reversedTimestamp: textIfAny(payment.reversedAt),
  amount: toNumber(amount),
  amountCurrency: amount.currency,
  source: payment.source,
  offsetInvoiceLocator: payment.offsetInvoiceLocator,
  ...(credited.minor > 0 && {
    creditedAmount: toNumber(credited),
    creditedAmountCurrency: credited.currency,
  }),
  fieldValues: payment.fieldValues,
  mediaByLocator: mediaByLocator(dataOfPayment(payment), media),
})
