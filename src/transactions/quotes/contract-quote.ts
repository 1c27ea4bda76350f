// Contract 1, Quotes.
import { z } from '@hono/zod-openapi'
import {
  Currency,
  component,
  Flag,
  Locator,
  list,
  OptionalAmount,
  OptionalLongName,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  RequestFieldValues,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { reportProblem } from '../../platform/wire-problem.ts'
import {
  AutomatedUnderwritingResultResponse,
  FeeResponse,
  FinancialTransactionResponse,
} from '../../policy/contract/billing.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'
import {
  DraftPolicyExposureUpdateRequest,
  ExposureCreateRequest,
  fieldGroupChanges,
} from '../../policy/contract/requests.ts'
import {
  ExposureResponse,
  PolicyCharacteristicsResponse,
  QuoteState,
} from '../../policy/contract/response.ts'

export const PolicyQuoteInvoiceResponse = component('PolicyQuoteInvoiceResponse', {
  issueTimestamp: Timestamp,
  dueTimestamp: TimestampIfAny,
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  financialTransactions: z
    .array(FinancialTransactionResponse)
    .describe('For a very large policy, lines of the same type and name are combined.'),
})
export type PolicyQuoteInvoiceResponse = z.infer<typeof PolicyQuoteInvoiceResponse>

export const PolicyQuoteResponse = component('PolicyQuoteResponse', {
  locator: Text,
  name: Text,
  policyholderLocator: Text,
  policyLocator: Text,
  productLocator: Text,
  productName: Text,
  state: QuoteState,
  selected: Flag,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  issuedTimestamp: TimestampIfAny,
  contractStartTimestamp: Timestamp,
  contractEndTimestamp: Timestamp,
  paymentScheduleName: OptionalText,
  characteristics: PolicyCharacteristicsResponse,
  exposures: z.array(ExposureResponse),
  documents: z.array(PolicyDocumentResponse),
  invoices: z.array(PolicyQuoteInvoiceResponse).describe('Present once it is quoted: the planned invoices.'),
  grossFees: OptionalAmount,
  grossFeesCurrency: Currency.optional(),
  fees: z.array(FeeResponse),
  automatedUnderwritingResult: AutomatedUnderwritingResultResponse.optional(),
})
export type PolicyQuoteResponse = z.infer<typeof PolicyQuoteResponse>

/** Changes of a draft, or of the copy that createNew creates. */
export const PolicyQuoteUpdateRequest = component('PolicyQuoteUpdateRequest', {
  name: OptionalLongName,
  policyStartTimestamp: OptionalTimestamp,
  policyEndTimestamp: OptionalTimestamp,
  fieldValues: RequestFieldValues,
  ...fieldGroupChanges,
  addExposures: list(ExposureCreateRequest),
  updateExposures: list(DraftPolicyExposureUpdateRequest),
  removeExposures: list(Locator),
  paymentScheduleName: OptionalName,
})
export type PolicyQuoteUpdateRequest = z.infer<typeof PolicyQuoteUpdateRequest>

/** At least one property must be set (contract 1, Errors). */
export const PolicyQuotePatch = PolicyQuoteUpdateRequest.check(ctx => {
  const set = Object.values(ctx.value).some(value =>
    typeof value === 'object' ? Object.keys(value).length > 0 : value !== undefined,
  )
  if (!set) reportProblem(ctx, 'must set at least one property, such as name or fieldValues')
})
