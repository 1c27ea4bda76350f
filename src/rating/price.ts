// The price of a whole term as answers show it. Total = premium + taxes + fees, and what cancellations hold back;
// commissions are outside it (brief 3.4).
import { type CurrencyCode, type Money, plus, toNumber } from '../kernel/money.ts'
import type {
  CommissionResponse,
  GetExposurePriceResponse,
  GetPolicyPriceResponse,
  HoldbackResponse,
  PolicyPriceResponse,
  TaxGroupResponse,
} from '../policy/contract/prices.ts'
import { feesOf, feeTotal } from '../policy/fold/fees.ts'
import { holdbacksInForce, holdbackTotal } from '../policy/fold/holdbacks.ts'
import { feeResponse, named } from '../policy/projection/parts.ts'
import type { PolicyView } from '../policy/projection/view.ts'
import type { Holdback, PolicyAggregate } from '../policy/records/aggregate.ts'
import { perilTotals, sumTotals, type Totals, totalCommissions, totalTaxes } from './totals.ts'

/** The price of the view's policy or quote, which is priced. */
export function policyPriceResponse(view: PolicyView): PolicyPriceResponse {
  const { currency } = view.aggregate.policy
  const exposures = view.exposures.map(({ exposure, perils }) => {
    const priced = perils.map(one => ({ peril: one.peril, totals: perilTotals(one, currency) }))
    return {
      exposure,
      priced,
      totals: sumTotals(
        priced.map(one => one.totals),
        currency,
      ),
    }
  })
  const all = sumTotals(
    exposures.map(one => one.totals),
    currency,
  )
  const fees = feesOf(view.aggregate, view.quote, view.line)
  const grossFees = feeTotal(fees, currency)
  const holdbacks = holdbacksInForce(view.line)
  const held = holdbackTotal(holdbacks, currency)
  return {
    ...gross(all, currency),
    grossFees: toNumber(grossFees),
    grossFeesCurrency: currency,
    total: toNumber(plus(plus(total(all, currency), grossFees), held)),
    totalCurrency: currency,
    fees: fees.map(feeResponse),
    holdbacks: holdbackResponses(view.aggregate, holdbacks),
    exposurePrices: exposures.map(
      ({ exposure, priced, totals }): GetExposurePriceResponse => ({
        locator: exposure.locator,
        name: exposure.name,
        ...gross(totals, currency),
        total: toNumber(total(totals, currency)),
        totalCurrency: currency,
        perilPrices: priced.map(({ peril, totals: own }) => {
          const { grossPremium, grossPremiumCurrency, grossTechnicalPremium, ...rest } = gross(own, currency)
          const { grossTechnicalPremiumCurrency, ...shared } = rest
          return {
            locator: peril.locator,
            name: peril.name,
            premium: grossPremium,
            premiumCurrency: grossPremiumCurrency,
            technicalPremium: grossTechnicalPremium,
            technicalPremiumCurrency: grossTechnicalPremiumCurrency,
            ...shared,
            total: toNumber(total(own, currency)),
            totalCurrency: currency,
          }
        }),
      }),
    ),
  }
}

const total = (totals: Totals, currency: CurrencyCode): Money =>
  plus(totals.premium, totalTaxes(totals, currency))

const gross = (totals: Totals, currency: CurrencyCode) => ({
  grossPremium: toNumber(totals.premium),
  grossPremiumCurrency: currency,
  grossTechnicalPremium: totals.technicalPremium && toNumber(totals.technicalPremium),
  grossTechnicalPremiumCurrency: currency,
  grossTaxes: toNumber(totalTaxes(totals, currency)),
  grossTaxesCurrency: currency,
  grossCommissions: toNumber(totalCommissions(totals, currency)),
  grossCommissionsCurrency: currency,
  taxGroups: [...totals.taxes].map(([name, amount]): TaxGroupResponse => named({ name }, amount)),
  commissions: [...totals.commissions].map(
    ([recipient, amount]): CommissionResponse => named({ recipient }, amount),
  ),
})

/** Holdbacks with the peril, tax or fee that they are of (brief 3.4). */
export const holdbackResponses = (
  { perilRuns, perils, fees }: PolicyAggregate,
  holdbacks: readonly Holdback[],
): HoldbackResponse[] =>
  holdbacks.map(one => ({
    ...named({ type: one.type }, one.amount),
    ...(one.type === 'fee'
      ? { feeName: fees.get(one.feeLocator)!.name }
      : { perilName: perils.get(perilRuns.get(one.perilRunLocator)!.perilLocator)!.name }),
    ...(one.type === 'tax' && { taxName: one.taxName }),
  }))

/** The same price as GET /policy/{policyLocator}/price shows it. */
export function getPolicyPriceResponse({
  total: totalDue,
  totalCurrency: totalDueCurrency,
  ...price
}: PolicyPriceResponse): GetPolicyPriceResponse {
  const exposures = price.exposurePrices
  return {
    ...price,
    totalDue,
    totalDueCurrency,
    premiumsByExposureLocator: Object.fromEntries(exposures.map(one => [one.locator, one.grossPremium])),
    premiumsByPerilLocator: Object.fromEntries(
      exposures.flatMap(one => one.perilPrices.map(peril => [peril.locator, peril.premium])),
    ),
  }
}
