import { forTenant, type Route } from '../../platform/http/route.ts'
import { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import { ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import { constraintRoutesOf } from '../../transactions/constraints/routes.ts'
import { QuickQuoteResponse } from './contract.ts'

const { get, post } = forTenant('Quick quotes')
const quickQuote = { schema: QuickQuoteResponse, description: 'The quick quote with its price.' }

// Loaded on first use, because start-up does not need the code of rules and rating.
const service = () => import('./service.ts')

export const quickQuoteRoutes: readonly Route[] = [
  post('/policy/{tenantLocator}/quickquotes', {
    summary: 'Price a policy without creating it',
    description:
      'Accepts the request that creates a policy; `finalize` is ignored. Values are not checked. The result is priced and kept for 30 days without a policy, so that its constraints can be requested. It is not underwritten, and cannot be accepted.',
    permission: 'quick-quotes.write',
    query: ExplainQuery,
    body: { schema: PolicyCreateRequest, required: true },
    answer: quickQuote,
    handle: async ({ body, query }, context) =>
      (await service()).createQuickQuote(context, body, explainOf(query).explain),
  }),
  get('/policy/{tenantLocator}/quickquotes/{locator}', {
    summary: 'Get a quick quote',
    description:
      'As it was when it was created. With `explain`, it is rated again, with the configuration version and at the time of its creation, and the worksheet is in its `price`.',
    permission: 'quick-quotes.read',
    query: ExplainQuery,
    answer: quickQuote,
    handle: async ({ params, query }, context) =>
      (await service()).readQuickQuote(context, params.locator, explainOf(query).explain),
  }),
  ...constraintRoutesOf({
    path: '/policy/{tenantLocator}/quickquotes/{locator}',
    of: 'a quick quote',
    permission: 'quick-quotes.read',
    content: async (context, locator) => (await service()).quickQuoteContent(context, locator),
  }),
]
