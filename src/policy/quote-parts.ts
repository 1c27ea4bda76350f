import type { Uuid } from '../kernel/locators.ts'
import type { PolicyAggregate, Quote } from './records/aggregate.ts'

/** What belongs to one quote of new business: its modification and everything that made. */
export function quoteParts(aggregate: PolicyAggregate, quote: Quote) {
  const modification = [...aggregate.modifications.values()].find(one => one.quoteLocator === quote.locator)
  const segment = [...aggregate.segments.values()].find(one => one.madeBy === modification?.locator)
  if (!modification || !segment) throw new Error(`Quote ${quote.locator} has no modification or segment.`)
  const byQuote = (run: { madeBy: Uuid }): boolean => run.madeBy === modification.locator
  return {
    modification,
    segment,
    exposures: [...aggregate.exposures.values()].filter(one => one.quoteLocator === quote.locator),
    exposureRuns: [...aggregate.exposureRuns.values()].filter(byQuote),
    perilRuns: [...aggregate.perilRuns.values()].filter(byQuote),
  }
}
