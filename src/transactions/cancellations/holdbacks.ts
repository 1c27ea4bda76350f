// A cancellation type may keep a part of the premium that its cancellations give back: short rates, as configuration
// (brief 3.2, 10.7). `holdback` in cancellations.json is `{ "amount": 50 }` or `{ "percent": 10 }`.

import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, decimal, type Money, money, sum, toDecimal } from '../../kernel/money.ts'
import { splitBy } from '../../policy/fold/shares.ts'
import type { Holdback } from '../../policy/records/aggregate.ts'
import type { HoldbackTerms } from '../../product/configuration.ts'

/**
 * What is kept of the premium that each run would give back: never more than that, rounded once, and shared out in
 * proportion to it.
 */
export function holdbacksOf(
  terms: HoldbackTerms,
  removed: ReadonlyMap<Uuid, Money>,
  currency: CurrencyCode,
): Holdback[] {
  const runs = [...removed].filter(([, premium]) => premium.minor > 0)
  if (runs.length === 0) return []
  const premiums = runs.map(([, premium]) => premium)
  const all = sum(premiums, currency)
  const asked =
    'percent' in terms
      ? money(toDecimal(all).times(terms.percent).div(100), currency)
      : money(decimal(terms.amount), currency)
  const kept = asked.minor < all.minor ? asked : all
  if (kept.minor === 0) return []
  const parts = splitBy(premiums.map(premium => BigInt(premium.minor)))(kept)
  return runs
    .map(([perilRunLocator], at): Holdback => ({ type: 'premium', perilRunLocator, amount: parts[at]! }))
    .filter(one => one.amount.minor !== 0)
}
