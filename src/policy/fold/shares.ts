// Proration (brief 3.2): the part before a split is amount × months(start, split) ÷ months(start, end), rounded. The part after the
// split is the remainder, so the parts add up.

import type { Uuid } from '../../kernel/locators.ts'
import { fromMinor, type Money, minus, plus, RATE_PLACES, zero } from '../../kernel/money.ts'
import { type Instant, months, type Span, type TimeZone } from '../../kernel/time.ts'
import {
  type Amounts,
  type Holdback,
  type PerilPrice,
  type PerilRun,
  type PolicyAggregate,
  type Proration,
  putRecords,
  type RunSplit,
} from '../records/aggregate.ts'

/** The length of a span in whole units: milliseconds, or ten-millionths of a month. Only ratios of lengths are used. */
export type Measure = (from: Instant, to: Instant) => number

/** Returns how the proration measures time: in milliseconds if it is linear, otherwise in months of the time zone. */
export const measureOf = (proration: Proration, timeZone: TimeZone): Measure =>
  proration === 'linear' ? (from, to) => to - from : (from, to) => monthsBetween(from, to, timeZone)

/** Maximum number of spans in the cache of months. */
const MOST_KNOWN = 2_000

/** Nested by zone, start and end. A combined text key would cost more than all other work on a span. */
const known = new Map<TimeZone, Map<Instant, Map<Instant, number>>>()
let stretches = 0

/** Caches `months`, which walks the calendar. The runs of a policy share few spans. */
function monthsBetween(from: Instant, to: Instant, timeZone: TimeZone): number {
  const found = known.get(timeZone)?.get(from)?.get(to)
  if (found !== undefined) return found
  const measured = Number(
    months(from, to, timeZone)
      .times(10 ** RATE_PLACES)
      .toFixed(),
  )
  if (stretches >= MOST_KNOWN) {
    known.clear()
    stretches = 0
  }
  stretches += 1
  const ofZone = known.get(timeZone) ?? new Map<Instant, Map<Instant, number>>()
  known.set(timeZone, ofZone)
  const fromHere = ofZone.get(from) ?? new Map<Instant, number>()
  ofZone.set(from, fromHere)
  fromHere.set(to, measured)
  return measured
}

/**
 * Returns the share `part` ÷ `whole` of an amount, rounded half-up; zero if `whole` is zero. Computes with whole numbers, which is
 * exact, and fast enough for the millions of shares of a large policy.
 */
export function portion({ minor, currency }: Money, part: number, whole: number): Money {
  if (whole === 0) return zero(currency)
  const dividend = 2 * Math.abs(minor) * part + whole
  const divisor = 2 * whole
  // Up to that size a double is exact, and so is the quotient of a dividend without remainder.
  const share = Number.isSafeInteger(dividend)
    ? (dividend - (dividend % divisor)) / divisor
    : Number((2n * BigInt(Math.abs(minor)) * BigInt(part) + BigInt(whole)) / BigInt(divisor))
  return fromMinor(Math.sign(minor) * share, currency)
}

/** Returns the stated part of the remaining amount that lies before a time; undefined if it is to be shared in proportion. */
type StatedShare = (at: Instant) => Money | undefined

/**
 * Shares an amount over `whole` among the parts, which lie within it and are ordered by time. Time between and after the parts gets
 * no share, so the shares may total less than the amount. A stated split takes precedence over proportion.
 */
export function shares(
  amount: Money,
  whole: Span,
  parts: readonly Span[],
  measure: Measure,
  stated: StatedShare = () => undefined,
): Money[] {
  let rest = amount
  let from = whole.start
  const takeShareUpTo = (to: Instant): Money => {
    const share =
      to >= whole.end ? rest : (stated(to) ?? portion(rest, measure(from, to), measure(from, whole.end)))
    rest = minus(rest, share)
    from = to
    return share
  }
  return parts.map(part => {
    if (part.start > from) takeShareUpTo(part.start)
    return takeShareUpTo(part.end)
  })
}

/** Returns the amounts of a peril over a span: premium, taxes and commissions, which are split and summed together. */
export const amountsOf = (price: PerilPrice): Amounts => ({
  premium: price.premium.amount,
  technicalPremium: price.technicalPremium?.amount,
  taxes: price.taxes.map(tax => tax.amount),
  commissions: price.commissions.map(commission => commission.amount),
})

/** Selects the same amount from other amounts of the same price. */
export type AmountOf = (of: Amounts) => Money

const premiumOf: AmountOf = of => of.premium
const technicalOf: AmountOf = of => of.technicalPremium!

/** Applies `change` to premium, technical premium, taxes and commissions, in this order. */
export const mapAmounts = (
  amounts: Amounts,
  change: (amount: Money, amountOf: AmountOf) => Money,
): Amounts => ({
  premium: change(amounts.premium, premiumOf),
  technicalPremium: amounts.technicalPremium && change(amounts.technicalPremium, technicalOf),
  taxes: amounts.taxes.map((tax, at) => change(tax, of => of.taxes[at]!)),
  commissions: amounts.commissions.map((commission, at) => change(commission, of => of.commissions[at]!)),
})

