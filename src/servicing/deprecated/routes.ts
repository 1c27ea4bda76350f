import { type Route, tenantRoute } from '../../platform/http/route.ts'
import * as contract from './contract.ts'

const common = { tags: ['Deprecated'], deprecated: true } as const

const jobs = { schema: contract.InvoiceJobListResponse, description: 'All of them.' }

// What these do is loaded when it is first asked for: the service starts without it.
const service = () => import('./service.ts')

export const deprecatedRoutes: readonly Route[] = [
  tenantRoute({
    ...common,
    method: 'get',
    path: '/billing/{tenantLocator}/jobs/invoices/policies/{locator}/list',
    summary: 'Invoices of a policy, made and planned, as jobs',
    description: 'Use `GET /policy/{policyLocator}/checkInvoices`.',
    permission: ['invoices.list', 'invoices.read'],
    answer: jobs,
    handle: async ({ params }, context) => (await service()).invoiceJobsOfPolicy(context, params.locator),
  }),
  tenantRoute({
    ...common,
    method: 'get',
    path: '/billing/{tenantLocator}/jobs/invoices/quotes/{locator}/list',
    summary: 'Invoices of a quote, made and planned, as jobs',
    description: 'Use `GET /quotes/{quoteLocator}`, whose `invoices` are those planned.',
    permission: ['invoices.list', 'invoices.read'],
    answer: jobs,
    handle: async ({ params }, context) => (await service()).invoiceJobsOfQuote(context, params.locator),
  }),
  tenantRoute({
    ...common,
    method: 'patch',
    path: '/policy/{tenantLocator}/policies/{locator}/billingTrigger',
    summary: 'Say with which action billing begins',
    description:
      'That is a matter of the product: `invoicing.generatingEvent` of its configuration. The request is answered where it asks for what is so, and refused (409) where it does not.',
    permission: 'policies.write',
    body: { schema: contract.BillingTriggerUpdateRequest, required: true },
    answer: { schema: contract.BillingTriggerResponse, description: 'What is so.' },
    handle: async ({ params, body }, context) =>
      (await service()).setBillingTrigger(context, params.locator, body),
  }),
  tenantRoute({
    ...common,
    method: 'get',
    path: '/policy/{tenantLocator}/policies/snapshot/list',
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
  tenantRoute({
    ...common,
    method: 'get',
    path: '/policy/{tenantLocator}/quotes/list',
    summary: 'List quotes of all policies',
    description:
      'Of new business, in the order of their locators. Use `GET /policies/{policyLocator}/quotes`.',
    permission: 'quotes.list',
    query: contract.WholeListQuery,
    answer: { schema: contract.QuoteListResponse, description: 'A page of quotes.' },
    handle: async ({ query }, context) => (await service()).listQuotes(context, query),
  }),
  tenantRoute({
    ...common,
    method: 'get',
    path: '/policy/{tenantLocator}/transactions/{locator}/segments/list',
    summary: 'Segments that a transaction made',
    description:
      'A transaction is a modification, named by its own locator or by that of its endorsement, renewal, quote, cancellation or reinstatement. Use `GET /policy/{policyLocator}`.',
    permission: ['transactions.list', 'transactions.read'],
    answer: { schema: contract.SegmentListResponse, description: 'All of them, in the order of time.' },
    handle: async ({ params }, context) => (await service()).listSegments(context, params.locator),
  }),
  tenantRoute({
    ...common,
    method: 'get',
    path: '/policy/{tenantLocator}/transactions/{locator}/segments/{segmentLocator}',
    summary: 'Get a segment of a transaction',
    description: 'Use `GET /policy/{policyLocator}`.',
    permission: 'transactions.read',
    answer: { schema: contract.SegmentResponse, description: 'The segment.' },
    handle: async ({ params }, context) =>
      (await service()).readSegment(context, params.locator, params.segmentLocator),
  }),
]
