// Quotes of a policy that is not issued, as a kind of operation.
import type { QuoteLocator } from '../../kernel/locators.ts'
import { quoteOf } from '../../policy/records/transactions.ts'
import { defineKind, type Response, showNothing, showRecord } from '../mechanism/kind.ts'
import { decideQuote, type QuoteOperation } from './decision.ts'
import { QUOTES, quotePrice } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** An action on one of the policy's quotes. */
    quote: { quote: QuoteLocator; operation: QuoteOperation }
  }
}

const showPrice =
  (locator: QuoteLocator): Response =>
  ({ aggregate, product }) =>
    quotePrice(aggregate, quoteOf(aggregate, locator), product)

export const quoteKind = defineKind<'quote'>({
  name: 'quote',
  record: ({ quote }) => showRecord(QUOTES, quote),
  async decide(loaded, { quote: locator, operation }, { attempt }) {
    const { planned, quote } = await decideQuote(loaded, locator, operation, attempt)
    return { planned, response: responseTo(operation, quote), subject: String(quote) }
  },
})

function responseTo({ action }: QuoteOperation, quote: QuoteLocator): Response {
  if (action === 'select') return showNothing
  return action === 'quote' ? showPrice(quote) : showRecord(QUOTES, quote)
}
