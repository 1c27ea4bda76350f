// Prices of a change: what an endorsement, renewal, cancellation or reinstatement makes of the current issued
// version. `new…` is the amount after it, `…Change` that less the amount before. Total = premium + taxes +
// fees; commissions are outside it. Every amount has its currency beside it (brief 3.4).
import { z } from '@hono/zod-openapi'
import { Amount, Currency, OptionalAmount, Text } from '../platform/wire.ts'
import { FeeResponse, HoldbackResponse } from '../policy/contract/prices.ts'

/** What becomes of one recipient's commissions. */
export const CommissionChangeResponse = z
  .object({
    recipient: Text,
    newAmount: Amount,
    newAmountCurrency: Currency,
    amountChange: Amount,
    amountChangeCurrency: Currency,
  })
  .openapi('CommissionChangeResponse')
export type CommissionChangeResponse = z.infer<typeof CommissionChangeResponse>

/** What becomes of one tax, over all perils of the record that has it. */
export const TaxChangeResponse = z
  .object({
    name: Text,
    newAmount: Amount,
    newAmountCurrency: Currency,
    amountChange: Amount,
    amountChangeCurrency: Currency,
  })
  .openapi('TaxChangeResponse')
export type TaxChangeResponse = z.infer<typeof TaxChangeResponse>

const everyLevel = {
  newGrossTaxes: Amount,
  newGrossTaxesCurrency: Currency,
  grossTaxesChange: Amount,
  grossTaxesChangeCurrency: Currency,
  newGrossCommissions: Amount,
  newGrossCommissionsCurrency: Currency,
  grossCommissionsChange: Amount,
  grossCommissionsChangeCurrency: Currency,
  newTotal: Amount,
  newTotalCurrency: Currency,
  totalChange: Amount,
  totalChangeCurrency: Currency,
  taxGroups: z.array(TaxChangeResponse),
  commissions: z.array(CommissionChangeResponse),
}

/** The technical amounts are there only if the peril has a technical premium. */
export const PerilPriceChangeResponse = z
  .object({
    locator: Text,
    name: Text,
    newPremium: Amount,
    newPremiumCurrency: Currency,
    premiumChange: Amount,
    premiumChangeCurrency: Currency,
    newTechnicalPremium: OptionalAmount,
    newTechnicalPremiumCurrency: Currency,
    technicalPremiumChange: OptionalAmount,
    technicalPremiumChangeCurrency: Currency,
    ...everyLevel,
  })
  .openapi('PerilPriceChangeResponse')
export type PerilPriceChangeResponse = z.infer<typeof PerilPriceChangeResponse>

const grossPremium = {
  newGrossPremium: Amount,
  newGrossPremiumCurrency: Currency,
  grossPremiumChange: Amount,
  grossPremiumChangeCurrency: Currency,
}

export const ExposurePriceChangeResponse = z
  .object({
    locator: Text,
    name: Text,
    ...grossPremium,
    ...everyLevel,
    perilPrices: z.array(PerilPriceChangeResponse),
  })
  .openapi('ExposurePriceChangeResponse')
export type ExposurePriceChangeResponse = z.infer<typeof ExposurePriceChangeResponse>

const policyPriceChange = {
  ...grossPremium,
  ...everyLevel,
  newGrossFees: Amount,
  newGrossFeesCurrency: Currency,
  grossFeesChange: Amount,
  grossFeesChangeCurrency: Currency,
  fees: z.array(FeeResponse),
  holdbacks: z.array(HoldbackResponse),
  exposurePrices: z.array(ExposurePriceChangeResponse),
}

/** Answer of every `…/price` of a transaction, and of POST /policy/{policyLocator}/previewRenewalPrice. */
export const PolicyPriceChangeResponse = z.object(policyPriceChange).openapi('PolicyPriceChangeResponse')
export type PolicyPriceChangeResponse = z.infer<typeof PolicyPriceChangeResponse>

/** Answer of GET /policy/{policyLocator}/cancellationValue. */
export const CancellationValueResponse = z
  .object({
    value: Amount.openapi({ description: 'What the cancellation gives back: -totalChange.' }),
    valueCurrency: Currency,
    balanceAfterCancellation: Amount.openapi({
      description:
        'What the policyholder would still owe for the policy: open invoices and the planned ones that remain; negative: to be given back.',
    }),
    balanceAfterCancellationCurrency: Currency,
    ...policyPriceChange,
  })
  .openapi('CancellationValueResponse')
export type CancellationValueResponse = z.infer<typeof CancellationValueResponse>
