// Premium over the pieces of a line. Each run's pieces are looked at and let go: a large policy has more than memory holds.
import { type Money, minus, plus, zero } from '../../kernel/money.ts'
import type { Span } from '../../kernel/time.ts'
import type { Modification, PerilRun, PolicyAggregate, Quote } from '../records/aggregate.ts'
import { isIssued, type Line, lineOf, type Step, withIssued } from './line.ts'
import { type Piece, piecesOf } from './pieces.ts'

/** Whether the step can make or replace pieces of the run. */
export function reaches({ modification, made, replaced }: Step, run: PerilRun): boolean {
  const meets = ({ start, end }: Span): boolean => start < run.end && run.start < end
  return modification.locator === run.madeBy || made.some(meets) || replaced.some(meets)
}

/** How the modification, the last of the line, changes the premium in force. */
export function premiumChangeOf(aggregate: PolicyAggregate, quote: Quote, modification: Modification): Money {
  const by = modification.locator
  const line = lineOf(aggregate, quote, withIssued(by))
  const last = line.at(-1)
  if (last?.modification.locator === by) return premiumChangeOfLast(aggregate, line, last)
  const without = lineOf(aggregate, quote, one => one !== modification && isIssued(one))
  return minus(premiumOf(aggregate, line), premiumOf(aggregate, without))
}

/** Compares only pieces that the last step made or replaced: nothing else changes. */
function premiumChangeOfLast(aggregate: PolicyAggregate, line: Line, last: Step): Money {
  const by = last.modification.locator
  const { added, removed } = premiumsOf(
    aggregate,
    line,
    run => reaches(last, run),
    ({ madeBy, replacedBy }) =>
      madeBy === by ? replacedBy === undefined && 'added' : replacedBy === by && 'removed',
  )
  return minus(added, removed)
}

/** The total premium in force at the end of the line. */
const premiumOf = (aggregate: PolicyAggregate, line: Line): Money =>
  premiumsOf(
    aggregate,
    line,
    () => true,
    ({ replacedBy }) => replacedBy === undefined && 'added',
  ).added

function premiumsOf(
  { perilRuns, policy: { currency, timeZone } }: PolicyAggregate,
  line: Line,
  counts: (run: PerilRun) => boolean,
  sideOf: (piece: Piece) => 'added' | 'removed' | false,
): { readonly added: Money; readonly removed: Money } {
  const makers = new Set(line.map(step => step.modification.locator))
  const sums = { added: zero(currency), removed: zero(currency) }
  for (const run of perilRuns.values())
    if (makers.has(run.madeBy) && counts(run))
      for (const piece of piecesOf(run, line, timeZone)) {
        const side = sideOf(piece)
        if (side && piece.amounts) sums[side] = plus(sums[side], piece.amounts.premium)
      }
  return sums
}
