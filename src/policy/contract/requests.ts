// Requests and parameters about policies, and responses other than the policy itself.
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  component,
  Locator,
  list,
  Name,
  OptionalBoolean,
  OptionalDecimal,
  OptionalLocator,
  OptionalName,
  OptionalTimestamp,
  optional,
  RequestFieldValues,
  RequestTimestamp,
  requestInteger,
  Text,
} from '../../platform/wire.ts'
import { reportProblem } from '../../platform/wire-problem.ts'

export const PolicyQuery = z.object({
  summarizeQuotes: booleanOr(false).describe('Whether to return quoteSummary.'),
})
export type PolicyQuery = z.infer<typeof PolicyQuery>

/** An extension of Bindery: a large policy with a long life has more characteristics of perils than one answer can hold. */
export const DetailQuery = z.object({
  perilCharacteristics: OptionalLocator.describe(
    'Bindery only. Which perils have their `characteristics`, and for which exposures modifications list their changes: `all` (the default), `none`, or the exposure with this locator. `few`: all if there are at most 3,000 characteristics in total, otherwise none. `fitting`: all if one answer can contain them, otherwise none, as in the answer to a write. The other lists are empty.',
  ),
})

/** A new group of values for a field of type `group`. */
export const FieldGroupCreateRequest = component('FieldGroupCreateRequest', {
  fieldName: Name,
  fieldValues: RequestFieldValues,
})

/** New values for an existing group. */
export const FieldGroupUpdateRequest = component('FieldGroupUpdateRequest', {
  fieldGroupLocator: Locator,
  fieldName: Name,
  fieldValues: RequestFieldValues,
})

const newFieldGroups = list(FieldGroupCreateRequest)
const locators = list(Locator)

/** The three properties with which every update changes field groups. */
export const fieldGroupChanges = {
  addFieldGroups: newFieldGroups,
  updateFieldGroups: list(FieldGroupUpdateRequest),
  removeFieldGroups: locators,
}

/** Decimal text or `unlimited`; the field rules check it (brief 6.5). Numbers are accepted and converted to text. */
const OptionalIndemnity = optional(
  z
    .preprocess(wire => (typeof wire === 'number' ? String(wire) : wire), z.string().max(64))
    .openapi({ description: 'Decimal text, or "unlimited".', example: '100000' }),
)

/** Omitted amounts come from the product's defaults for the peril. */
const perilAmounts = {
  deductible: OptionalDecimal,
  lumpSumPayment: OptionalDecimal,
  indemnityInAggregate: OptionalIndemnity,
  indemnityPerEvent: OptionalIndemnity,
  indemnityPerItem: OptionalIndemnity,
}

/** `locator` is the client's own reference and is echoed in responses. The peril gets its own locator. */
export const PerilCreateRequest = component('PerilCreateRequest', {
  name: Name,
  locator: OptionalLocator,
  fieldValues: RequestFieldValues,
  fieldGroups: newFieldGroups,
  ...perilAmounts,
})

/** A `remove…` flag takes precedence over a value (brief 6.5). */
export const PerilUpdateRequest = component('PerilUpdateRequest', {
  perilLocator: Locator,
  fieldValues: RequestFieldValues,
  ...fieldGroupChanges,
  ...perilAmounts,
  removeDeductible: OptionalBoolean,
  removeIndemnityInAggregate: OptionalBoolean,
  removeIndemnityPerEvent: OptionalBoolean,
  removeIndemnityPerItem: OptionalBoolean,
  removeLumpSumPayment: OptionalBoolean,
})

const newPerils = list(PerilCreateRequest)

export const ExposureCreateRequest = component('ExposureCreateRequest', {
  exposureName: Name,
  perils: newPerils,
  fieldValues: RequestFieldValues,
  fieldGroups: newFieldGroups,
})

export const DraftPolicyExposureUpdateRequest = component('DraftPolicyExposureUpdateRequest', {
  exposureLocator: Locator,
  fieldValues: RequestFieldValues,
  ...fieldGroupChanges,
  addPerils: newPerils,
  updatePerils: list(PerilUpdateRequest),
  removePerils: locators,
})

const newExposures = list(ExposureCreateRequest)

/** Per request or registered operation. */
const MOST_AUTOFILL_CALLS = 10

export const AutofillCalls = z.array(Name).max(MOST_AUTOFILL_CALLS)

