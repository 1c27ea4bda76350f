// From what a rate calculation recorded to the amount of a run (brief 3.1). A yearly or monthly figure is
// scaled to the run's months and rounded once; the month rate that is kept has 7 places and is for display
// and later splits, so that a whole year costs exactly what the year was said to cost.
import Big from 'big.js'
import { type CurrencyCode, type Decimal, money, RATE_PLACES } from '../kernel/money.ts'
import type { RatedAmount } from '../policy/records/aggregate.ts'

/**
 * A recorded figure in major units; `exact` is for the run as it is, and charged where there is one. `added` comes
 * on top of a yearly or monthly figure, unscaled.
 */
export type RecordedRate = { yearly?: Decimal; monthly?: Decimal; exact?: Decimal; added?: Decimal }

const rateText = (rate: Decimal): string => rate.round(RATE_PLACES, Big.roundHalfUp).toFixed()

/** The amount over `months` (positive) and the month rate; undefined when nothing was recorded. */
export function scaled(
  { yearly, monthly, exact, added = new Big(0) }: RecordedRate,
  months: Decimal,
  currency: CurrencyCode,
): RatedAmount | undefined {
  const month = monthly ?? yearly?.div(12)
  if (exact) return { month: rateText(month ?? exact.div(months)), amount: money(exact, currency) }
  if (monthly) return { month: rateText(monthly), amount: money(monthly.times(months).plus(added), currency) }
  if (yearly && month)
    return { month: rateText(month), amount: money(yearly.times(months).div(12).plus(added), currency) }
  return undefined
}
