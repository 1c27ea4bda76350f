// The price of a run that continues without being rated: its share of the old price up to the policy's old end, and its month
// rates beyond it.
import Big from 'big.js'
import { type Decimal, type Money, money } from '../../kernel/money.ts'
import { months, type Span, type TimeZone } from '../../kernel/time.ts'
import type { Piece } from '../../policy/fold/pieces.ts'
import { measureOf, portion } from '../../policy/fold/shares.ts'
import type { PerilPrice, PerilRun, RatedAmount } from '../../policy/records/aggregate.ts'

/** The old price with the amounts of one piece of it. */
export const prorated = (price: PerilPrice | undefined, piece: Piece | undefined): PerilPrice | undefined =>
  price &&
  piece?.amounts && {
    premium: { ...price.premium, amount: piece.amounts.premium },
    technicalPremium:
      price.technicalPremium && piece.amounts.technicalPremium
        ? { ...price.technicalPremium, amount: piece.amounts.technicalPremium }
        : undefined,
    taxes: price.taxes.map((tax, at) => ({ ...tax, amount: piece.amounts!.taxes[at]! })),
    commissions: price.commissions.map((one, at) => ({ ...one, amount: piece.amounts!.commissions[at]! })),
  }

/**
 * What a run costs over a stretch that follows it: its month rates times the months (brief 3.1). A tax has no rate
 * of its own, so it grows as the months do (brief 3.2).
 */
export function extended(run: PerilRun, more: Span, timeZone: TimeZone): PerilPrice | undefined {
  if (!run.price) return undefined
  const { premium, technicalPremium, taxes, commissions } = run.price
  const added = months(more.start, more.end, timeZone)
  const measure = measureOf('monthly', timeZone)
  const grown = (amount: Money): Money =>
    portion(amount, measure(more.start, more.end), measure(run.start, run.end))
  return {
    premium: over(premium, added),
    technicalPremium: technicalPremium && over(technicalPremium, added),
    taxes: taxes.map(tax => ({ ...tax, amount: grown(tax.amount) })),
    commissions: commissions.map(one => ({ ...one, ...over(one, added) })),
  }
}

const over = ({ month, amount }: RatedAmount, count: Decimal): RatedAmount => ({
  month,
  amount: money(new Big(month).times(count), amount.currency),
})