/** Divides amounts among parts. `split` divides one amount among the parts, in order. */
export function splitAmounts(
  amounts: Amounts,
  split: (amount: Money, amountOf: AmountOf) => Money[],
): Amounts[] {
  const premium = split(amounts.premium, premiumOf)
  const technical = amounts.technicalPremium && split(amounts.technicalPremium, technicalOf)
  const taxes = amounts.taxes.map((tax, at) => split(tax, of => of.taxes[at]!))
  const commissions = amounts.commissions.map((one, at) => split(one, of => of.commissions[at]!))
  return premium.map((part, at) => ({
    premium: part,
    technicalPremium: technical?.[at],
    taxes: taxes.map(parts => parts[at]!),
    commissions: commissions.map(parts => parts[at]!),
  }))
}

const combineAmounts = (a: Amounts, b: Amounts, join: (a: Money, b: Money) => Money): Amounts => ({
  premium: join(a.premium, b.premium),
  technicalPremium:
    a.technicalPremium && b.technicalPremium ? join(a.technicalPremium, b.technicalPremium) : undefined,
  taxes: a.taxes.map((tax, at) => join(tax, b.taxes[at]!)),
  commissions: a.commissions.map((commission, at) => join(commission, b.commissions[at]!)),
})

/** Both operands must be amounts of the same price. */
export const plusAmounts = (a: Amounts, b: Amounts): Amounts => combineAmounts(a, b, plus)
export const minusAmounts = (a: Amounts, b: Amounts): Amounts => combineAmounts(a, b, minus)

/**
 * Returns a function that splits amounts in proportion to the weights. The parts add up exactly. Each part is rounded half-up,
 * equal weights get equal parts, and the last part with a weight takes the rounding difference (brief 4.2). If rounding half-up
 * would exceed the amount (7 cents in 12 parts), every part is rounded down instead, so no part has the opposite sign. Parts
 * without weight are zero.
 *
 * Amounts of issued invoices are derived by this formula: never change it.
 *
 * Throws `RangeError` if a weight is negative or none is positive.
 */
export function splitBy(weights: readonly bigint[]): (amount: Money) => Money[] {
  const last = weights.findLastIndex(weight => weight > 0n)
  if (last < 0 || weights.some(weight => weight < 0n))
    throw new RangeError('Weights must be 0 or more, and at least one must be above 0.')
  const before = weights.slice(0, last)
  let total = 0n
  for (const weight of weights) total += weight
  return ({ minor, currency }) => {
    const whole = BigInt(Math.abs(minor))
    const roundHalfUp = (weight: bigint): bigint => (2n * whole * weight + total) / (2n * total)
    const roundDown = (weight: bigint): bigint => (whole * weight) / total
    let parts = sharesOfWeights(before, roundHalfUp)
    let rest = remainder(minor, parts)
    if (rest < 0) {
      parts = sharesOfWeights(before, roundDown)
      rest = remainder(minor, parts)
    }
    const sign = Math.sign(minor)
    const none = fromMinor(0, currency)
    const amounts = parts.map(part => fromMinor(sign * part, currency))
    amounts.push(fromMinor(sign * rest, currency))
    while (amounts.length < weights.length) amounts.push(none)
    return amounts
  }
}

/** Divides once for neighbouring equal weights, because most weights are equal. */
function sharesOfWeights(weights: readonly bigint[], share: (weight: bigint) => bigint): number[] {
  let previous = 0n
  let part = 0
  return weights.map(weight => {
    if (weight !== previous) {
      previous = weight
      part = Number(share(weight))
    }
    return part
  })
}

function remainder(minor: number, parts: readonly number[]): number {
  let rest = Math.abs(minor)
  for (const part of parts) rest -= part
  return rest
}

/**
 * A plugin's split of the amounts that a modification divides (brief 3.2, 5.6), before the modification has a locator. It is stored
 * on the runs and fees, and the fold uses it instead of its own shares.
 */
export type Prorated = {
  readonly runs: ReadonlyMap<Uuid, readonly Omit<RunSplit, 'by'>[]>
  /** By fee: the amount before the time at which the fee's part is split. */
  readonly fees: ReadonlyMap<Uuid, Money>
  /** Empty means no holdbacks. Undefined means that the plugin stated nothing about holdbacks. */
  readonly holdbacks: readonly Holdback[] | undefined
}

export const NOTHING_PRORATED: Prorated = { runs: new Map(), fees: new Map(), holdbacks: undefined }

/** Stores the stated splits on the runs, as facts of the modification. */
export function withSplits(
  aggregate: PolicyAggregate,
  prorated: Prorated | undefined,
  by: Uuid,
): PolicyAggregate {
  if (!prorated || prorated.runs.size === 0) return aggregate
  const runs = [...prorated.runs].map(([locator, splits]): PerilRun => {
    const run = aggregate.perilRuns.get(locator)!
    return { ...run, splits: [...(run.splits ?? []), ...splits.map(split => ({ ...split, by }))] }
  })
  return { ...aggregate, perilRuns: putRecords(aggregate.perilRuns, runs) }
}

/** Returns the splits that a plugin stated for a segment of the run; undefined if it stated none. */
export function splitsIn(
  { splits }: PerilRun,
  by: Uuid,
  segment: Uuid,
): ((at: Instant, amountOf: AmountOf) => Money | undefined) | undefined {
  const own = splits?.filter(split => split.by === by && split.segment === segment)
  if (!own || own.length === 0) return undefined
  return (at, amountOf) => {
    const split = own.find(one => one.at === at)
    return split && amountOf(split.before)
  }
}
