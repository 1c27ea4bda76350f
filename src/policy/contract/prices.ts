// Prices: premium, taxes, fees and commissions of the whole term, and the underwriting decision. Total = premium +
// taxes + fees; commissions are outside it. Every amount has its currency beside it (brief 3.4).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  component,
  DateTime,
  Flag,
  Locator,
  list,
  Name,
  OptionalAmount,
  OptionalLongName,
  OptionalText,
  optional,
  RequestDecimal,
  RequestTimestamp,
  Text,
  Texts,
  Timestamp,
  withCurrency,
} from '../../platform/wire.ts'

export const AutomatedUnderwritingResultResponse = component('AutomatedUnderwritingResultResponse', {
  decisionTimestamp: Timestamp,
  decision: z.enum(['accept', 'reject', 'none']),
  notes: Texts,
})
export type AutomatedUnderwritingResultResponse = z.infer<typeof AutomatedUnderwritingResultResponse>

/** A person's decision in place of underwriting's, on a quote, an endorsement or a renewal. */
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

/** What is kept of the remainder on a cancellation; other prices have none. */
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

/** Technical premium is there only if every peril has one (brief 3.1). */
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

/** Answer of GET /policy/{policyLocator}/price. */
export const GetPolicyPriceResponse = component('GetPolicyPriceResponse', {
  ...policyPrice,
  ...withCurrency(Amount, 'totalDue'),
  premiumsByExposureLocator: AmountByLocator,
  premiumsByPerilLocator: AmountByLocator,
})
export type GetPolicyPriceResponse = z.infer<typeof GetPolicyPriceResponse>

/** Answer of POST /policy/{policyLocator}/price and of the quotes' prices. */
export const PolicyPriceResponse = component('PolicyPriceResponse', {
  ...policyPrice,
  ...withCurrency(Amount, 'total'),
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

// Fees added to a policy and taken back, at any time (brief 3.3).

/** `feeName` is one that the product declares; `amount` is in major units of the policy's currency. */
export const FeeCreateRequest = component('FeeCreateRequest', {
  feeName: Name,
  amount: RequestDecimal,
  startTimestamp: RequestTimestamp,
  endTimestamp: RequestTimestamp,
  description: optional(z.string().max(1_024)),
})
export type FeeCreateRequest = z.infer<typeof FeeCreateRequest>

/** PATCH /policy/{policyLocator}/fees: `reverseFees` are locators of fees. */
export const FeeUpdateRequest = component('FeeUpdateRequest', {
  newFees: list(FeeCreateRequest),
  reverseFees: list(Locator),
})
export type FeeUpdateRequest = z.infer<typeof FeeUpdateRequest>

/** All fees of the policy after the update, the reversed ones too. */
export const PolicyFeeSummaryResponse = component('PolicyFeeSummaryResponse', { fees: z.array(FeeResponse) })
export type PolicyFeeSummaryResponse = z.infer<typeof PolicyFeeSummaryResponse>
