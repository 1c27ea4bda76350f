// Prices: premium, taxes, fees and commissions of the whole term, and the underwriting decision. Total = premium +
// taxes + fees; commissions are outside it. Every amount has its currency beside it (brief 3.4).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  DateTime,
  Flag,
  OptionalAmount,
  OptionalLongName,
  OptionalText,
  Text,
  Texts,
  Timestamp,
} from '../../platform/wire.ts'

export const AutomatedUnderwritingResultResponse = z
  .object({
    decisionTimestamp: Timestamp,
    decision: z.enum(['accept', 'reject', 'none']),
    notes: Texts,
  })
  .openapi('AutomatedUnderwritingResultResponse')
export type AutomatedUnderwritingResultResponse = z.infer<typeof AutomatedUnderwritingResultResponse>

/** A person's decision in place of underwriting's, on a quote, an endorsement or a renewal. */
export const UnderwritingDecisionRequest = z
  .object({ decision: z.enum(['accept', 'reject', 'none']), note: OptionalLongName })
  .openapi('UnderwritingDecisionRequest')
export type UnderwritingDecisionRequest = z.infer<typeof UnderwritingDecisionRequest>

/** The sum of one tax over all perils. */
export const TaxGroupResponse = z
  .object({ name: Text, amount: Amount, amountCurrency: Currency })
  .openapi('TaxGroupResponse')
export type TaxGroupResponse = z.infer<typeof TaxGroupResponse>

/** The sum of one recipient's commissions. */
export const CommissionResponse = z
  .object({ recipient: Text, amount: Amount, amountCurrency: Currency })
  .openapi('CommissionResponse')
export type CommissionResponse = z.infer<typeof CommissionResponse>

/** What is kept of the remainder on a cancellation; other prices have none. */
export const HoldbackResponse = z
  .object({
    type: z.enum(['premium', 'tax', 'fee', 'commission']),
    amount: Amount,
    amountCurrency: Currency,
    perilCharacteristicsLocator: OptionalText,
    perilName: OptionalText,
    feeName: OptionalText,
    taxName: OptionalText,
  })
  .openapi('HoldbackResponse')
export type HoldbackResponse = z.infer<typeof HoldbackResponse>

export const FeeResponse = z
  .object({
    locator: Text,
    name: Text,
    description: Text,
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
    amount: Amount,
    amountCurrency: Currency,
    reversed: Flag,
  })
  .openapi('FeeResponse')
export type FeeResponse = z.infer<typeof FeeResponse>

const taxGroups = z.array(TaxGroupResponse)
const commissions = z.array(CommissionResponse)

/** Technical premium is there only if every peril has one (brief 3.1). */
export const GetPerilPriceResponse = z
  .object({
    locator: Text,
    name: Text,
    premium: Amount,
    premiumCurrency: Currency,
    technicalPremium: OptionalAmount,
    technicalPremiumCurrency: Currency,
    grossTaxes: Amount,
    grossTaxesCurrency: Currency,
    grossCommissions: Amount,
    grossCommissionsCurrency: Currency,
    total: Amount,
    totalCurrency: Currency,
    taxGroups,
    commissions,
  })
  .openapi('GetPerilPriceResponse')
export type GetPerilPriceResponse = z.infer<typeof GetPerilPriceResponse>

const gross = {
  grossPremium: Amount,
  grossPremiumCurrency: Currency,
  grossTechnicalPremium: OptionalAmount,
  grossTechnicalPremiumCurrency: Currency,
  grossTaxes: Amount,
  grossTaxesCurrency: Currency,
  grossCommissions: Amount,
  grossCommissionsCurrency: Currency,
  taxGroups,
  commissions,
}

export const GetExposurePriceResponse = z
  .object({
    locator: Text,
    name: Text,
    ...gross,
    total: Amount,
    totalCurrency: Currency,
    perilPrices: z.array(GetPerilPriceResponse),
  })
  .openapi('GetExposurePriceResponse')
export type GetExposurePriceResponse = z.infer<typeof GetExposurePriceResponse>

const policyPrice = {
  ...gross,
  grossFees: Amount,
  grossFeesCurrency: Currency,
  fees: z.array(FeeResponse),
  holdbacks: z.array(HoldbackResponse),
  exposurePrices: z.array(GetExposurePriceResponse),
}

const AmountByLocator = z.record(Text, Amount)

/** Answer of GET /policy/{policyLocator}/price. */
export const GetPolicyPriceResponse = z
  .object({
    ...policyPrice,
    totalDue: Amount,
    totalDueCurrency: Currency,
    premiumsByExposureLocator: AmountByLocator,
    premiumsByPerilLocator: AmountByLocator,
  })
  .openapi('GetPolicyPriceResponse')
export type GetPolicyPriceResponse = z.infer<typeof GetPolicyPriceResponse>

/** Answer of POST /policy/{policyLocator}/price and of the quotes' prices. */
export const PolicyPriceResponse = z
  .object({ ...policyPrice, total: Amount, totalCurrency: Currency })
  .openapi('PolicyPriceResponse')
export type PolicyPriceResponse = z.infer<typeof PolicyPriceResponse>

export const TableUseResponse = z
  .object({
    modificationLocator: Text,
    staticName: Text,
    name: Text,
    revision: Text.openapi({ description: 'Locator of the contents that were read.' }),
    recordedAt: DateTime,
  })
  .openapi('TableUseResponse')

export type TableUseResponse = z.output<typeof TableUseResponse>
