// Quotes of a policy that is not issued, as a kind of operation.
import type { QuoteLocator } from '../../kernel/locators.ts'
import { policyView } from '../../policy/projection/policy.ts'
import { quoteOf } from '../../policy/records/transactions.ts'
import { policyPriceResponse } from '../../rating/price.ts'
import { defineKind, type Response, showNothing } from '../mechanism/kind.ts'
import { decideQuote, type QuoteOperation } from './decision.ts'
import { quoteResponse } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** An action on one of the policy's quotes. */
    quote: { quote: QuoteLocator; operation: QuoteOperation }
  }
}

const showQuote =
  (locator: QuoteLocator): Response =>
  ({ aggregate, product }) =>
    quoteResponse(aggregate, quoteOf(aggregate, locator), product)

const showPrice =
  (locator: QuoteLocator): Response =>
  ({ aggregate, product }) =>
    policyPriceResponse(policyView(aggregate, quoteOf(aggregate, locator), product, () => false))

export const quoteKind = defineKind<'quote'>({
  name: 'quote',
  record: ({ quote }) => showQuote(quote),
  async decide(loaded, { quote: locator, operation }, { attempt }) {
    const { planned, quote } = await decideQuote(loaded, locator, operation, attempt)
    return { planned, response: responseTo(operation, quote), subject: String(quote) }
  },
})

function responseTo({ action }: QuoteOperation, quote: QuoteLocator): Response {
  if (action === 'select') return showNothing
  return action === 'quote' ? showPrice(quote) : showQuote(quote)
}
