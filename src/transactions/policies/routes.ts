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
    description: 'Finalizes it too, unless `finalize` is false.',
    permission: 'policies.write',
    query: PolicyQuery,
    body: { schema: PolicyCreateRequest, required: true },
    answer: policy,
    handle: ({ body, query }, context) => createPolicy(context, body, query),
  }),
  get('/policies', {
    summary: 'List or search policies',
    description:
      'A summary of each, in the order of their creation. `searchField` names a searchable field of a policy, an exposure or a peril; `searchValue` finds the policies with that value in some part of their term, `searchPrefix` those with a value that begins so, in any case. Dates are found as `YYYY-MM-DD` too, and of a text its first 2,700 characters. Values are found by what the configuration said when they were written.',
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
      'A policy of many perils and many transactions can be too large for one answer: then it is refused with 413. Read it with `perilCharacteristics=none`, and the perils of an exposure when you look at it.',
    permission: 'policies.read',
    query: PolicyQuery.extend(DetailQuery.shape),
    answer: policy,
    handle: ({ params, query }, context) => readPolicy(context, params.policyLocator, query),
  }),
  post('/policy/{policyLocator}/update', {
    summary: 'Update a draft policy',
    description: 'Finalizes it too, unless `finalize` is false.',
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
      'One invoice of type `other` bills new fees at once, and gives back what invoices already made asked for of the others; planned invoices shrink. Every `feeName` is one that the product declares, every amount above 0 and of no more decimal places than the currency has. 409 before the policy is issued, and for a fee that is reversed already or went with a cancellation. Nothing happens when both lists are empty. Events: `policy.update`, `invoice.issue`.',
    permission: 'policies.write',
    body: { schema: FeeUpdateRequest, required: true },
    answer: {
      schema: PolicyFeeSummaryResponse,
      description: 'All fees of the policy, the reversed ones too.',
    },
    handle: ({ params, body }, context) => updateFees(context, params.policyLocator, body),
  }),
  post('/policy/{policyLocator}/paymentSchedule', {
    summary: 'Bill an issued policy by another payment schedule',
    description:
      'What is not invoiced yet is planned again from today on; invoices that were made stay as they are. 409 while an endorsement, renewal or reinstatement is quoted or accepted. Nothing happens when the policy has that schedule already. Events: `policy.update`, and `invoice.issue` for what is due at once.',
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
    summary: 'Price of a policy for its whole term',
    description: 'Of a draft: as it would be now; nothing is stored.',
    permission: 'policies.read',
    query: ExplainQuery,
    answer: { schema: GetPolicyPriceResponse, description: 'The price.' },
    handle: ({ params, query }, context) =>
      operate(context, params.policyLocator, { kind: 'price', due: true, ...explainOf(query) }),
  }),
  post('/policy/{policyLocator}/price', {
    summary: 'Price of a policy for its whole term',
    description: 'Of a draft: as it would be now; nothing is stored.',
    permission: 'policies.read',
    query: ExplainQuery,
    answer: { schema: PolicyPriceResponse, description: 'The price.' },
    handle: ({ params, query }, context) =>
      operate(context, params.policyLocator, { kind: 'price', due: false, ...explainOf(query) }),
  }),
  get('/policy/{policyLocator}/automatedUnderwritingResult', {
    summary: 'Underwriting decision on a policy',
    description: 'Of a draft: as it would be now; nothing is stored.',
    permission: 'policies.read',
    answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
    handle: ({ params }, context) => operate(context, params.policyLocator, { kind: 'underwriting' }),
  }),
  post('/policies/{policyLocator}/snapshot', {
    summary: 'A policy as it was known at an earlier time',
    description:
      'What reading the policy answered at `asOfTimestamp`; with `effectiveTimestamp`, only the segments that held then: not replaced by `asOfTimestamp`, on policy, exposure and peril. Nothing is stored. Of a draft that was changed since, what was overwritten is not known: it appears with what it has now. 404 for a time before the policy was created.',
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
    summary: 'What a policy covers at a time',
    description:
      'Exposures and perils on risk at `effectiveTimestamp`, by what is issued today. Amounts are those of the segments on risk, each for its whole span, and of the fees whose span has the time in it.',
    permission: 'policies.read',
    body: { schema: CoverageSummaryRequest, required: false },
    answer: { schema: CoverageSummaryResponse, description: 'The coverage.' },
    handle: async ({ params, body }, context) => {
      const { aggregate, product } = await loadStored(context, params.policyLocator)
      return coverageSummary(aggregate, product, body?.effectiveTimestamp ?? context.now)
    },
  }),
  policyholders.get('/policyholder/{policyholderLocator}/policies', {
    summary: 'Policies of a policyholder',
    description:
      'With the locator of an exposure as `perilCharacteristics`, the policies that do not have it are answered as with `none`; 404 when none of them has it.',
    permission: 'policies.read',
    query: DetailQuery,
    answer: { schema: z.array(PolicyResponse), description: 'Its policies, oldest first.' },
    handle: ({ params, query }, context) => policiesOf(context, params.policyholderLocator, query),
  }),
]

export const tableRevisionRoutes: readonly Route[] = [
  tables.get('/policy/{policyLocator}/tableRevisions', {
    summary: 'List the tables that a policy was rated with',
    description:
      'Of each recorded transaction the contents of tables that its templates and plugins looked up in. They are kept when a table is replaced, and compared by `/diff`.',
    permission: 'policies.read',
    answer: { schema: z.array(TableUseResponse), description: 'In the order in which they were recorded.' },
    handle: ({ params }, context) => listTableUses(params.policyLocator, context),
  }),
]
