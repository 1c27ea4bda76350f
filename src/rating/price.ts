// The price of a whole term as answers show it. Total = premium + taxes + fees, and what cancellations hold back;
// commissions are outside it (brief 3.4).
import { type CurrencyCode, type Money, plus, sum, toNumber, zero } from '../kernel/money.ts'
import type {
  CommissionResponse,
  GetExposurePriceResponse,
  GetPolicyPriceResponse,
  HoldbackResponse,
  PolicyPriceResponse,
  TaxGroupResponse,
} from '../policy/contract/prices.ts'
import { feesOf, feeTotal, holdbacksInForce, holdbackTotal } from '../policy/fold/line.ts'
import { inForce } from '../policy/fold/pieces.ts'
import { feeResponse, named } from '../policy/projection/characteristics.ts'
import type { PerilView, PolicyView } from '../policy/projection/policy.ts'
import type { Holdback, PolicyAggregate } from '../policy/records/aggregate.ts'

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

// What perils cost at the end of a line: sums of amounts that are already rounded, never rounded again (brief 3.1).
/** Sums over perils; taxes and commissions by name. `technicalPremium` only if every peril has one. */
export type Totals = {
  readonly premium: Money
  readonly technicalPremium: Money | undefined
  readonly taxes: ReadonlyMap<string, Money>
  readonly commissions: ReadonlyMap<string, Money>
}

export const noTotals = (currency: CurrencyCode): Totals => ({
  premium: zero(currency),
  technicalPremium: undefined,
  taxes: new Map(),
  commissions: new Map(),
})

/** What the peril's pieces in force cost. */
export function perilTotals({ pieces }: PerilView, currency: CurrencyCode): Totals {
  const standing = new Set(inForce(pieces.map(one => one.piece)))
  const taxes = new Map<string, Money>()
  const commissions = new Map<string, Money>()
  const premiums: Money[] = []
  const technical: (Money | undefined)[] = []
  for (const { run, piece } of pieces) {
    if (!standing.has(piece) || !piece.amounts || !run.price) continue
    premiums.push(piece.amounts.premium)
    technical.push(piece.amounts.technicalPremium)
    for (const [at, tax] of run.price.taxes.entries()) add(taxes, tax.name, piece.amounts.taxes[at]!)
    for (const [at, one] of run.price.commissions.entries())
      add(commissions, one.recipient, piece.amounts.commissions[at]!)
  }
  return {
    premium: sum(premiums, currency),
    technicalPremium: allOf(technical, currency),
    taxes,
    commissions,
  }
}

/** The sum of totals. */
export function sumTotals(list: readonly Totals[], currency: CurrencyCode): Totals {
  const taxes = new Map<string, Money>()
  const commissions = new Map<string, Money>()
  for (const totals of list) {
    for (const [name, amount] of totals.taxes) add(taxes, name, amount)
    for (const [name, amount] of totals.commissions) add(commissions, name, amount)
  }
  return {
    premium: sum(
      list.map(totals => totals.premium),
      currency,
    ),
    technicalPremium: allOf(
      list.map(totals => totals.technicalPremium),
      currency,
    ),
    taxes,
    commissions,
  }
}

function add(sums: Map<string, Money>, name: string, amount: Money): void {
  const earlier = sums.get(name)
  sums.set(name, earlier ? plus(earlier, amount) : amount)
}

const allOf = (amounts: readonly (Money | undefined)[], currency: CurrencyCode): Money | undefined =>
  amounts.length > 0 && amounts.every(amount => amount !== undefined) ? sum(amounts, currency) : undefined

export const totalTaxes = (totals: Totals, currency: CurrencyCode): Money =>
  sum(totals.taxes.values(), currency)

export const totalCommissions = (totals: Totals, currency: CurrencyCode): Money =>
  sum(totals.commissions.values(), currency)
