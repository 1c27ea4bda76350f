// What is left of a fee of which a transaction gives something back.
import { type Money, minus, zero } from '../../../kernel/money.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { FeePart } from '../../../policy/records/aggregate.ts'

/**
 * A fee's parts without an amount, which is taken from the last of them first. Where the cover ends at the time, what is left
 * of a part lies before it, as a live cancellation leaves it.
 */
export function shrunk(
  parts: readonly FeePart[],
  by: Money,
  from: Instant,
  isGap: boolean,
): { parts: FeePart[]; removed: FeePart[] } {
  const kept: FeePart[] = []
  const removed: FeePart[] = []
  let left = by
  for (const part of [...parts].reverse()) {
    const { start, end, amount } = part
    // Of what was given back as a fee of its own, nothing is to be taken.
    const own = amount.minor < 0 ? zero(amount.currency) : left.minor < amount.minor ? left : amount
    left = minus(left, own)
    const rest = minus(amount, own)
    const endsThere = isGap && start < from && from < end
    const isTaken = own.minor !== 0 || endsThere || (isGap && from <= start && amount.minor === 0)
    if (isTaken) removed.unshift({ start: endsThere ? from : start, end, amount: own })
    if (rest.minor !== 0 || endsThere || !isTaken)
      kept.unshift({ start, end: endsThere ? from : end, amount: rest })
  }
  return { parts: kept, removed }
}
