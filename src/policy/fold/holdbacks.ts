// What cancellations kept of what they gave back: it stands until the cancellation is reinstated, or the
// policy withdrawn (brief 1.6, 3.2).
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, type Money, sum } from '../../kernel/money.ts'
import type { Holdback } from '../records/aggregate.ts'
import type { Line } from './line.ts'

/** The holdbacks that stand at the end of the line, in the order in which they were kept. */
export function holdbacksInForce(line: Line): Holdback[] {
  const held = new Map<Uuid, readonly Holdback[]>()
  for (const { modification } of line) {
    const { kind, locator, undoes, holdbacks } = modification
    if (kind === 'withdrawal') held.clear()
    if (undoes) held.delete(undoes)
    if (holdbacks) held.set(locator, holdbacks)
  }
  return [...held.values()].flat()
}

/** What the policyholder pays of them: commissions are outside it, as they are outside all totals (brief 3.4). */
export const holdbackTotal = (holdbacks: readonly Holdback[], currency: CurrencyCode): Money =>
  sum(
    holdbacks.filter(one => one.type !== 'commission').map(one => one.amount),
    currency,
  )
