// Trying out premium formulas (brief 0.10 names the paths; the shapes are those of published clients).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  component,
  Integer,
  LONGEST_LIST,
  Name,
  OptionalAmount,
  OptionalLocator,
  OptionalTimestamp,
  optional,
  RequestFieldValues,
  requestInteger,
  Text,
} from '../../platform/wire.ts'
import { reportProblem } from '../../platform/wire-problem.ts'
import { CommissionResponse, TaxGroupResponse } from '../../policy/contract/billing.ts'
import { PerilCreateRequest } from '../../policy/contract/requests.ts'

/** The longest formula, in characters. */
const LONGEST_FORMULA = 1_000_000

const Formula = z.string().max(LONGEST_FORMULA).openapi({
  description: 'The Liquid text of a premium formula, as in <peril>.premium.liquid.',
  example: '{{ data.exposure_characteristics.field_values.vehicle_value | times: 0.02 | set_year_premium }}',
})

const FieldGroups = z
  .preprocess(
    wire => wire ?? {},
    z.record(z.string().min(1).max(64), RequestFieldValues).check(ctx => {
      if (Object.keys(ctx.value).length > LONGEST_LIST)
        reportProblem(ctx, `must have at most ${LONGEST_LIST} entries`)
    }),
  )
  .describe(
    'Values of field groups, by the locators that fields of type group list. A locator can be any text.',
  )

const characteristics = { fieldValues: RequestFieldValues, fieldGroupsByLocator: FieldGroups }

/** Default: from midnight today, for a year. */
export const PolicyCharacteristicsPriceRequest = component('PolicyCharacteristicsPriceRequest', {
  policyStartTimestamp: OptionalTimestamp,
  policyEndTimestamp: OptionalTimestamp,
  ...characteristics,
})

export const ExposureCharacteristicsPriceRequest = component(
  'ExposureCharacteristicsPriceRequest',
  characteristics,
)

/** Amounts that are left out take the product's defaults for the peril. */
export const PerilCharacteristicsPriceRequest = component('PerilCharacteristicsPriceRequest', {
  ...characteristics,
  ...PerilCreateRequest.pick({
    deductible: true,
    lumpSumPayment: true,
    indemnityInAggregate: true,
    indemnityPerEvent: true,
    indemnityPerItem: true,
  }).shape,
})

export const CheckPerilPremiumRequest = component('CheckPerilPremiumRequest', {
  calculation: Formula,
  productName: Name,
  policyCharacteristics: PolicyCharacteristicsPriceRequest,
  exposureName: Name,
  exposureCharacteristics: ExposureCharacteristicsPriceRequest,
  perilName: Name,
  perilCharacteristics: PerilCharacteristicsPriceRequest,
  configVersion: optional(requestInteger(1)).describe('Default: the latest version of the configuration.'),
})
export type CheckPerilPremiumRequest = z.infer<typeof CheckPerilPremiumRequest>

export const CheckExistingPerilPremiumRequest = component('CheckExistingPerilPremiumRequest', {
  calculation: Formula,
  perilDisplayId: z
    .preprocess(wire => (typeof wire === 'number' ? String(wire) : wire), z.string().min(1).max(64))
    .openapi({ description: "The peril's displayId, or its locator.", example: '100000331' }),
  perilCharacteristicsLocator: OptionalLocator.describe(
    "Locator of the peril's characteristics. Default: the last ones in force.",
  ),
})
export type CheckExistingPerilPremiumRequest = z.infer<typeof CheckExistingPerilPremiumRequest>

const CalculationWarning = z.object({ line: Integer, column: Integer, message: Text })

/** None of it is stored. */
export const CalculationResponse = component('CalculationResponse', {
  premium: Amount.describe('Premium for the period of the characteristics.'),
  premiumCurrency: Currency,
  monthPremium: Amount.describe('Monthly rate, with up to 7 decimal places.'),
  technicalPremium: OptionalAmount,
  technicalPremiumCurrency: Currency.optional(),
  monthTechnicalPremium: OptionalAmount,
  commissions: z.array(CommissionResponse),
  taxGroups: z
    .array(TaxGroupResponse)
    .describe('Taxes of the product, which are computed for every priced peril.'),
  assignedVariables: z
    .record(Text, z.unknown())
    .describe(
      'Variables that the formula assigned, by name. Long texts and lists are truncated; `…` marks the rest.',
    ),
  warnings: z
    .array(CalculationWarning)
    .describe('Syntax in the text that is accepted but should be corrected.'),
})
export type CalculationResponse = z.infer<typeof CalculationResponse>
