// The amount of a run, from the rates that were recorded for it.
import Big from 'big.js'
import { type CurrencyCode, type Decimal, money, RATE_PLACES } from '../kernel/money.ts'
import type { RatedAmount } from '../policy/records/aggregate.ts'
import type { RatingEffects } from '../product/templates/effects.ts'

/** The rates recorded for a run. Taxes are not among them, because they always come from templates. */
export type RecordedRates = Pick<RatingEffects, 'premium' | 'technicalPremium' | 'commissions'>

// The amount of a run (brief 3.1): a yearly or monthly rate is scaled to the run's months and rounded once. The stored month rate,
// which has 7 places for display and later splits, is not used for it, so a whole year costs exactly its yearly rate.
/** In major units. `exact` is for the run itself and takes precedence. `added` is added, unscaled, to a yearly or monthly rate. */
export type RecordedRate = { yearly?: Decimal; monthly?: Decimal; exact?: Decimal; added?: Decimal }

const rateText = (rate: Decimal): string => rate.round(RATE_PLACES, Big.roundHalfUp).toFixed()

/** A run of a tenth of a second has 0 months, and an exact amount has no rate over them. */
const exactMonth = (exact: Decimal, months: Decimal): Decimal => (months.eq(0) ? months : exact.div(months))

/** Returns the amount of a run and its month rate; undefined if nothing was recorded. */
export function scaleRate(
  { yearly, monthly, exact, added = new Big(0) }: RecordedRate,
  months: Decimal,
  currency: CurrencyCode,
): RatedAmount | undefined {
  const month = monthly ?? yearly?.div(12)
  if (exact) return { month: rateText(month ?? exactMonth(exact, months)), amount: money(exact, currency) }
  if (monthly) return { month: rateText(monthly), amount: money(monthly.times(months).plus(added), currency) }
  if (yearly && month)
    return { month: rateText(month), amount: money(yearly.times(months).div(12).plus(added), currency) }
  return undefined
}
