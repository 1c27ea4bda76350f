import { forTenant, type Route } from '../../platform/http/route.ts'
import { SearchQuery, SearchResponse } from './contract.ts'

const { get } = forTenant('Work lists')

export const searchRoutes: readonly Route[] = [
  get('/search', {
    summary: 'Search policyholders and policies together',
    description:
      'Bindery only. Searches all searchable fields of policyholders, policies, exposures and perils. A record matches if one of its values begins with the whole text, or if it has a matching value for each word, of up to five. A locator finds its policy or policyholder: the locator of a policy, quote, endorsement, renewal, cancellation, reinstatement, invoice, payment or policyholder. The `displayId` of an invoice, which documents print as its number, finds its policy too; that of a payment does not. Until the tenant has the migration `0016_record_lookups`, invoices are found only by their locators. If more than 2,000 records match the longest word, only some of them are searched; the newest matches among these are shown, and `hasMore` is true.',
    permission: ['policies.list', 'policyholders.list'],
    query: SearchQuery,
    answer: { schema: SearchResponse, description: 'The matching records.' },
    handle: async ({ query }, context) => (await import('./service.ts')).search(context, query),
  }),
]
