import { forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'

const { get, patch } = forTenant('Deprecated')

const jobs = { schema: contract.InvoiceJobListResponse, description: 'All invoices, as jobs.' }

// Loaded on first use, so that the service starts without it.
const service = () => import('./service.ts')

export const deprecatedRoutes: readonly Route[] = [
  get('/billing/{tenantLocator}/jobs/invoices/policies/{locator}/list', {
    deprecated: true,
    summary: 'List invoices of a policy, generated and planned, as jobs',
    description: 'Use `GET /policy/{policyLocator}/checkInvoices`.',
    permission: ['invoices.list', 'invoices.read'],
    answer: jobs,
    handle: async ({ params }, context) => (await service()).invoiceJobsOfPolicy(context, params.locator),
  }),
  get('/billing/{tenantLocator}/jobs/invoices/quotes/{locator}/list', {
    deprecated: true,
    summary: 'List invoices of a quote, generated and planned, as jobs',
    description: 'Use `GET /quotes/{quoteLocator}`, whose `invoices` are the planned ones.',
    permission: ['invoices.list', 'invoices.read'],
    answer: jobs,
    handle: async ({ params }, context) => (await service()).invoiceJobsOfQuote(context, params.locator),
  }),
  patch('/policy/{tenantLocator}/policies/{locator}/billingTrigger', {
    deprecated: true,
    summary: 'Set the action that starts billing',
    description:
      'The product determines it: `invoicing.generatingEvent` of its configuration. A request for that value succeeds and changes nothing. Any other value is rejected (409).',
    permission: 'policies.write',
    body: { schema: contract.BillingTriggerUpdateRequest, required: true },
    answer: { schema: contract.BillingTriggerResponse, description: 'The action that starts billing.' },
    handle: async ({ params, body }, context) =>
      (await service()).setBillingTrigger(context, params.locator, body),
  }),
  get('/policy/{tenantLocator}/policies/snapshot/list', {
    deprecated: true,
    summary: 'List complete policies',
    description:
      'Ordered by locator. Use `GET /policies` for the list, and `POST /policies/{policyLocator}/snapshot` for each policy.',
    permission: 'policies.list',
    query: contract.WholeListQuery,
    answer: {
      schema: contract.PolicySnapshotListResponse,
      description: 'A page of policies in their current state.',
    },
    handle: async ({ query }, context) => (await service()).listSnapshots(context, query),
  }),
  get('/policy/{tenantLocator}/quotes/list', {
    deprecated: true,
    summary: 'List quotes of all policies',
    description: 'Quotes of new business, ordered by locator. Use `GET /policies/{policyLocator}/quotes`.',
    permission: 'quotes.list',
    query: contract.WholeListQuery,
    answer: { schema: contract.QuoteListResponse, description: 'A page of quotes.' },
    handle: async ({ query }, context) => (await service()).listQuotes(context, query),
  }),
  get('/policy/{tenantLocator}/transactions/{locator}/segments/list', {
    deprecated: true,
    summary: 'List the segments of a transaction',
    description:
      'A transaction is a modification. Name it by its own locator or by that of its endorsement, renewal, quote, cancellation or reinstatement. Use `GET /policy/{policyLocator}`.',
    permission: ['transactions.list', 'transactions.read'],
    answer: { schema: contract.SegmentListResponse, description: 'All segments, in order of time.' },
    handle: async ({ params }, context) => (await service()).listSegments(context, params.locator),
  }),
  get('/policy/{tenantLocator}/transactions/{locator}/segments/{segmentLocator}', {
    deprecated: true,
    summary: 'Get a segment of a transaction',
    description: 'Use `GET /policy/{policyLocator}`.',
    permission: 'transactions.read',
    answer: { schema: contract.SegmentResponse, description: 'The segment.' },
    handle: async ({ params }, context) =>
      (await service()).readSegment(context, params.locator, params.segmentLocator),
  }),
]