/** For requests that create or update policies, endorsements and renewals (brief 5.6, "Autofill order"). */
export const OptionalAutofill = optional(AutofillCalls).describe(
  'The calls that complete the request before it is validated, in order: `internal` for the plugin getDataAutofill, or the name of an integration of type data_autofill. An empty list calls nothing. Default: the matching registered operation (PUT /integrations/autofill), otherwise the plugin if the product enables it.',
)

const finalize = booleanOr(true).describe(
  'Whether to lock, price and underwrite the policy immediately. false leaves it a draft.',
)

/** The start defaults to midnight today, the end to one year after the start (brief 7). */
export const PolicyCreateRequest = component('PolicyCreateRequest', {
  policyholderLocator: Locator,
  productName: Name,
  policyStartTimestamp: OptionalTimestamp,
  policyEndTimestamp: OptionalTimestamp,
  exposures: newExposures,
  fieldValues: RequestFieldValues,
  fieldGroups: newFieldGroups,
  finalize,
  paymentScheduleName: OptionalName,
  premiumReportName: OptionalName,
  configVersion: optional(requestInteger(1)).describe('Default: the latest version of the configuration.'),
  currency: OptionalName.describe(
    "Bindery only. Rejected if it is not the configuration's currency, which every policy has.",
  ),
  autofill: OptionalAutofill,
})
export type PolicyCreateRequest = z.infer<typeof PolicyCreateRequest>

/** `effectiveContract…Timestamp` are aliases of `policy…Timestamp`, mapped when read. Values that disagree are a problem. */
export const PolicyUpdateRequest = component('PolicyUpdateRequest', {
  policyStartTimestamp: OptionalTimestamp,
  policyEndTimestamp: OptionalTimestamp,
  effectiveContractStartTimestamp: OptionalTimestamp,
  effectiveContractEndTimestamp: OptionalTimestamp,
  fieldValues: RequestFieldValues,
  ...fieldGroupChanges,
  addExposures: newExposures,
  updateExposures: list(DraftPolicyExposureUpdateRequest),
  removeExposures: locators,
  finalize,
  paymentScheduleName: OptionalName,
  autofill: OptionalAutofill,
}).transform(({ effectiveContractStartTimestamp, effectiveContractEndTimestamp, ...update }, ctx) => {
  const { policyStartTimestamp: start, policyEndTimestamp: end } = update
  if ((effectiveContractStartTimestamp ?? start) !== (start ?? effectiveContractStartTimestamp))
    reportProblem(ctx, 'must equal policyStartTimestamp; send only one of the two', [
      'effectiveContractStartTimestamp',
    ])
  if ((effectiveContractEndTimestamp ?? end) !== (end ?? effectiveContractEndTimestamp))
    reportProblem(ctx, 'must equal policyEndTimestamp; send only one of the two', [
      'effectiveContractEndTimestamp',
    ])
  return {
    ...update,
    policyStartTimestamp: start ?? effectiveContractStartTimestamp,
    policyEndTimestamp: end ?? effectiveContractEndTimestamp,
  }
})
export type PolicyUpdateRequest = z.infer<typeof PolicyUpdateRequest>

export const PolicyLocatorQuery = z.object({ displayId: Locator })

/** The policy that has the displayId, or has a record with it. */
export const PolicyLocatorResponse = component('PolicyLocatorResponse', { locator: Text })
export type PolicyLocatorResponse = z.infer<typeof PolicyLocatorResponse>

/** Coverage ends at `coverageEndTimestamp`, which may be in the past. */
export const PolicyCancellationIssueRequest = component('PolicyCancellationIssueRequest', {
  coverageEndTimestamp: RequestTimestamp,
})
export type PolicyCancellationIssueRequest = z.infer<typeof PolicyCancellationIssueRequest>

/** If omitted, coverage ends now. */
export const CancellationValueQuery = z.object({ coverageEndTimestamp: OptionalTimestamp })
export type CancellationValueQuery = z.infer<typeof CancellationValueQuery>

/** The name of a payment schedule of the product (brief 0.11). */
export const PaymentScheduleChangeRequest = component('PaymentScheduleChangeRequest', {
  newPaymentScheduleName: Name,
})
export type PaymentScheduleChangeRequest = z.infer<typeof PaymentScheduleChangeRequest>

/**
 * Something pending on the policy that blocks the request: a transaction that is quoted or accepted (brief 2.4). An upgrade is also
 * blocked by a priced quote.
 */
export const ConflictResponse = component('ConflictResponse', {
  kind: z.enum(['endorsement', 'renewal', 'reinstatement', 'quote']),
  locator: Text,
  state: z.enum(['quoted', 'accepted', 'declined']),
})
export type ConflictResponse = z.infer<typeof ConflictResponse>
