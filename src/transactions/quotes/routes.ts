import { z } from '@hono/zod-openapi'
import type { RequestContext } from '../../platform/context.ts'
import { forTenant, type ReadyAnswer, type Route } from '../../platform/http/route.ts'
import { PolicyPriceResponse, UnderwritingDecisionRequest } from '../../policy/contract/billing.ts'
import { ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import { referralBy } from '../../rating/rate.ts'
import { recordService } from '../policies/service.ts'
import { PolicyQuotePatch, PolicyQuoteResponse, PolicyQuoteUpdateRequest } from './contract-quote.ts'
import type { QuoteOperation } from './decision.ts'
import { isPriced, notPriced, QUOTES, quotePrice } from './projection.ts'

const { get, patch, post } = forTenant('Quotes')
const quote = { schema: PolicyQuoteResponse, description: 'The quote.' }
const price = { schema: PolicyPriceResponse, description: 'The price of the whole term.' }

const quotes = recordService(QUOTES)

const act = (context: RequestContext, text: string, operation: QuoteOperation): Promise<ReadyAnswer> =>
  quotes.act(
    context,
    text,
    locator => ({ kind: 'quote', quote: locator, operation }),
    operation.action === 'quote' ? readPrice : quotes.read,
  )

/** Reads the price that was stored when the quote was quoted, in one round trip. Responds with 409 before that. */
async function readPrice(context: RequestContext, text: string): Promise<PolicyPriceResponse> {
  const { loaded, record: quote } = await quotes.load(context, text)
  const { aggregate, product } = loaded
  if (!isPriced(aggregate, quote)) throw notPriced(quote)
  return quotePrice(aggregate, quote, product)
}

export const quoteRoutes: readonly Route[] = [
  get('/policies/{policyLocator}/quotes', {
    summary: 'List the quotes of a policy, oldest first',
    permission: ['quotes.read', 'quotes.list'],
    answer: {
      schema: z.array(PolicyQuoteResponse),
      description: 'All quotes of the policy, including discarded ones.',
    },
    handle: ({ params }, context) => quotes.list(context, params.policyLocator),
  }),
  get('/quotes/{quoteLocator}', {
    summary: 'Get a quote',
    permission: 'quotes.read',
    answer: quote,
    handle: ({ params }, context) => quotes.read(context, params.quoteLocator),
  }),
  patch('/quotes/{quoteLocator}', {
    summary: 'Update a draft quote',
    permission: 'quotes.write',
    body: { schema: PolicyQuotePatch, required: true },
    answer: quote,
    handle: ({ params, body }, context) =>
      act(context, params.quoteLocator, { action: 'update', request: body }),
  }),
  post('/quotes/{quoteLocator}/createNew', {
    summary: 'Copy a quote, with changes',
    description:
      'Exposures and perils of the copy get new locators. Changes in the request use the locators of the original.',
    permission: 'quotes.write',
    body: { schema: PolicyQuoteUpdateRequest, required: false },
    answer: quote,
    handle: ({ params, body }, context) =>
      act(context, params.quoteLocator, {
        action: 'copy',
        request: body ?? PolicyQuoteUpdateRequest.parse({}),
      }),
  }),
  patch('/quotes/{quoteLocator}/select', {
    summary: 'Select the quote that the policy follows',
    permission: 'quotes.write',
    answer: { description: 'Selected.' },
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'select' }),
  }),
  patch('/quotes/{quoteLocator}/quote', {
    summary: 'Price, underwrite and lock a quote',
    permission: ['quotes.write', 'quotes.price'],
    answer: price,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'quote' }),
  }),
  get('/quotes/{quoteLocator}/price', {
    summary: 'Get the price of a quote',
    description:
      'Available once the quote was priced, even if it was then declined, accepted or discarded. A quote that was never priced is answered with 409.',
    permission: 'quotes.read',
    query: ExplainQuery,
    answer: price,
    handle: ({ params, query }, context) =>
      query.explain
        ? quotes.act(context, params.quoteLocator, quote => ({
            kind: 'price',
            due: false,
            quote,
            ...explainOf(query),
          }))
        : readPrice(context, params.quoteLocator),
  }),
  patch('/quotes/{quoteLocator}/accept', {
    summary: 'Accept a quote, which also selects it',
    permission: ['quotes.write', 'quotes.accept'],
    answer: quote,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'accept' }),
  }),
  patch('/quotes/{quoteLocator}/invalidate', {
    summary: 'Reverse the acceptance of a quote',
    permission: ['quotes.write', 'quotes.accept'],
    answer: quote,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'invalidate' }),
  }),
  patch('/quotes/{quoteLocator}/discard', {
    summary: 'Discard a quote',
    description:
      'The quote must be a draft, quoted or declined. If the selected quote is discarded, the policy follows no quote: it shows no segments, exposures or modifications, and every request that needs a quote is answered with 409 until another quote is selected or accepted.',
    permission: ['quotes.write', 'quotes.discard'],
    answer: quote,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'discard' }),
  }),
  post('/quotes/{quoteLocator}/underwriting', {
    summary: "Replace the underwriting decision on a quote with a person's decision",
    permission: 'quotes.underwrite',
    body: { schema: UnderwritingDecisionRequest, required: true },
    answer: quote,
    handle: ({ params, body }, context) =>
      act(context, params.quoteLocator, { action: 'refer', ...referralBy(context, body) }),
  }),
]
