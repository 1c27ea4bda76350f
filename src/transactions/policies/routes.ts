import { z } from '@hono/zod-openapi'
import { forTenant, LongAnswer, type Route } from '../../platform/http/route.ts'
import {
  AutomatedUnderwritingResultResponse,
  FeeUpdateRequest,
  GetPolicyPriceResponse,
  PolicyFeeSummaryResponse,
  PolicyPriceResponse,
  TableUseResponse,
} from '../../policy/contract/billing.ts'
import {
  DetailQuery,
  PaymentScheduleChangeRequest,
  PolicyCreateRequest,
  PolicyLocatorQuery,
  PolicyLocatorResponse,
  PolicyQuery,
  PolicyUpdateRequest,
} from '../../policy/contract/requests.ts'
import {
  CoverageSummaryRequest,
  CoverageSummaryResponse,
  PolicyResponse,
  PolicySnapshotRequest,
} from '../../policy/contract/response.ts'
import { ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import { PolicyListQuery, PolicyListResponse } from '../../policy/list/contract.ts'
import { listPolicies } from '../../policy/list/service.ts'
import { coverageSummary, policySnapshot } from '../../policy/projection/snapshot.ts'
import {
  createPolicy,
  findByDisplayId,
  listTableUses,
  loadStored,
  operate,
  policiesOf,
  readPolicy,
  updateFees,
} from './service.ts'

const { get, patch, post } = forTenant('Policies')
const policyholders = forTenant('Policyholders')
const tables = forTenant('Tables')
const policy = { schema: PolicyResponse, description: 'The policy.' }

export const policyRoutes: Route[] = [
  post('/policy', {
    summary: 'Create a policy',
    description: 'Also finalizes it, unless `finalize` is false.',
    permission: 'policies.write',
    query: PolicyQuery,
    body: { schema: PolicyCreateRequest, required: true },
    answer: policy,
    handle: ({ body, query }, context) => createPolicy(context, body, query),
  }),
  get('/policies', {
    summary: 'List or search policies',
    description:
      'Returns a summary of each policy, in order of creation. `searchField` is the name of a searchable field of a policy, an exposure or a peril. `searchValue` finds the policies that have that value in any part of their term; `searchPrefix` finds those with a value that starts with it, ignoring case. Dates can also be searched as `YYYY-MM-DD`. Of a text, the first 2,700 characters are searchable. Values are searchable if the configuration declared their field as searchable when they were written.',
    permission: 'policies.list',
    query: PolicyListQuery,
    answer: { schema: PolicyListResponse, description: 'A page of policies.' },
    handle: ({ query }, context) => listPolicies(context, query),
  }),
  get('/policy/locator', {
    summary: 'Find a policy by displayId',
    permission: 'policies.read',
    query: PolicyLocatorQuery,
    answer: { schema: PolicyLocatorResponse, description: 'The locator.' },
    handle: ({ query }, context) => findByDisplayId(context, query.displayId),
  }),
  get('/policy/{policyLocator}', {
    summary: 'Get a policy',
    description:
      'A policy with many perils and many transactions can be too large for one answer, which is rejected with 413. Read it with `perilCharacteristics=none`, and read the perils of each exposure separately.',
    permission: 'policies.read',
    query: PolicyQuery.extend(DetailQuery.shape),
    answer: policy,
    handle: ({ params, query }, context) => readPolicy(context, params.policyLocator, query),
  }),
  post('/policy/{policyLocator}/update', {
    summary: 'Update a draft policy',
    description: 'Also finalizes it, unless `finalize` is false.',
    permission: 'policies.write',
    body: { schema: PolicyUpdateRequest, required: true },
    answer: policy,
    handle: ({ params, body }, context) =>
      operate(context, params.policyLocator, { kind: 'update', request: body }),
  }),
  post('/policy/{policyLocator}/finalize', {
    summary: 'Finalize a draft policy: lock, price and underwrite it',
    permission: 'policies.write',
    answer: policy,
    handle: ({ params }, context) => operate(context, params.policyLocator, { kind: 'finalize' }),
  }),
  post('/policy/{policyLocator}/issue', {
    summary: 'Issue a finalized policy',
    permission: 'policies.issue',
    answer: policy,
    handle: ({ params }, context) => operate(context, params.policyLocator, { kind: 'issue' }),
  }),
  post('/policy/{policyLocator}/discard', {
    summary: 'Discard a policy that is not issued',
    permission: ['policies.write', 'policies.discard'],
    answer: { description: 'Discarded.' },
    handle: ({ params }, context) => operate(context, params.policyLocator, { kind: 'discard' }),
  }),
  patch('/policy/{policyLocator}/fees', {
    summary: 'Add fees to an issued policy, and take fees back',
    description:
      'One invoice of type `other` bills new fees immediately and refunds the invoiced part of reversed fees; planned invoices are reduced. Every `feeName` must be declared by the product, and every amount must be above 0 with no more decimal places than the currency has. Responds with 409 before the policy is issued, and for a fee that was already reversed, by request or by a cancellation. Nothing happens if both lists are empty. Events: `policy.update`, `invoice.issue`.',
    permission: 'policies.write',
    body: { schema: FeeUpdateRequest, required: true },
    answer: {
      schema: PolicyFeeSummaryResponse,
      description: 'All fees of the policy, including reversed ones.',
    },
    handle: ({ params, body }, context) => updateFees(context, params.policyLocator, body),
  }),
  post('/policy/{policyLocator}/paymentSchedule', {
    summary: 'Change the payment schedule of an issued policy',
    description:
      'Charges that are not invoiced yet are planned again from today; existing invoices do not change. Responds with 409 while an endorsement, renewal or reinstatement is quoted or accepted. Nothing happens if the policy already has that schedule. Events: `policy.update`, and `invoice.issue` for charges that are due immediately.',
    permission: 'policies.write',
    body: { schema: PaymentScheduleChangeRequest, required: true },
    answer: { description: 'Changed.' },
    handle: ({ params, body }, context) =>
      operate(context, params.policyLocator, {
        kind: 'paymentSchedule',
        name: body.newPaymentScheduleName,
      }),
  }),
  get('/policy/{policyLocator}/price', {
    summary: 'Get the price of a policy for its whole term',
    description: 'For a draft: the price as of now. Nothing is stored.',
    permission: 'policies.read',
    query: ExplainQuery,
    answer: { schema: GetPolicyPriceResponse, description: 'The price.' },
    handle: ({ params, query }, context) =>
      operate(context, params.policyLocator, { kind: 'price', due: true, ...explainOf(query) }),
  }),
  post('/policy/{policyLocator}/price', {
    summary: 'Get the price of a policy for its whole term',
    description: 'For a draft: the price as of now. Nothing is stored.',
    permission: 'policies.read',
    query: ExplainQuery,
    answer: { schema: PolicyPriceResponse, description: 'The price.' },
    handle: ({ params, query }, context) =>
      operate(context, params.policyLocator, { kind: 'price', due: false, ...explainOf(query) }),
  }),
  get('/policy/{policyLocator}/automatedUnderwritingResult', {
    summary: 'Get the underwriting decision on a policy',
    description: 'For a draft: the decision as of now. Nothing is stored.',
    permission: 'policies.read',
    answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
    handle: ({ params }, context) => operate(context, params.policyLocator, { kind: 'underwriting' }),
  }),
  post('/policies/{policyLocator}/snapshot', {
    summary: 'Get a policy as it was known at an earlier time',
    description:
      'Returns the policy as a read would have returned it at `asOfTimestamp`. With `effectiveTimestamp`, only the segments of policy, exposures and perils that were in force at that time and not replaced by `asOfTimestamp`. Nothing is stored. The overwritten values of a draft that was changed since are not known, so it appears with its present values. Responds with 404 for a time before the policy was created.',
    permission: 'policies.read',
    query: DetailQuery,
    body: { schema: PolicySnapshotRequest, required: false },
    answer: policy,
    handle: async ({ params, query, body = {} }, context) => {
      const { aggregate, product } = await loadStored(context, params.policyLocator)
      return new LongAnswer(policySnapshot(aggregate, product, body, query))
    },
  }),
  post('/policies/{policyLocator}/coverageSummary', {
    summary: 'Get what a policy covers at a time',
    description:
      'Returns the exposures and perils on risk at `effectiveTimestamp`, according to the transactions issued so far. Amounts are those of the segments on risk, each for its whole span, and of the fees whose span contains that time.',
    permission: 'policies.read',
    body: { schema: CoverageSummaryRequest, required: false },
    answer: { schema: CoverageSummaryResponse, description: 'The coverage.' },
    handle: async ({ params, body }, context) => {
      const { aggregate, product } = await loadStored(context, params.policyLocator)
      return coverageSummary(aggregate, product, body?.effectiveTimestamp ?? context.now)
    },
  }),
  policyholders.get('/policyholder/{policyholderLocator}/policies', {
    summary: 'List the policies of a policyholder',
    description:
      'If `perilCharacteristics` is the locator of an exposure, policies without that exposure are returned as with `none`. Responds with 404 if no policy has it.',
    permission: 'policies.read',
    query: DetailQuery,
    answer: { schema: z.array(PolicyResponse), description: 'The policies, oldest first.' },
    handle: ({ params, query }, context) => policiesOf(context, params.policyholderLocator, query),
  }),
]

export const tableRevisionRoutes: readonly Route[] = [
  tables.get('/policy/{policyLocator}/tableRevisions', {
    summary: 'List the tables that a policy was rated with',
    description:
      'For each recorded transaction, the contents of the tables in which its templates and plugins looked up values. They are kept when a table is replaced, and `/diff` compares them.',
    permission: 'policies.read',
    answer: {
      schema: z.array(TableUseResponse),
      description: 'The tables, in the order in which they were recorded.',
    },
    handle: ({ params }, context) => listTableUses(params.policyLocator, context),
  }),
]
