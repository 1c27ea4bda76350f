// Invoices and payments as answers carry them (brief 4.1).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  component,
  FieldValueLists,
  Flag,
  OptionalAmount,
  OptionalDecimal,
  OptionalText,
  optional,
  PageSize,
  PagingToken,
  RequestFieldValues,
  Text,
  Timestamp,
  TimestampIfAny,
  withCurrency,
} from '../../platform/wire.ts'
import { Media, PolicyDocumentResponse } from './documents.ts'

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

export const InvoiceStatusResponse = component('InvoiceStatusResponse', {
  timestamp: Timestamp,
  status: z.enum(['unfulfilled', ...SettlementType.options]),
})

/** An offset settles a refund and an invoice of the same policy against each other. */
export const PaymentSource = z.enum(['received', 'credit', 'offset']).openapi('PaymentSource')
export type PaymentSource = z.infer<typeof PaymentSource>

/** What a client may say: an offset is Bindery's own doing. */
const RequestedSource = z.enum(['received', 'credit'])

/** `amount` and `source` are Bindery's own: without them the invoice is paid in full from outside. */
export const PaymentCreateRequest = component('PaymentCreateRequest', {
  fieldValues: RequestFieldValues.describe('Values of the fields of payment.json.'),
  source: optional(RequestedSource).describe(
    'received by default; credit pays from what the policyholder has left of earlier payments, as far as it goes, and takes no field values. A refund from credit is not paid out: it is added to the credit.',
  ),
  amount: OptionalDecimal.describe(
    'By default all that the invoice asks for. Less leaves the invoice outstanding with the payment; what is beyond it becomes a credit of the policyholder. Of a refund negative, at most the refund, and at most what was paid in for the policy and not yet paid out or credited (else 409). A refund paid without an amount pays out what may go out; the rest is written off.',
  ),
})
export type PaymentCreateRequest = z.infer<typeof PaymentCreateRequest>

export const PaymentResponse = component('PaymentResponse', {
  locator: Text,
  displayId: Text,
  invoiceLocator: Text,
  postedTimestamp: Timestamp,
  amount: Amount.describe(
    'All that was paid: by default the totalDue of the invoice. Negative for a refund.',
  ),
  amountCurrency: Currency,
  source: PaymentSource.describe(
    'received from outside; credit: made from the credit that the policyholder had left; offset: a refund and an invoice of the same policy settle each other, and no money moves.',
  ),
  offsetInvoiceLocator: OptionalText.describe(
    'Of an offset: the other invoice, on which a payment of the opposite amount stands.',
  ),
  creditedAmount: OptionalAmount.describe(
    "What the invoice did not ask for: it is the policyholder's credit, for the next invoices.",
  ),
  creditedAmountCurrency: Currency.optional(),
  fieldValues: FieldValueLists,
  mediaByLocator: z
    .record(Text, Media)
    .describe('Files that fields of type media of payment.json name, by their locators.'),
  reversedTimestamp: TimestampIfAny,
})
export type PaymentResponse = z.infer<typeof PaymentResponse>

export const PolicyInvoiceResponse = component('PolicyInvoiceResponse', {
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
  ...withCurrency(Amount, 'totalDue'),
  settlementStatus: z.enum(['outstanding', 'settled']),
  settlementType: SettlementType.optional(),
  outstandingAmount: OptionalAmount.describe('What is left to pay while the invoice is outstanding.'),
  outstandingAmountCurrency: Currency.optional(),
  statuses: z
    .array(InvoiceStatusResponse)
    .describe('Every status the invoice has had, in order; a new one is unfulfilled.'),
  transactionIssued: Flag.describe('false while the transaction is only accepted.'),
  payments: z.array(PaymentResponse),
  documents: z.array(PolicyDocumentResponse),
})
export type PolicyInvoiceResponse = z.infer<typeof PolicyInvoiceResponse>

/** One amount of an invoice or of a planned one; commissions are itemised but belong to no total (brief 3.1). */
export const FinancialTransactionResponse = component('FinancialTransactionResponse', {
  type: z.enum(['premium', 'tax', 'fee', 'commission', 'holdback']),
  ...withCurrency(Amount, 'amount'),
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
export type FinancialTransactionResponse = z.infer<typeof FinancialTransactionResponse>

/** An invoice that is planned but not issued (brief 4.1). */
export const FutureInvoiceResponse = component('FutureInvoiceResponse', {
  issueTimestamp: Timestamp,
  dueTimestamp: Timestamp,
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  financialTransactions: z.array(FinancialTransactionResponse),
  writeOff: Flag.describe('It will be settled as writtenOff once it is issued.'),
})
export type FutureInvoiceResponse = z.infer<typeof FutureInvoiceResponse>

export const GetInvoiceFinancialTransactionsResponse = component('GetInvoiceFinancialTransactionsResponse', {
  financialTransactions: z.array(FinancialTransactionResponse),
})
export type GetInvoiceFinancialTransactionsResponse = z.infer<typeof GetInvoiceFinancialTransactionsResponse>

export const CheckedInvoiceResponse = component('CheckedInvoiceResponse', {
  ...PolicyInvoiceResponse.shape,
  ...GetInvoiceFinancialTransactionsResponse.shape,
})

/** All that is billed of a policy, and all that is planned (brief 3.5). */
export const CheckInvoicesResponse = component('CheckInvoicesResponse', {
  policyLocator: Text,
  invoices: z.array(CheckedInvoiceResponse),
  futureInvoices: z.array(FutureInvoiceResponse),
})
export type CheckInvoicesResponse = z.infer<typeof CheckInvoicesResponse>

export const PolicyholderCreditsQuery = z.object({ pageSize: PageSize, pagingToken: PagingToken })
export type PolicyholderCreditsQuery = z.infer<typeof PolicyholderCreditsQuery>

/** A payment that left a credit, a refund that was added to it, or a payment from it. */
export const CreditMovementResponse = component('CreditMovementResponse', {
  paymentLocator: Text,
  policyLocator: Text,
  invoiceLocator: Text,
  type: z.enum(['overpayment', 'refund', 'use']),
  amount: Amount.describe('What it adds to the credit; negative where it used it.'),
  amountCurrency: Currency,
  postedTimestamp: Timestamp,
  reversedTimestamp: TimestampIfAny.describe('A reversed payment counts for nothing.'),
})

export const PolicyholderCreditsResponse = component('PolicyholderCreditsResponse', {
  policyholderLocator: Text,
  balances: z
    .array(z.object({ ...withCurrency(Amount, 'amount') }).openapi('CreditBalanceResponse'))
    .describe('What is left to use, in each currency in which there is some.'),
  movements: z
    .array(CreditMovementResponse)
    .describe(
      'Payments that made or used it. What was paid out of it is among the disbursements of the policyholder.',
    ),
  pagingToken: OptionalText.describe('Absent on the last page of movements.'),
})
export type PolicyholderCreditsResponse = z.infer<typeof PolicyholderCreditsResponse>
