// The policy in responses: segments (characteristics), modifications, exposures, perils and coverage.
import { z } from '@hono/zod-openapi'
import {
  Amount,
  component,
  DeprecatedText,
  FieldGroupValues,
  FieldValueLists,
  Integer,
  OptionalAmount,
  OptionalText,
  OptionalTimestamp,
  Text,
  Texts,
  Timestamp,
  TimestampIfAny,
  withCurrency,
} from '../../platform/wire.ts'
import {
  AutomatedUnderwritingResultResponse,
  FeeResponse,
  PolicyInvoiceResponse,
  TaxGroupResponse,
} from './billing.ts'
import { Media, PolicyDocumentResponse } from './documents.ts'

// Characteristics: data of a policy, exposure or peril over a half-open span (brief 2.1). A segment is in force when it
// has an issuedTimestamp and no replacedTimestamp.

const MediaByLocator = z.record(Text, Media)

const ofPolicy = { policyholderLocator: Text, policyLocator: Text, productLocator: Text }

const times = { createdTimestamp: Timestamp, updatedTimestamp: Timestamp }

const span = { startTimestamp: Timestamp, endTimestamp: Timestamp }

const segment = {
  locator: Text,
  ...ofPolicy,
  ...times,
  issuedTimestamp: TimestampIfAny,
  replacedTimestamp: TimestampIfAny,
  fieldValues: FieldValueLists,
  fieldGroupsByLocator: FieldGroupValues,
  mediaByLocator: MediaByLocator,
}

/** `policyStart/EndTimestamp` are the span of the original contract, on renewal segments too (brief 2.2). */
export const PolicyCharacteristicsResponse = component(
  'PolicyCharacteristicsResponse',
  {
    ...segment,
    ...span,
    policyStartTimestamp: Timestamp,
    policyEndTimestamp: Timestamp,
    ...withCurrency(OptionalAmount, 'grossPremium', 'grossTaxes'),
    taxGroups: z.array(TaxGroupResponse),
  },
  { description: 'Amounts are present once the segment is priced.' },
)
export type PolicyCharacteristicsResponse = z.infer<typeof PolicyCharacteristicsResponse>

export const ExposureCharacteristicsResponse = component('ExposureCharacteristicsResponse', {
  ...segment,
  exposureLocator: Text,
  ...span,
})
export type ExposureCharacteristicsResponse = z.infer<typeof ExposureCharacteristicsResponse>

const coverage = { coverageStartTimestamp: Timestamp, coverageEndTimestamp: Timestamp }

/** Deductible and limits of one segment of a peril. */
const limits = {
  ...withCurrency(OptionalAmount, 'deductible', 'lumpSumPayment'),
  ...withCurrency(OptionalText, 'indemnityInAggregate', 'indemnityPerEvent', 'indemnityPerItem'),
}

const MonthRate = z.number().optional().describe('The rate per month, to 7 decimal places.')

export const PerilCharacteristicsResponse = component('PerilCharacteristicsResponse', {
  ...segment,
  perilLocator: Text,
  policyCharacteristicsLocator: Text,
  exposureCharacteristicsLocator: Text,
  policyModificationLocator: Text,
  ...coverage,
  ...limits,
  ...withCurrency(OptionalAmount, 'premium'),
  technicalPremium: OptionalAmount,
  monthPremium: MonthRate,
  monthTechnicalPremium: MonthRate,
})
export type PerilCharacteristicsResponse = z.infer<typeof PerilCharacteristicsResponse>

// One modification for each transaction of a policy (brief 2.1.3 to 2.1.5).

/** One for each new peril segment. `premiumChange` is the new amount minus the share that it replaces. */
export const PerilModificationResponse = component('PerilModificationResponse', {
  locator: Text,
  ...ofPolicy,
  exposureModificationLocator: Text,
  perilLocator: Text,
  ...withCurrency(OptionalAmount, 'premiumChange'),
  newPerilCharacteristicsLocator: OptionalText,
  replacedPerilCharacteristicsLocator: OptionalText,
})
export type PerilModificationResponse = z.infer<typeof PerilModificationResponse>

/** `newExposureCharacteristicsLocator` is present only if the exposure's own data changed. */
export const ExposureModificationResponse = component('ExposureModificationResponse', {
  locator: Text,
  ...ofPolicy,
  exposureLocator: Text,
  policyModificationLocator: Text,
  perilModifications: z.array(PerilModificationResponse),
  newExposureCharacteristicsLocator: OptionalText,
})
export type ExposureModificationResponse = z.infer<typeof ExposureModificationResponse>

export const PolicyModificationResponse = component('PolicyModificationResponse', {
  locator: Text,
  ...ofPolicy,
  name: Text.describe(
    "modification.policy.create, .renew, .cancel, .withdraw, .lapse, .reinstate, or an endorsement's type.",
  ),
  displayId: Text,
  number: Integer.describe('Number in order of creation, from 0.'),
  ...times,
  issuedTimestamp: TimestampIfAny,
  effectiveTimestamp: TimestampIfAny,
  policyEndTimestamp: TimestampIfAny,
  ...withCurrency(OptionalAmount, 'premiumChange'),
  automatedUnderwritingResult: AutomatedUnderwritingResultResponse.optional(),
  exposureModifications: z.array(ExposureModificationResponse),
  newPolicyCharacteristicsLocator: OptionalText.describe(
    'The first item of newPolicyCharacteristicsLocators.',
  ),
  newPolicyCharacteristicsLocators: Texts,
  mediaByLocator: MediaByLocator.describe(
    'New media of the modification: those that fields of its segments, exposures and perils refer to and no earlier modification did.',
  ),
  cancellationName: OptionalText,
  endorsementLocator: OptionalText,
  renewalLocator: OptionalText,
  fieldValues: FieldValueLists.openapi({ deprecated: true }),
  fieldGroupsByLocator: FieldGroupValues.openapi({ deprecated: true }),
  configVersion: Integer.optional().openapi({ deprecated: true }),
})
export type PolicyModificationResponse = z.infer<typeof PolicyModificationResponse>

