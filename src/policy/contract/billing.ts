// Cost, billing and payment of a policy in responses. Every amount has its currency next to it (brief 3.4).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  component,
  DateTime,
  FieldValueLists,
  Flag,
  Locator,
  list,
  Name,
  OptionalAmount,
  OptionalDecimal,
  OptionalLongName,
  OptionalText,
  optional,
  PageSize,
  PagingToken,
  RequestDecimal,
  RequestFieldValues,
  RequestTimestamp,
  Text,
  Texts,
  Timestamp,
  TimestampIfAny,
  withCurrency,
} from '../../platform/wire.ts'
import { Media, PolicyDocumentResponse } from './documents.ts'
import { WorksheetIfAsked } from './worksheet.ts'

// Prices of the whole term. Total = premium + taxes + fees; commissions are outside it.

export const AutomatedUnderwritingResultResponse = component('AutomatedUnderwritingResultResponse', {
  decisionTimestamp: Timestamp,
  decision: z.enum(['accept', 'reject', 'none']),
  notes: Texts,
})
export type AutomatedUnderwritingResultResponse = z.infer<typeof AutomatedUnderwritingResultResponse>

/** A person's decision that replaces underwriting's, on a quote, endorsement or renewal. */
export const UnderwritingDecisionRequest = component('UnderwritingDecisionRequest', {
  decision: z.enum(['accept', 'reject', 'none']),
  note: OptionalLongName,
})
export type UnderwritingDecisionRequest = z.infer<typeof UnderwritingDecisionRequest>

/** The sum of one tax over all perils. */
export const TaxGroupResponse = component('TaxGroupResponse', {
  name: Text,
  ...withCurrency(Amount, 'amount'),
})
export type TaxGroupResponse = z.infer<typeof TaxGroupResponse>

/** The sum of one recipient's commissions. */
export const CommissionResponse = component('CommissionResponse', {
  recipient: Text,
  ...withCurrency(Amount, 'amount'),
})
export type CommissionResponse = z.infer<typeof CommissionResponse>

/** An amount kept on a cancellation. Other prices have no holdbacks. */
export const HoldbackResponse = component('HoldbackResponse', {
  type: z.enum(['premium', 'tax', 'fee', 'commission']),
  ...withCurrency(Amount, 'amount'),
  perilCharacteristicsLocator: OptionalText,
  perilName: OptionalText,
  feeName: OptionalText,
  taxName: OptionalText,
})
export type HoldbackResponse = z.infer<typeof HoldbackResponse>

export const FeeResponse = component('FeeResponse', {
  locator: Text,
  name: Text,
  description: Text,
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  ...withCurrency(Amount, 'amount'),
  reversed: Flag,
})
export type FeeResponse = z.infer<typeof FeeResponse>

const taxGroups = z.array(TaxGroupResponse)
const commissions = z.array(CommissionResponse)

/** The technical premium is present only if every peril has one (brief 3.1). */
export const GetPerilPriceResponse = component('GetPerilPriceResponse', {
  locator: Text,
  name: Text,
  ...withCurrency(Amount, 'premium'),
  ...withCurrency(OptionalAmount, 'technicalPremium'),
  ...withCurrency(Amount, 'grossTaxes', 'grossCommissions', 'total'),
  taxGroups,
  commissions,
})

const gross = {
  ...withCurrency(Amount, 'grossPremium'),
  ...withCurrency(OptionalAmount, 'grossTechnicalPremium'),
  ...withCurrency(Amount, 'grossTaxes', 'grossCommissions'),
  taxGroups,
  commissions,
}

export const GetExposurePriceResponse = component('GetExposurePriceResponse', {
  locator: Text,
  name: Text,
  ...gross,
  ...withCurrency(Amount, 'total'),
  perilPrices: z.array(GetPerilPriceResponse),
})
export type GetExposurePriceResponse = z.infer<typeof GetExposurePriceResponse>

const policyPrice = {
  ...gross,
  ...withCurrency(Amount, 'grossFees'),
  fees: z.array(FeeResponse),
  holdbacks: z.array(HoldbackResponse),
  exposurePrices: z.array(GetExposurePriceResponse),
}

const AmountByLocator = z.record(Text, Amount)

/** Response of GET /policy/{policyLocator}/price. */
export const GetPolicyPriceResponse = component('GetPolicyPriceResponse', {
  ...policyPrice,
  ...withCurrency(Amount, 'totalDue'),
  premiumsByExposureLocator: AmountByLocator,
  premiumsByPerilLocator: AmountByLocator,
  worksheet: WorksheetIfAsked,
})
export type GetPolicyPriceResponse = z.infer<typeof GetPolicyPriceResponse>

/** Also the response for prices of quotes. */
export const PolicyPriceResponse = component('PolicyPriceResponse', {
  ...policyPrice,
  ...withCurrency(Amount, 'total'),
  worksheet: WorksheetIfAsked,
})
export type PolicyPriceResponse = z.infer<typeof PolicyPriceResponse>

export const TableUseResponse = component('TableUseResponse', {
  modificationLocator: Text,
  staticName: Text,
  name: Text,
  revision: Text.describe('Locator of the contents that were read.'),
  recordedAt: DateTime,
})

export type TableUseResponse = z.output<typeof TableUseResponse>

// Fees may be added and reversed at any time (brief 3.3).

