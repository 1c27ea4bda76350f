import { type Money, minus, sum } from '../../kernel/money.ts'
import type { Modification, PolicyAggregate, Quote } from '../records/aggregate.ts'
import { isIssued, type Line, lineOf, type Step, withIssued } from './line.ts'
import { inForce, type Piece, piecesOf, reaches } from './pieces.ts'

/** The premium in force at the end of the line. */
function premiumOf(aggregate: PolicyAggregate, line: Line): Money {
  const makers = new Set(line.map(step => step.modification.locator))
  const { currency, timeZone } = aggregate.policy
  const pieces = [...aggregate.perilRuns.values()]
    .filter(run => makers.has(run.madeBy))
    .flatMap(run => inForce(piecesOf(run, line, timeZone)))
  return premiumIn(pieces, currency)
}

/** What the modification, the last of the line, adds to the premium in force or takes from it. */
export function premiumChangeOf(aggregate: PolicyAggregate, quote: Quote, modification: Modification): Money {
  const by = modification.locator
  const line = lineOf(aggregate, quote, withIssued(by))
  const last = line.at(-1)
  if (last?.modification.locator === by) return premiumChangeOfLast(aggregate, line, last)
  const without = lineOf(aggregate, quote, one => one !== modification && isIssued(one))
  return minus(premiumOf(aggregate, line), premiumOf(aggregate, without))
}

/** The same of the last step: its pieces that are in force, less those that it replaced. Nothing else of a run changes. */
function premiumChangeOfLast({ perilRuns, policy }: PolicyAggregate, line: Line, last: Step): Money {
  const by = last.modification.locator
  const makers = new Set(line.map(step => step.modification.locator))
  const changed = [...perilRuns.values()]
    .filter(run => makers.has(run.madeBy) && reaches(last, run))
    .flatMap(run => piecesOf(run, line, policy.timeZone))
  const added = changed.filter(piece => piece.madeBy === by && piece.replacedBy === undefined)
  const gone = changed.filter(piece => piece.madeBy !== by && piece.replacedBy === by)
  return minus(premiumIn(added, policy.currency), premiumIn(gone, policy.currency))
}

const premiumIn = (pieces: readonly Piece[], currency: Money['currency']): Money =>
  sum(
    pieces.flatMap(piece => (piece.amounts ? [piece.amounts.premium] : [])),
    currency,
  )
