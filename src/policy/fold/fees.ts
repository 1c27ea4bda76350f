// A fee as the line of modifications left it.

import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, type Money, plus, sum } from '../../kernel/money.ts'
import type { Fee, FeePart, Holdback, PolicyAggregate, Quote } from '../records/aggregate.ts'
import { type Line, lineOf } from './line.ts'

/** A fee at the end of the line. */
export type FeeInForce = {
  readonly fee: Fee
  readonly amount: Money
  readonly reversed: boolean
  /** In the order of time. */
  readonly parts: readonly FeePart[]
}

export function feeInForce(fee: Fee, line: Line): FeeInForce {
  const last = fee.changes.findLast(({ by }) => line.some(step => step.modification.locator === by))
  const { start, end, amount } = fee
  const parts = last ? joined(last.parts) : [{ start, end, amount }]
  return {
    fee,
    amount: sum(
      parts.map(part => part.amount),
      amount.currency,
    ),
    reversed: parts.length === 0,
    parts,
  }
}

/**
 * The parts, those that adjoin as one. A reinstatement that leaves no gap then leaves no trace in later shares: the next
 * cancellation works its share out from the whole fee.
 */
function joined(parts: readonly FeePart[]): FeePart[] {
  const whole: FeePart[] = []
  for (const part of parts) {
    const last = whole.at(-1)
    if (last?.end === part.start)
      whole[whole.length - 1] = { ...last, end: part.end, amount: plus(last.amount, part.amount) }
    else whole.push(part)
  }
  return whole
}

/** The fees of the line's modifications, at its end. */
export const feesOf = (
  aggregate: PolicyAggregate,
  quote: Quote,
  line: Line = lineOf(aggregate, quote),
): FeeInForce[] => {
  const counted = new Set(line.map(step => step.modification.locator))
  return [...aggregate.fees.values()]
    .filter(fee => fee.quoteLocator === quote.locator && counted.has(fee.madeBy))
    .map(fee => feeInForce(fee, line))
}

/** The total of the fees; reversed ones count nothing. */
export const feeTotal = (fees: readonly FeeInForce[], currency: Money['currency']): Money =>
  sum(
    fees.filter(one => !one.reversed).map(one => one.amount),
    currency,
  )

/** Whether someone took the fee back, rather than a cancellation. */
export const isReversedByHand = ({ modifications }: PolicyAggregate, { changes }: Fee): boolean =>
  changes.some(change => modifications.get(change.by)?.kind === 'feeUpdate')

// What cancellations kept of what they gave back: it stands until the cancellation is reinstated, or the
// policy withdrawn (brief 1.6, 3.2).
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

/** The part that the policyholder pays: commissions are outside it and all totals (brief 3.4). */
export const holdbackTotal = (holdbacks: readonly Holdback[], currency: CurrencyCode): Money =>
  sum(
    holdbacks.filter(one => one.type !== 'commission').map(one => one.amount),
    currency,
  )
