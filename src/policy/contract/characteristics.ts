// Characteristics: what holds of a policy, an exposure, a peril over a span of time (brief 2.1). A segment is in
// force when it has an issuedTimestamp and no replacedTimestamp. Spans are half-open.
import { z } from '@hono/zod-openapi'
import {
  Currency,
  FieldGroupValues,
  FieldValueLists,
  OptionalAmount,
  OptionalText,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { Media } from './documents.ts'
import { TaxGroupResponse } from './prices.ts'

/** Media values of the field values, by locator. */
export const MediaByLocator = z.record(Text, Media)

const segment = {
  locator: Text,
  policyholderLocator: Text,
  policyLocator: Text,
  productLocator: Text,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  issuedTimestamp: TimestampIfAny,
  replacedTimestamp: TimestampIfAny,
  fieldValues: FieldValueLists,
  fieldGroupsByLocator: FieldGroupValues,
  mediaByLocator: MediaByLocator,
}

/** `policyStart/EndTimestamp` are the original contract's span, on renewal segments too (brief 2.2). */
export const PolicyCharacteristicsResponse = z
  .object({
    ...segment,
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
    policyStartTimestamp: Timestamp,
    policyEndTimestamp: Timestamp,
    grossPremium: OptionalAmount,
    grossPremiumCurrency: Currency,
    grossTaxes: OptionalAmount,
    grossTaxesCurrency: Currency,
    taxGroups: z.array(TaxGroupResponse),
  })
  .openapi('PolicyCharacteristicsResponse', { description: 'Amounts are there once the segment is priced.' })
export type PolicyCharacteristicsResponse = z.infer<typeof PolicyCharacteristicsResponse>

export const ExposureCharacteristicsResponse = z
  .object({
    ...segment,
    exposureLocator: Text,
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
  })
  .openapi('ExposureCharacteristicsResponse')
export type ExposureCharacteristicsResponse = z.infer<typeof ExposureCharacteristicsResponse>

const MonthRate = z.number().optional().openapi({ description: 'Rate of a month, 7 decimal places.' })

export const PerilCharacteristicsResponse = z
  .object({
    ...segment,
    perilLocator: Text,
    policyCharacteristicsLocator: Text,
    exposureCharacteristicsLocator: Text,
    policyModificationLocator: Text,
    coverageStartTimestamp: Timestamp,
    coverageEndTimestamp: Timestamp,
    deductible: OptionalAmount,
    deductibleCurrency: Currency,
    lumpSumPayment: OptionalAmount,
    lumpSumPaymentCurrency: Currency,
    indemnityInAggregate: OptionalText,
    indemnityInAggregateCurrency: Currency,
    indemnityPerEvent: OptionalText,
    indemnityPerEventCurrency: Currency,
    indemnityPerItem: OptionalText,
    indemnityPerItemCurrency: Currency,
    premium: OptionalAmount,
    premiumCurrency: Currency,
    technicalPremium: OptionalAmount,
    monthPremium: MonthRate,
    monthTechnicalPremium: MonthRate,
  })
  .openapi('PerilCharacteristicsResponse')
export type PerilCharacteristicsResponse = z.infer<typeof PerilCharacteristicsResponse>
