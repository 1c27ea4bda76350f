// How an amount over a span is shared out when the span is split (brief 3.2): the part before a split is
// amount × months(start, split) ÷ months(start, end), rounded; the rest is what remains, so parts add up.
import type { Decimal } from '../../platform/money.ts'
import { decimal, type Money, minus, money, toDecimal, zero } from '../../platform/money.ts'
import { type Instant, months, type Span, type TimeZone } from '../../platform/time.ts'
import type { Proration } from '../aggregate.ts'

/** Measures a stretch of time; only ratios of two measures are used. */
export type Measure = (from: Instant, to: Instant) => Decimal

export const measureOf = (proration: Proration, timeZone: TimeZone): Measure =>
  proration === 'linear' ? (from, to) => decimal(to - from) : (from, to) => months(from, to, timeZone)

/** The part of an amount that belongs to `part` of `whole`, both measured. Zero when there is nothing to measure. */
export function portion(amount: Money, part: Decimal, whole: Decimal): Money {
  if (whole.eq(0)) return zero(amount.currency)
  return money(toDecimal(amount).times(part).div(whole), amount.currency)
}

/**
 * The shares of an amount over `whole` that the parts get, which lie within it in the order of time. What lies
 * between and after them is no one's: it is the difference to the amount.
 */
export function shares(amount: Money, whole: Span, parts: readonly Span[], measure: Measure): Money[] {
  let rest = amount
  let from = whole.start
  const taken = (to: Instant): Money => {
    const share = to >= whole.end ? rest : portion(rest, measure(from, to), measure(from, whole.end))
    rest = minus(rest, share)
    from = to
    return share
  }
  return parts.map(part => {
    if (part.start > from) taken(part.start)
    return taken(part.end)
  })
}
