// Premium over the pieces of a line. Reads the pieces of one run at a time and does not keep them: those of a large policy do not
// fit into memory.
import { type Money, minus, plus, zero } from '../../kernel/money.ts'
import type { Span } from '../../kernel/time.ts'
import type { Modification, PerilRun, PolicyAggregate, Quote } from '../records/aggregate.ts'
import { lineOf, type Step, withIssued } from './line.ts'
import { piecesOf } from './pieces.ts'

/** Whether the step can make or replace pieces of the run. */
export function mayChangeRun({ modification, made, replaced }: Step, run: PerilRun): boolean {
  const overlapsRun = ({ start, end }: Span): boolean => start < run.end && run.start < end
  return modification.locator === run.madeBy || made.some(overlapsRun) || replaced.some(overlapsRun)
}

/**
 * Returns how the modification, as the last of the line, changes the premium in force: the premium of the pieces that it made minus
 * that of the pieces that it replaced.
 */
export function premiumChangeOf(
  aggregate: PolicyAggregate,
  quote: Quote,
  { locator: by }: Modification,
): Money {
  const { currency, timeZone } = aggregate.policy
  const line = lineOf(aggregate, quote, withIssued(by))
  const last = line.at(-1)!
  let change = zero(currency)
  for (const run of aggregate.perilRuns.values())
    if (mayChangeRun(last, run))
      for (const { madeBy, replacedBy, amounts } of piecesOf(run, line, timeZone)) {
        if (madeBy === by && amounts) change = plus(change, amounts.premium)
        if (replacedBy === by && amounts) change = minus(change, amounts.premium)
      }
  return change
}
