// Prices of a change: what an endorsement, renewal, cancellation or reinstatement makes of the current issued
// version. `new…` is the amount after it, `…Change` that less the amount before. Total = premium + taxes +
// fees; commissions are outside it. Every amount has its currency beside it (brief 3.4).
import { z } from '@hono/zod-openapi'
import { Amount, Currency, OptionalAmount, Text } from '../platform/wire.ts'
import { FeeResponse, HoldbackResponse } from '../policy/contract/prices.ts'

/** An amount after the change and what the change makes of it, each with its currency. */
const amountChange = <After extends string, Change extends string>(after: After, change: Change) =>
  ({
    [after]: Amount,
    [`${after}Currency`]: Currency,
    [change]: Amount,
    [`${change}Currency`]: Currency,
  }) as Record<After | Change, typeof Amount> & Record<`${After | Change}Currency`, typeof Currency>

/** What becomes of one recipient's commissions. */
const CommissionChangeResponse = z
  .object({ recipient: Text, ...amountChange('newAmount', 'amountChange') })
  .openapi('CommissionChangeResponse')

/** What becomes of one tax, over all perils of the record that has it. */
const TaxChangeResponse = z
  .object({ name: Text, ...amountChange('newAmount', 'amountChange') })
  .openapi('TaxChangeResponse')

const everyLevel = {
  ...amountChange('newGrossTaxes', 'grossTaxesChange'),
  ...amountChange('newGrossCommissions', 'grossCommissionsChange'),
  ...amountChange('newTotal', 'totalChange'),
  taxGroups: z.array(TaxChangeResponse),
  commissions: z.array(CommissionChangeResponse),
}

/** The technical amounts are there only if the peril has a technical premium. */
const PerilPriceChangeResponse = z
  .object({
    locator: Text,
    name: Text,
    ...amountChange('newPremium', 'premiumChange'),
    newTechnicalPremium: OptionalAmount,
    newTechnicalPremiumCurrency: Currency,
    technicalPremiumChange: OptionalAmount,
    technicalPremiumChangeCurrency: Currency,
    ...everyLevel,
  })
  .openapi('PerilPriceChangeResponse')

const grossPremium = amountChange('newGrossPremium', 'grossPremiumChange')

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
  ...amountChange('newGrossFees', 'grossFeesChange'),
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
