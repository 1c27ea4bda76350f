// What a policy covers at one moment: its exposures and perils on risk then (brief 3.5).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  FieldValueLists,
  OptionalAmount,
  OptionalText,
  OptionalTimestamp,
  Text,
  Timestamp,
} from '../../platform/wire.ts'

/** Body of POST /policies/{policyLocator}/coverageSummary; it, or the time in it, may be left out: now. */
export const CoverageSummaryRequest = z
  .object({ effectiveTimestamp: OptionalTimestamp })
  .openapi('CoverageSummaryRequest')
export type CoverageSummaryRequest = z.infer<typeof CoverageSummaryRequest>

/** The segment of a peril that is on risk, with the deductible and limits that hold for it. */
export const PerilCoverageResponse = z
  .object({
    locator: Text,
    name: Text,
    coverageStartTimestamp: Timestamp,
    coverageEndTimestamp: Timestamp,
    premium: Amount,
    premiumCurrency: Currency,
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
  })
  .openapi('PerilCoverageResponse')
export type PerilCoverageResponse = z.infer<typeof PerilCoverageResponse>

export const ExposureCoverageResponse = z
  .object({
    locator: Text,
    name: Text,
    fieldValues: FieldValueLists,
    perils: z.array(PerilCoverageResponse),
  })
  .openapi('ExposureCoverageResponse')
export type ExposureCoverageResponse = z.infer<typeof ExposureCoverageResponse>

export const CoverageSummaryResponse = z
  .object({
    policyLocator: Text,
    effectiveTimestamp: Timestamp,
    exposures: z.array(ExposureCoverageResponse),
    grossPremium: Amount,
    grossPremiumCurrency: Currency,
    grossTaxes: Amount,
    grossTaxesCurrency: Currency,
    grossFees: Amount,
    grossFeesCurrency: Currency,
  })
  .openapi('CoverageSummaryResponse')
export type CoverageSummaryResponse = z.infer<typeof CoverageSummaryResponse>
