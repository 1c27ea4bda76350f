// Counts months one by one, for the naive model.
import Big from 'big.js'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'

const known = new Map<string, Big>()

/** Whole months, counted one by one, plus the share of the next month in milliseconds, to 7 decimal places (brief 3.1). */
export function monthsBetween(from: Instant, to: Instant, zone: TimeZone): Big {
  const key = `${from} ${to} ${zone}`
  const months = known.get(key) ?? monthsWalked(from, to, zone)
  known.set(key, months)
  return months
}

function monthsWalked(from: Instant, to: Instant, zone: TimeZone): Big {
  let count = 0
  while (add(from, count + 1, 'month', zone) <= to) count += 1
  const reached = add(from, count, 'month', zone)
  const next = add(from, count + 1, 'month', zone)
  return new Big(to - reached)
    .div(next - reached)
    .plus(count)
    .round(7, Big.roundHalfUp)
}