const part = { locator: Text, name: Text, displayId: Text, ...ofPolicy, ...times }

export const PerilResponse = component('PerilResponse', {
  ...part,
  exposureLocator: Text,
  renewalGroup: Text.describe('Shared by the perils of all terms that succeed each other by renewal.'),
  parentLocator: Text.optional().describe(
    'For a nested coverage of a migrated policy: the peril of this exposure that contains it.',
  ),
  characteristics: z.array(PerilCharacteristicsResponse),
})
export type PerilResponse = z.infer<typeof PerilResponse>

export const ExposureResponse = component('ExposureResponse', {
  ...part,
  characteristics: z.array(ExposureCharacteristicsResponse),
  perils: z.array(PerilResponse),
})
export type ExposureResponse = z.infer<typeof ExposureResponse>

export const QuoteState = z
  .enum(['draft', 'quoted', 'accepted', 'declined', 'discarded'])
  .openapi('QuoteState')
export type QuoteState = z.infer<typeof QuoteState>

export const QuoteSummaryResponseItem = component('QuoteSummaryResponseItem', {
  locator: Text,
  name: Text,
  state: QuoteState,
})

const QuoteSummaryResponse = component('QuoteSummaryResponse', {
  selected: Text.describe('Locator of the selected quote. Empty if no quote is selected.'),
  notDiscarded: z.array(QuoteSummaryResponseItem),
})

/** The latest issued cancellation that is not reinstated (brief 1.1, 3.4). */
export const CancellationInfo = component('CancellationInfo', {
  effectiveTimestamp: Timestamp,
  modificationLocator: Text,
  modificationName: Text,
})
export type CancellationInfo = z.infer<typeof CancellationInfo>

/** `quoteSummary` is present only with `summarizeQuotes=true`, `billingTrigger` never. */
export const PolicyResponse = component('PolicyResponse', {
  locator: Text,
  displayId: DeprecatedText,
  policyholderLocator: Text,
  productLocator: Text,
  productName: Text,
  configVersion: Integer,
  ...times,
  issuedTimestamp: TimestampIfAny,
  originalContractStartTimestamp: Timestamp,
  originalContractEndTimestamp: Timestamp,
  effectiveContractEndTimestamp: Timestamp,
  cancellation: CancellationInfo.optional(),
  paymentScheduleName: OptionalText,
  premiumReportName: OptionalText,
  characteristics: z.array(PolicyCharacteristicsResponse),
  modifications: z.array(PolicyModificationResponse),
  exposures: z.array(ExposureResponse),
  ...withCurrency(Amount, 'grossFees'),
  fees: z.array(FeeResponse),
  documents: z.array(PolicyDocumentResponse),
  invoices: z.array(PolicyInvoiceResponse),
  quoteSummary: QuoteSummaryResponse.optional(),
  billingTrigger: z.unknown().optional().openapi({ deprecated: true, description: 'Never sent.' }),
})
export type PolicyResponse = z.infer<typeof PolicyResponse>

// Exposures and perils on risk at one moment (brief 3.5).

/** The body, or the time in it, may be omitted. The time is then now. */
export const CoverageSummaryRequest = component('CoverageSummaryRequest', {
  effectiveTimestamp: OptionalTimestamp,
})
export type CoverageSummaryRequest = z.infer<typeof CoverageSummaryRequest>

/** The segment of a peril that is on risk, with the deductible and limits in force for it. */
export const PerilCoverageResponse = component('PerilCoverageResponse', {
  locator: Text,
  name: Text,
  ...coverage,
  ...withCurrency(Amount, 'premium'),
  ...limits,
})
export type PerilCoverageResponse = z.infer<typeof PerilCoverageResponse>

export const ExposureCoverageResponse = component('ExposureCoverageResponse', {
  locator: Text,
  name: Text,
  fieldValues: FieldValueLists,
  perils: z.array(PerilCoverageResponse),
})

export const CoverageSummaryResponse = component('CoverageSummaryResponse', {
  policyLocator: Text,
  effectiveTimestamp: Timestamp,
  exposures: z.array(ExposureCoverageResponse),
  ...withCurrency(Amount, 'grossPremium', 'grossTaxes', 'grossFees'),
})
export type CoverageSummaryResponse = z.infer<typeof CoverageSummaryResponse>

/** The policy as known at an earlier moment (brief 3.5). The response is a PolicyResponse; the body may be omitted. */
export const PolicySnapshotRequest = component('PolicySnapshotRequest', {
  asOfTimestamp: OptionalTimestamp.describe(
    'Returns only what was known at this time: segments, modifications, documents, invoices. Default: now.',
  ),
  effectiveTimestamp: OptionalTimestamp.describe(
    'Returns only segments that are in effect at this time. Default: those of the whole term.',
  ),
})
export type PolicySnapshotRequest = z.infer<typeof PolicySnapshotRequest>
