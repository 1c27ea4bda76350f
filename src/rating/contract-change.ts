// Prices of a change: what an endorsement, renewal, cancellation or reinstatement makes of the current issued
// version. `new…` is the amount after it, `…Change` that less the amount before. Total = premium + taxes +
// fees; commissions are outside it. Every amount has its currency beside it (brief 3.4).
import { z } from '@hono/zod-openapi'
import { Amount, Currency, component, OptionalAmount, Text, withCurrency } from '../platform/wire.ts'
import { FeeResponse, HoldbackResponse } from '../policy/contract/billing.ts'

/** What becomes of one recipient's commissions. */
const CommissionChangeResponse = component('CommissionChangeResponse', {
  recipient: Text,
  ...withCurrency(Amount, 'newAmount', 'amountChange'),
})

/** What becomes of one tax, over all perils of the record that has it. */
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

/** The technical amounts are there only if the peril has a technical premium. */
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

/** Answer of every `…/price` of a transaction, and of POST /policy/{policyLocator}/previewRenewalPrice. */
export const PolicyPriceChangeResponse = component('PolicyPriceChangeResponse', policyPriceChange)
export type PolicyPriceChangeResponse = z.infer<typeof PolicyPriceChangeResponse>

/** Answer of GET /policy/{policyLocator}/cancellationValue. */
export const CancellationValueResponse = component('CancellationValueResponse', {
  value: Amount.openapi({ description: 'What the cancellation gives back: -totalChange.' }),
  valueCurrency: Currency,
  balanceAfterCancellation: Amount.openapi({
    description:
      'What the policyholder would still owe for the policy: open invoices and the planned ones that remain; negative: to be given back.',
  }),
  balanceAfterCancellationCurrency: Currency,
  ...policyPriceChange,
})
export type CancellationValueResponse = z.infer<typeof CancellationValueResponse>
