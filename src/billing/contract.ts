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
