// Prices of a change compared with the issued version: `new…` is the amount after it, `…Change` the difference. Total = premium +
// taxes + fees, without commissions. Every amount has a currency (brief 3.4).
import { z } from '@hono/zod-openapi'
import { Amount, Currency, component, OptionalAmount, Text, withCurrency } from '../platform/wire.ts'
import { FeeResponse, HoldbackResponse } from '../policy/contract/billing.ts'
import { WorksheetIfAsked } from '../policy/contract/worksheet.ts'

const CommissionChangeResponse = component('CommissionChangeResponse', {
  recipient: Text,
  ...withCurrency(Amount, 'newAmount', 'amountChange'),
})

/** The change of one tax over all perils of the record. */
const TaxChangeResponse = component('TaxChangeResponse', {
  name: Text,
  ...withCurrency(Amount, 'newAmount', 'amountChange'),
})

const everyLevel = {
  ...withCurrency(Amount, 'newGrossTaxes', 'grossTaxesChange'),
  ...withCurrency(Amount, 'newGrossCommissions', 'grossCommissionsChange'),
  ...withCurrency(Amount, 'newTotal', 'totalChange'),
  taxGroups: z.array(TaxChangeResponse),
  commissions: z.array(CommissionChangeResponse),
}

/** Technical amounts are present only if the peril has a technical premium. */
const PerilPriceChangeResponse = component('PerilPriceChangeResponse', {
  locator: Text,
  name: Text,
  ...withCurrency(Amount, 'newPremium', 'premiumChange'),
  ...withCurrency(OptionalAmount, 'newTechnicalPremium', 'technicalPremiumChange'),
  ...everyLevel,
})

const grossPremium = withCurrency(Amount, 'newGrossPremium', 'grossPremiumChange')

export const ExposurePriceChangeResponse = component('ExposurePriceChangeResponse', {
  locator: Text,
  name: Text,
  ...grossPremium,
  ...everyLevel,
  perilPrices: z.array(PerilPriceChangeResponse),
})
export type ExposurePriceChangeResponse = z.infer<typeof ExposurePriceChangeResponse>

const policyPriceChange = {
  ...grossPremium,
  ...everyLevel,
  ...withCurrency(Amount, 'newGrossFees', 'grossFeesChange'),
  fees: z.array(FeeResponse),
  holdbacks: z.array(HoldbackResponse),
  exposurePrices: z.array(ExposurePriceChangeResponse),
}

/** Also the response of POST /policy/{policyLocator}/previewRenewalPrice. */
export const PolicyPriceChangeResponse = component('PolicyPriceChangeResponse', {
  ...policyPriceChange,
  worksheet: WorksheetIfAsked,
})
export type PolicyPriceChangeResponse = z.infer<typeof PolicyPriceChangeResponse>

/** Response of GET /policy/{policyLocator}/cancellationValue. */
export const CancellationValueResponse = component('CancellationValueResponse', {
  value: Amount.describe('The amount that the cancellation refunds: -totalChange.'),
  valueCurrency: Currency,
  balanceAfterCancellation: Amount.describe(
    'The amount that the policyholder would still owe for the policy: open invoices and the remaining planned ones. Negative for a refund.',
  ),
  balanceAfterCancellationCurrency: Currency,
  ...policyPriceChange,
})
export type CancellationValueResponse = z.infer<typeof CancellationValueResponse>
