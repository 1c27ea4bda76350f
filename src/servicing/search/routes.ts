import { forTenant, type Route } from '../../platform/http/route.ts'
import { SearchQuery, SearchResponse } from './contract.ts'

const { get } = forTenant('Work lists')

export const searchRoutes: readonly Route[] = [
  get('/search', {
    summary: 'Search policyholders and policies at once',
    description:
      'Bindery only. Looks in all searchable fields of policyholders, policies, exposures and perils. A record fits if one of its values begins with the whole text, or if it has a value for each word. A locator finds its policy or policyholder: of a policy, quote, endorsement, renewal, cancellation, reinstatement, invoice, payment or policyholder, and the number that people see. Where more than 2,000 records fit the longest word, the newest of those looked at are shown, and `hasMore` is true.',
    permission: ['policies.list', 'policyholders.list'],
    query: SearchQuery,
    answer: { schema: SearchResponse, description: 'What was found.' },
    handle: async ({ query }, context) => (await import('./service.ts')).search(context, query),
  }),
]
