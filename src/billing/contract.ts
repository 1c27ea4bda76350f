// Invoices and payments as answers carry them (brief 4.1).
import { z } from '@hono/zod-openapi'
import { Media, PolicyDocumentResponse } from '../documents/contract.ts'
import {
  Amount,
  Currency,
  FieldValueLists,
  Flag,
  OptionalText,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../platform/wire.ts'

export const InvoiceType = z
  .enum([
    'newBusiness',
    'endorsement',
    'renewal',
    'cancellation',
    'reinstatement',
    'installment',
    'premiumReporting',
    'other',
  ])
  .openapi('InvoiceType')
export type InvoiceType = z.infer<typeof InvoiceType>

/** How an outstanding invoice came to be settled. */
export const SettlementType = z
  .enum(['paid', 'writtenOff', 'zeroDue', 'invalidated', 'carriedForward'])
  .openapi('SettlementType')
export type SettlementType = z.infer<typeof SettlementType>

export const InvoiceStatusResponse = z
  .object({ timestamp: Timestamp, status: z.enum(['unfulfilled', ...SettlementType.options]) })
  .openapi('InvoiceStatusResponse')
export type InvoiceStatusResponse = z.infer<typeof InvoiceStatusResponse>

export const PaymentResponse = z
  .object({
    locator: Text,
    displayId: Text,
    invoiceLocator: Text,
    postedTimestamp: Timestamp,
    amount: Amount.openapi({ description: "The invoice's totalDue; negative for a refund." }),
    amountCurrency: Currency,
    fieldValues: FieldValueLists,
    mediaByLocator: z.record(Text, Media),
    reversedTimestamp: TimestampIfAny,
  })
  .openapi('PaymentResponse')
export type PaymentResponse = z.infer<typeof PaymentResponse>

export const PolicyInvoiceResponse = z
  .object({
    locator: Text,
    displayId: Text,
    policyLocator: Text,
    policyModificationLocator: OptionalText,
    premiumReportName: OptionalText,
    createdTimestamp: Timestamp,
    updatedTimestamp: Timestamp,
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
    dueTimestamp: Timestamp,
    invoiceType: InvoiceType,
    totalDue: Amount,
    totalDueCurrency: Currency,
    settlementStatus: z.enum(['outstanding', 'settled']),
    settlementType: SettlementType.optional(),
    statuses: z.array(InvoiceStatusResponse).openapi({
      description: 'Every status the invoice has had, in order; a new one is unfulfilled.',
    }),
    transactionIssued: Flag.openapi({ description: 'false while the transaction is only accepted.' }),
    payments: z.array(PaymentResponse),
    documents: z.array(PolicyDocumentResponse),
  })
  .openapi('PolicyInvoiceResponse')
export type PolicyInvoiceResponse = z.infer<typeof PolicyInvoiceResponse>

/** One amount of an invoice or of a planned one; commissions are itemised but belong to no total (brief 3.1). */
export const FinancialTransactionResponse = z
  .object({
    type: z.enum(['premium', 'tax', 'fee', 'commission', 'holdback']),
    amount: Amount,
    amountCurrency: Currency,
    postedTimestamp: Timestamp,
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
    perilCharacteristicsLocator: OptionalText,
    perilName: OptionalText,
    policyModificationLocator: OptionalText,
    feeLocator: OptionalText,
    feeName: OptionalText,
    taxLocator: OptionalText,
    taxName: OptionalText,
    commissionLocator: OptionalText,
    commissionRecipient: OptionalText,
  })
  .openapi('FinancialTransactionResponse')
export type FinancialTransactionResponse = z.infer<typeof FinancialTransactionResponse>

/** An invoice that is planned but not issued (brief 4.1). */
export const FutureInvoiceResponse = z
  .object({
    issueTimestamp: Timestamp,
    dueTimestamp: Timestamp,
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
    financialTransactions: z.array(FinancialTransactionResponse),
    writeOff: Flag.openapi({ description: 'It will be settled as writtenOff once it is issued.' }),
  })
  .openapi('FutureInvoiceResponse')
export type FutureInvoiceResponse = z.infer<typeof FutureInvoiceResponse>
