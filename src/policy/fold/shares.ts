// How an amount over a span is shared out when the span is split (brief 3.2): the part before a split is
// amount × months(start, split) ÷ months(start, end), rounded; the rest is what remains, so parts add up.
import { fromMinor, type Money, minus, RATE_PLACES, zero } from '../../kernel/money.ts'
import { type Instant, months, type Span, type TimeZone } from '../../kernel/time.ts'
import type { Proration } from '../records/aggregate.ts'

/** Measures a stretch of time in whole units: milliseconds, or ten millionths of a month. Only ratios are used. */
export type Measure = (from: Instant, to: Instant) => bigint

export const measureOf = (proration: Proration, timeZone: TimeZone): Measure =>
  proration === 'linear' ? (from, to) => BigInt(to - from) : (from, to) => monthsBetween(from, to, timeZone)

/** Most stretches whose months are remembered. */
const MOST_KNOWN = 2_000

/** By zone and both ends: a text of the three would cost more than all else that is done with a stretch. */
const known = new Map<TimeZone, Map<Instant, Map<Instant, bigint>>>()
let stretches = 0

/** `months`, which walks the calendar: the runs of a policy share few stretches, and each is measured once. */
function monthsBetween(from: Instant, to: Instant, timeZone: TimeZone): bigint {
  const found = known.get(timeZone)?.get(from)?.get(to)
  if (found !== undefined) return found
  const measured = BigInt(
    months(from, to, timeZone)
      .times(10 ** RATE_PLACES)
      .toFixed(),
  )
  if (stretches >= MOST_KNOWN) {
    known.clear()
    stretches = 0
  }
  stretches += 1
  const ofZone = known.get(timeZone) ?? new Map<Instant, Map<Instant, bigint>>()
  known.set(timeZone, ofZone)
  const fromHere = ofZone.get(from) ?? new Map<Instant, bigint>()
  ofZone.set(from, fromHere)
  fromHere.set(to, measured)
  return measured
}

/**
 * The part of an amount that belongs to `part` of `whole`, both measured, rounded half-up. Zero when there is nothing to
 * measure. In whole numbers: exact, and a large policy has hundreds of thousands of them.
 */
export function portion({ minor, currency }: Money, part: bigint, whole: bigint): Money {
  if (whole === 0n) return zero(currency)
  const share = (2n * BigInt(Math.abs(minor)) * part + whole) / (2n * whole)
  return fromMinor(Math.sign(minor) * Number(share), currency)
}

/** What was said to lie before a time of what is left then; undefined where it is shared out in proportion. */
export type Told = (at: Instant) => Money | undefined

/**
 * The shares of an amount over `whole` that the parts get, which lie within it in the order of time. What lies
 * between and after them is no one's: it is the difference to the amount. What was said of a split counts.
 */
export function shares(
  amount: Money,
  whole: Span,
  parts: readonly Span[],
  measure: Measure,
  told: Told = () => undefined,
): Money[] {
  let rest = amount
  let from = whole.start
  const taken = (to: Instant): Money => {
    const share =
      to >= whole.end ? rest : (told(to) ?? portion(rest, measure(from, to), measure(from, whole.end)))
    rest = minus(rest, share)
    from = to
    return share
  }
  return parts.map(part => {
    if (part.start > from) taken(part.start)
    return taken(part.end)
  })
}
