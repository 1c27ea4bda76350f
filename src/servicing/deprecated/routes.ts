import { forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'

const { get, patch } = forTenant('Deprecated')

const jobs = { schema: contract.InvoiceJobListResponse, description: 'All of them.' }

// Loaded on first use, so that the service starts without it.
const service = () => import('./service.ts')

export const deprecatedRoutes: readonly Route[] = [
  get('/billing/{tenantLocator}/jobs/invoices/policies/{locator}/list', {
    deprecated: true,
    summary: 'Invoices of a policy, made and planned, as jobs',
    description: 'Use `GET /policy/{policyLocator}/checkInvoices`.',
    permission: ['invoices.list', 'invoices.read'],
    answer: jobs,
    handle: async ({ params }, context) => (await service()).invoiceJobsOfPolicy(context, params.locator),
  }),
  get('/billing/{tenantLocator}/jobs/invoices/quotes/{locator}/list', {
    deprecated: true,
    summary: 'Invoices of a quote, made and planned, as jobs',
    description: 'Use `GET /quotes/{quoteLocator}`, whose `invoices` are those planned.',
    permission: ['invoices.list', 'invoices.read'],
    answer: jobs,
    handle: async ({ params }, context) => (await service()).invoiceJobsOfQuote(context, params.locator),
  }),
  patch('/policy/{tenantLocator}/policies/{locator}/billingTrigger', {
    deprecated: true,
    summary: 'Say with which action billing begins',
    description:
      'That is a matter of the product: `invoicing.generatingEvent` of its configuration. The request is answered where it asks for what is so, and refused (409) where it does not.',
    permission: 'policies.write',
    body: { schema: contract.BillingTriggerUpdateRequest, required: true },
    answer: { schema: contract.BillingTriggerResponse, description: 'What is so.' },
    handle: async ({ params, body }, context) =>
      (await service()).setBillingTrigger(context, params.locator, body),
  }),
  get('/policy/{tenantLocator}/policies/snapshot/list', {
    deprecated: true,
    summary: 'List policies whole',
    description:
      'In the order of their locators. Use `GET /policies` for the list, and `POST /policies/{policyLocator}/snapshot` for each.',
    permission: 'policies.list',
    query: contract.WholeListQuery,
    answer: {
      schema: contract.PolicySnapshotListResponse,
      description: 'A page of policies as they are now.',
    },
    handle: async ({ query }, context) => (await service()).listSnapshots(context, query),
  }),
  get('/policy/{tenantLocator}/quotes/list', {
    deprecated: true,
    summary: 'List quotes of all policies',
    description:
      'Of new business, in the order of their locators. Use `GET /policies/{policyLocator}/quotes`.',
    permission: 'quotes.list',
    query: contract.WholeListQuery,
    answer: { schema: contract.QuoteListResponse, description: 'A page of quotes.' },
    handle: async ({ query }, context) => (await service()).listQuotes(context, query),
  }),
  get('/policy/{tenantLocator}/transactions/{locator}/segments/list', {
    deprecated: true,
    summary: 'Segments that a transaction made',
    description:
      'A transaction is a modification, named by its own locator or by that of its endorsement, renewal, quote, cancellation or reinstatement. Use `GET /policy/{policyLocator}`.',
    permission: ['transactions.list', 'transactions.read'],
    answer: { schema: contract.SegmentListResponse, description: 'All of them, in the order of time.' },
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
