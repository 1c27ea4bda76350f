import { notFound } from '../../kernel/errors.ts'
import type { QuoteLocator } from '../../kernel/locators.ts'
import type { PolicyAggregate, Quote } from '../../policy/records/aggregate.ts'

/** The policy's quote of that locator; 404 when it has none. */
export function quoteOf({ quotes }: PolicyAggregate, locator: QuoteLocator): Quote {
  const quote = quotes.get(locator)
  if (!quote) throw notFound('quote', String(locator))
  return quote
}
