// Prices of a whole term: sums of amounts that are already rounded, never rounded again (brief 3.1, 3.4).
import { type CurrencyCode, type Money, plus, sum, toNumber } from '../platform/money.ts'
import type { Commission, Fee, PerilPrice, PolicyAggregate, Quote, Tax } from '../policies/aggregate.ts'
import { quoteParts } from '../policies/quote-parts.ts'
import type {
  CommissionResponse,
  FeeResponse,
  GetExposurePriceResponse,
  GetPerilPriceResponse,
  GetPolicyPriceResponse,
  PolicyPriceResponse,
  TaxGroupResponse,
} from './contract.ts'

/** What a set of perils costs. `technicalPremium` only if every peril has one. */
type Totals = {
  premium: Money
  technicalPremium: Money | undefined
  taxes: Tax[]
  commissions: Commission[]
}

function totals(prices: readonly PerilPrice[], currency: CurrencyCode): Totals {
  const technical = prices.map(price => price.technicalPremium)
  return {
    premium: sum(
      prices.map(price => price.premium.amount),
      currency,
    ),
    technicalPremium:
      prices.length > 0 && technical.every(amount => amount !== undefined)
        ? sum(
            technical.map(rated => rated.amount),
            currency,
          )
        : undefined,
    taxes: prices.flatMap(price => price.taxes),
    commissions: prices.flatMap(price => price.commissions),
  }
}

function summedBy<T extends { amount: Money }>(
  items: readonly T[],
  name: (item: T) => string,
): [string, Money][] {
  const sums = new Map<string, Money>()
  for (const item of items) {
    const earlier = sums.get(name(item))
    sums.set(name(item), earlier ? plus(earlier, item.amount) : item.amount)
  }
  return [...sums]
}

/** Taxes summed by name. */
export const taxGroupResponses = (taxes: readonly Tax[], currency: CurrencyCode): TaxGroupResponse[] =>
  summedBy(taxes, tax => tax.name).map(([name, amount]) => ({
    name,
    amount: toNumber(amount),
    amountCurrency: currency,
  }))

const commissionResponses = (
  commissions: readonly Commission[],
  currency: CurrencyCode,
): CommissionResponse[] =>
  summedBy(commissions, commission => commission.recipient).map(([recipient, amount]) => ({
    recipient,
    amount: toNumber(amount),
    amountCurrency: currency,
  }))

function amounts({ premium, technicalPremium, taxes, commissions }: Totals, currency: CurrencyCode) {
  const grossTaxes = sum(
    taxes.map(tax => tax.amount),
    currency,
  )
  return {
    premium,
    technicalPremium: technicalPremium && toNumber(technicalPremium),
    grossTaxes,
    total: plus(premium, grossTaxes),
    shared: {
      grossTaxes: toNumber(grossTaxes),
      grossTaxesCurrency: currency,
      grossCommissions: toNumber(
        sum(
          commissions.map(commission => commission.amount),
          currency,
        ),
      ),
      grossCommissionsCurrency: currency,
      totalCurrency: currency,
      taxGroups: taxGroupResponses(taxes, currency),
      commissions: commissionResponses(commissions, currency),
    },
  }
}

/** The price of a quote whose perils and fees are priced, for its whole term. */
export function policyPriceResponse(
  aggregate: PolicyAggregate,
  quote: Quote,
  feeResponse: (fee: Fee) => FeeResponse,
): PolicyPriceResponse {
  const { currency } = aggregate.policy
  const { exposures, perilRuns } = quoteParts(aggregate, quote)
  const perilPrices = new Map<string, GetPerilPriceResponse[]>()
  const pricesOf = new Map<string, PerilPrice[]>()
  for (const { perilLocator, price } of perilRuns) {
    const peril = aggregate.perils.get(perilLocator)
    if (!peril || !price) continue
    const one = amounts(totals([price], currency), currency)
    push(pricesOf, peril.exposureLocator, price)
    push(perilPrices, peril.exposureLocator, {
      locator: peril.locator,
      name: peril.name,
      premium: toNumber(one.premium),
      premiumCurrency: currency,
      technicalPremium: one.technicalPremium,
      technicalPremiumCurrency: currency,
      total: toNumber(one.total),
      ...one.shared,
    })
  }
  const exposurePrices = exposures.map((exposure): GetExposurePriceResponse => {
    const one = amounts(totals(pricesOf.get(exposure.locator) ?? [], currency), currency)
    return {
      locator: exposure.locator,
      name: exposure.name,
      ...grossOf(one, currency),
      total: toNumber(one.total),
      perilPrices: perilPrices.get(exposure.locator) ?? [],
    }
  })
  const all = amounts(totals([...pricesOf.values()].flat(), currency), currency)
  const fees = [...aggregate.fees.values()].filter(fee => fee.quoteLocator === quote.locator)
  const grossFees = sum(
    fees.filter(fee => !fee.reversed).map(fee => fee.amount),
    currency,
  )
  return {
    ...grossOf(all, currency),
    grossFees: toNumber(grossFees),
    grossFeesCurrency: currency,
    total: toNumber(plus(all.total, grossFees)),
    fees: fees.map(feeResponse),
    holdbacks: [],
    exposurePrices,
  }
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

const grossOf = (
  { premium, technicalPremium, shared }: ReturnType<typeof amounts>,
  currency: CurrencyCode,
) => ({
  grossPremium: toNumber(premium),
  grossPremiumCurrency: currency,
  grossTechnicalPremium: technicalPremium,
  grossTechnicalPremiumCurrency: currency,
  ...shared,
})

/** The same price as GET /policy/{policyLocator}/price shows it. */
export function getPolicyPriceResponse({
  total,
  totalCurrency,
  ...price
}: PolicyPriceResponse): GetPolicyPriceResponse {
  const exposures = price.exposurePrices
  return {
    ...price,
    totalDue: total,
    totalDueCurrency: totalCurrency,
    premiumsByExposureLocator: Object.fromEntries(exposures.map(one => [one.locator, one.grossPremium])),
    premiumsByPerilLocator: Object.fromEntries(
      exposures.flatMap(one => one.perilPrices.map(peril => [peril.locator, peril.premium])),
    ),
  }
}
