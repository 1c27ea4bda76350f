import { type Money, minus, sum } from '../../platform/money.ts'
import type { Modification, PolicyAggregate, Quote } from '../aggregate.ts'
import { type Counting, isIssued, type Line, lineOf, withIssued } from './line.ts'
import { inForce, piecesOf } from './pieces.ts'

/** The premium in force at the end of the line. */
function premiumOf(aggregate: PolicyAggregate, line: Line): Money {
  const makers = new Set(line.map(step => step.modification.locator))
  const { currency, timeZone } = aggregate.policy
  const pieces = [...aggregate.perilRuns.values()]
    .filter(run => makers.has(run.madeBy))
    .flatMap(run => inForce(piecesOf(run, line, timeZone)))
  return sum(
    pieces.flatMap(piece => (piece.amounts ? [piece.amounts.premium] : [])),
    currency,
  )
}

/** What the modification, the last of the line, adds to the premium in force or takes from it. */
export function premiumChangeOf(
  aggregate: PolicyAggregate,
  quote: Quote,
  modification: Modification,
  counts: Counting = isIssued,
): Money {
  const without = lineOf(aggregate, quote, one => one !== modification && counts(one))
  return minus(
    premiumOf(aggregate, lineOf(aggregate, quote, withIssued(modification.locator))),
    premiumOf(aggregate, without),
  )
}