/** `feeName` must be declared by the product; `amount` is in major units of the policy's currency. */
export const FeeCreateRequest = component('FeeCreateRequest', {
  feeName: Name,
  amount: RequestDecimal,
  startTimestamp: RequestTimestamp,
  endTimestamp: RequestTimestamp,
  description: optional(z.string().max(1_024)),
})
export type FeeCreateRequest = z.infer<typeof FeeCreateRequest>

/** `reverseFees` are locators of fees. */
export const FeeUpdateRequest = component('FeeUpdateRequest', {
  newFees: list(FeeCreateRequest),
  reverseFees: list(Locator),
})
export type FeeUpdateRequest = z.infer<typeof FeeUpdateRequest>

/** All fees after the update, including reversed ones. */
export const PolicyFeeSummaryResponse = component('PolicyFeeSummaryResponse', { fees: z.array(FeeResponse) })
export type PolicyFeeSummaryResponse = z.infer<typeof PolicyFeeSummaryResponse>

// Invoices and payments (brief 4.1).

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

/** How an outstanding invoice was settled. */
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

/** Clients may not send `offset`: only Bindery makes offsets. */
const RequestedSource = z.enum(['received', 'credit'])

/** `amount` and `source` are extensions of Bindery. Without them, the invoice is paid in full from outside. */
export const PaymentCreateRequest = component('PaymentCreateRequest', {
  fieldValues: RequestFieldValues.describe('Values of the fields in payment.json.'),
  source: optional(RequestedSource).describe(
    'received by default. credit pays from the remaining credit of the policyholder, as far as it suffices, and accepts no field values. A refund with source credit is not paid out but added to the credit.',
  ),
  amount: OptionalDecimal.describe(
    'By default the whole amount that the invoice asks for. A smaller amount leaves the invoice outstanding; any excess becomes credit of the policyholder. For a refund the amount is negative, at most the refund, and at most what was paid in for the policy and not yet paid out or credited (otherwise 409). A refund without an amount pays out as much as is allowed, and the rest is written off.',
  ),
})
export type PaymentCreateRequest = z.infer<typeof PaymentCreateRequest>

export const PaymentResponse = component('PaymentResponse', {
  locator: Text,
  displayId: Text,
  invoiceLocator: Text,
  postedTimestamp: Timestamp,
  amount: Amount.describe(
    'The whole amount of the payment; by default the totalDue of the invoice. Negative for a refund.',
  ),
  amountCurrency: Currency,
  source: PaymentSource.describe(
    'received: paid from outside. credit: paid from the credit of the policyholder. offset: a refund and an invoice of the same policy settle each other, and no money moves.',
  ),
  offsetInvoiceLocator: OptionalText.describe(
    'For an offset: the other invoice, which has a payment of the opposite amount.',
  ),
  creditedAmount: OptionalAmount.describe(
    "The part that exceeds the invoice. It becomes the policyholder's credit and pays later invoices.",
  ),
  creditedAmountCurrency: Currency.optional(),
  fieldValues: FieldValueLists,
  mediaByLocator: z
    .record(Text, Media)
    .describe('Files that fields of type media in payment.json refer to, by locator.'),
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
  outstandingAmount: OptionalAmount.describe('The unpaid amount while the invoice is outstanding.'),
  outstandingAmountCurrency: Currency.optional(),
  statuses: z
    .array(InvoiceStatusResponse)
    .describe('Every status that the invoice has had, in order. A new invoice is unfulfilled.'),
  transactionIssued: Flag.describe('false while the transaction is accepted but not issued.'),
  payments: z.array(PaymentResponse),
  documents: z.array(PolicyDocumentResponse),
})
export type PolicyInvoiceResponse = z.infer<typeof PolicyInvoiceResponse>

/** One item of an invoice or planned invoice. Commissions are itemised but belong to no total (brief 3.1). */
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
  writeOff: Flag.describe('The invoice will be settled as writtenOff once it is issued.'),
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

/** Everything that is billed or planned for a policy (brief 3.5). */
export const CheckInvoicesResponse = component('CheckInvoicesResponse', {
  policyLocator: Text,
  invoices: z.array(CheckedInvoiceResponse),
  futureInvoices: z.array(FutureInvoiceResponse),
})
export type CheckInvoicesResponse = z.infer<typeof CheckInvoicesResponse>

export const PolicyholderCreditsQuery = z.object({ pageSize: PageSize, pagingToken: PagingToken })
export type PolicyholderCreditsQuery = z.infer<typeof PolicyholderCreditsQuery>

/** A payment that left credit, a refund added to the credit, or a payment made from it. */
export const CreditMovementResponse = component('CreditMovementResponse', {
  paymentLocator: Text,
  policyLocator: Text,
  invoiceLocator: Text,
  type: z.enum(['overpayment', 'refund', 'use']),
  amount: Amount.describe('The amount added to the credit. Negative for a payment that used credit.'),
  amountCurrency: Currency,
  postedTimestamp: Timestamp,
  reversedTimestamp: TimestampIfAny.describe(
    'When the payment was reversed. A reversed payment does not count.',
  ),
})

export const PolicyholderCreditsResponse = component('PolicyholderCreditsResponse', {
  policyholderLocator: Text,
  balances: z
    .array(z.object({ ...withCurrency(Amount, 'amount') }).openapi('CreditBalanceResponse'))
    .describe('The remaining credit in each currency.'),
  movements: z
    .array(CreditMovementResponse)
    .describe(
      'Payments that created or used credit. Credit that was paid out is listed among the disbursements of the policyholder.',
    ),
  pagingToken: OptionalText.describe('Absent on the last page of movements.'),
})
export type PolicyholderCreditsResponse = z.infer<typeof PolicyholderCreditsResponse>
