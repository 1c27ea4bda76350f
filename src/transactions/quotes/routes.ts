import { z } from '@hono/zod-openapi'
import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText, type Route, tenantRoute } from '../../platform/http/route.ts'
import { PolicyPriceResponse, UnderwritingDecisionRequest } from '../../policy/contract/prices.ts'
import { referralBy } from '../../rating/rate.ts'
import { PolicyQuotePatch, PolicyQuoteResponse, PolicyQuoteUpdateRequest } from './contract-quote.ts'
import type { QuoteOperation } from './decision.ts'
import { operateQuote, quoteLocator, quotesOf, readQuote, readQuotePrice } from './service.ts'

const tags = ['Quotes']
const quote = { schema: PolicyQuoteResponse, description: 'The quote.' }
const price = { schema: PolicyPriceResponse, description: 'The price of the whole term.' }

const act = async (context: RequestContext, locator: string, operation: QuoteOperation): Promise<JsonText> =>
  jsonText(await operateQuote(context, quoteLocator(locator), operation))

export const quoteRoutes: readonly Route[] = [
  tenantRoute({
    method: 'get',
    path: '/policies/{policyLocator}/quotes',
    summary: 'Quotes of a policy, oldest first',
    tags,
    permission: ['quotes.read', 'quotes.list'],
    answer: { schema: z.array(PolicyQuoteResponse), description: 'All its quotes, discarded ones too.' },
    handle: ({ params }, context) => quotesOf(context, params.policyLocator),
  }),
  tenantRoute({
    method: 'get',
    path: '/quotes/{quoteLocator}',
    summary: 'Get a quote',
    tags,
    permission: 'quotes.read',
    answer: quote,
    handle: ({ params }, context) => readQuote(context, quoteLocator(params.quoteLocator)),
  }),
  tenantRoute({
    method: 'patch',
    path: '/quotes/{quoteLocator}',
    summary: 'Update a draft quote',
    tags,
    permission: 'quotes.write',
    body: { schema: PolicyQuotePatch, required: true },
    answer: quote,
    handle: ({ params, body }, context) =>
      act(context, params.quoteLocator, { action: 'update', request: body }),
  }),
  tenantRoute({
    method: 'post',
    path: '/quotes/{quoteLocator}/createNew',
    summary: 'Copy a quote, with changes',
    description:
      'Exposures and perils of the copy have locators of their own; changes name those of the original.',
    tags,
    permission: 'quotes.write',
    body: { schema: PolicyQuoteUpdateRequest, required: false },
    answer: quote,
    handle: ({ params, body }, context) =>
      act(context, params.quoteLocator, {
        action: 'copy',
        request: body ?? PolicyQuoteUpdateRequest.parse({}),
      }),
  }),
  tenantRoute({
    method: 'patch',
    path: '/quotes/{quoteLocator}/select',
    summary: 'Make a quote the one that its policy shows',
    tags,
    permission: 'quotes.write',
    answer: { description: 'Selected.' },
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'select' }),
  }),
  tenantRoute({
    method: 'patch',
    path: '/quotes/{quoteLocator}/quote',
    summary: 'Price, underwrite and lock a quote',
    tags,
    permission: ['quotes.write', 'quotes.price'],
    answer: price,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'quote' }),
  }),
  tenantRoute({
    method: 'get',
    path: '/quotes/{quoteLocator}/price',
    summary: 'Price of a quote that is quoted',
    tags,
    permission: 'quotes.read',
    answer: price,
    handle: ({ params }, context) => readQuotePrice(context, quoteLocator(params.quoteLocator)),
  }),
  tenantRoute({
    method: 'patch',
    path: '/quotes/{quoteLocator}/accept',
    summary: 'Accept a quote; it becomes the selected one',
    tags,
    permission: ['quotes.write', 'quotes.accept'],
    answer: quote,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'accept' }),
  }),
  tenantRoute({
    method: 'patch',
    path: '/quotes/{quoteLocator}/invalidate',
    summary: 'Take back the acceptance of a quote',
    tags,
    permission: ['quotes.write', 'quotes.accept'],
    answer: quote,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'invalidate' }),
  }),
  tenantRoute({
    method: 'patch',
    path: '/quotes/{quoteLocator}/discard',
    summary: 'Discard a quote',
    description:
      'One in draft, quoted or declined. Discarding the selected quote leaves the policy following none: it shows no segments, exposures and modifications, and everything that needs a quote answers 409 until another one is selected or accepted.',
    tags,
    permission: ['quotes.write', 'quotes.discard'],
    answer: quote,
    handle: ({ params }, context) => act(context, params.quoteLocator, { action: 'discard' }),
  }),
  tenantRoute({
    method: 'post',
    path: '/quotes/{quoteLocator}/underwriting',
    summary: "Put a person's decision in place of underwriting's",
    tags,
    permission: 'quotes.underwrite',
    body: { schema: UnderwritingDecisionRequest, required: true },
    answer: quote,
    handle: ({ params, body }, context) =>
      act(context, params.quoteLocator, { action: 'refer', ...referralBy(context, body) }),
  }),
]
