import { fromMinor, type Money } from '../../kernel/money.ts'

/**
 * Splits amounts into parts that are to one another as the weights, and add up to the amount exactly. Parts are
 * whole minor units, rounded half-up; equal weights have equal parts; what rounding leaves is on the last part
 * that has a weight (brief 4.2). Where rounding up took more than there is (7 cents in 12 parts), every part is
 * rounded down instead, so that no part ever has the other sign. A part without weight is zero.
 *
 * Amounts of issued invoices are derived by this formula whenever they are read: it may never change.
 *
 * Weights are not negative and at least one is positive; `RangeError` otherwise.
 */
export function splitBy(weights: readonly bigint[]): (amount: Money) => Money[] {
  const last = weights.findLastIndex(weight => weight > 0n)
  if (last < 0 || weights.some(weight => weight < 0n))
    throw new RangeError('Weights are 0 or more, one above.')
  const before = weights.slice(0, last)
  let total = 0n
  for (const weight of weights) total += weight
  return ({ minor, currency }) => {
    const whole = BigInt(Math.abs(minor))
    const halfUp = (weight: bigint): bigint => (2n * whole * weight + total) / (2n * total)
    const down = (weight: bigint): bigint => (whole * weight) / total
    let parts = partsOf(before, halfUp)
    let rest = remainder(minor, parts)
    if (rest < 0) {
      parts = partsOf(before, down)
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

/** Neighbours nearly always weigh the same; their division is done once. */
function partsOf(weights: readonly bigint[], share: (weight: bigint) => bigint): number[] {
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
