import { z } from '@hono/zod-openapi'
import type { CancellationLocator } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { forTenant, type ReadyAnswer, type Route } from '../../platform/http/route.ts'
import { CancellationValueQuery, PolicyCancellationIssueRequest } from '../../policy/contract/requests.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import { CancellationValueResponse, PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { operate, recordService } from '../policies/service.ts'
import { CancellationCreateRequest, CancellationResponse, CancellationUpdateRequest } from './contract.ts'
import type { CancellationOperation } from './decision.ts'
import { CANCELLATIONS } from './projection.ts'

const { get, patch, post } = forTenant('Cancellations')
const cancellation = { schema: CancellationResponse, description: 'The cancellation.' }
const policy = { schema: PolicyResponse, description: 'The policy.' }

const cancellations = recordService(CANCELLATIONS)

const act = (
  context: RequestContext,
  text: string,
  operationOn: (cancellation: CancellationLocator) => CancellationOperation,
): Promise<ReadyAnswer> =>
  cancellations.act(context, text, locator => ({ kind: 'cancellation', operation: operationOn(locator) }))

const cancel = (
  context: RequestContext,
  policyText: string,
  operation: CancellationOperation,
): Promise<ReadyAnswer> => cancellations.operate(context, policyText, { kind: 'cancellation', operation })

export const cancellationRoutes: readonly Route[] = [
  post('/policies/{policyLocator}/cancellations', {
    summary: 'Draft a cancellation of a policy',
    description: 'With `issue`, also issues it.',
    permission: 'cancellations.write',
    body: { schema: CancellationCreateRequest, required: true },
    answer: cancellation,
    handle: ({ params, body }, context) =>
      cancel(context, params.policyLocator, { action: 'create', request: body }),
  }),
  get('/policies/{policyLocator}/cancellations', {
    summary: 'List the cancellations of a policy, oldest first',
    permission: ['cancellations.read', 'cancellations.list'],
    answer: {
      schema: z.array(CancellationResponse),
      description: 'All cancellations, including rescinded ones.',
    },
    handle: ({ params }, context) => cancellations.list(context, params.policyLocator),
  }),
  get('/cancellations/{locator}', {
    summary: 'Get a cancellation',
    permission: 'cancellations.read',
    answer: cancellation,
    handle: ({ params }, context) => cancellations.read(context, params.locator),
  }),
  patch('/cancellations/{locator}', {
    summary: 'Update a draft cancellation',
    permission: 'cancellations.write',
    body: { schema: CancellationUpdateRequest, required: true },
    answer: cancellation,
    handle: ({ params, body }, context) =>
      act(context, params.locator, cancellation => ({ action: 'update', cancellation, request: body })),
  }),
  patch('/cancellations/{locator}/issue', {
    summary: 'Issue a cancellation',
    permission: ['cancellations.issue', 'cancellations.write'],
    answer: cancellation,
    handle: ({ params }, context) =>
      act(context, params.locator, cancellation => ({ action: 'issue', cancellation })),
  }),
  patch('/cancellations/{locator}/rescind', {
    summary: 'Rescind a draft cancellation',
    permission: 'cancellations.write',
    answer: cancellation,
    handle: ({ params }, context) =>
      act(context, params.locator, cancellation => ({ action: 'rescind', cancellation })),
  }),
  get('/cancellations/{locator}/price', {
    summary: 'Get the price change of a cancellation',
    description: 'For a draft: the price change as of now. Nothing is stored.',
    permission: 'cancellations.read',
    query: ExplainQuery,
    answer: { schema: PolicyPriceChangeResponse, description: 'The price change.' },
    handle: ({ params, query }, context) =>
      cancellations.act(context, params.locator, cancellation => ({
        kind: 'change',
        of: { kind: 'cancellation', cancellation },
        ...explainOf(query),
      })),
  }),
  post('/policy/{policyLocator}/cancel', {
    summary: 'Cancel a policy in one step',
    description:
      'GET /policies/{policyLocator}/cancellations lists it as an issued cancellation named `cancel`, which PATCH /cancellations/{locator}/reinstate reverses. If the product has a cancellation type of that name, its documents and its deadline apply.',
    permission: ['cancellations.issue', 'cancellations.write'],
    body: { schema: PolicyCancellationIssueRequest, required: true },
    answer: policy,
    handle: ({ params, body }, context) =>
      cancel(context, params.policyLocator, {
        action: 'legacy',
        coverageEndAt: body.coverageEndTimestamp,
      }),
  }),
  post('/policy/{policyLocator}/withdraw', {
    summary: 'Withdraw a policy: cancel it from its start',
    description: 'Premium, taxes and fees become zero. No further transactions on the policy are possible.',
    permission: ['cancellations.issue', 'cancellations.write'],
    answer: policy,
    handle: ({ params }, context) => cancel(context, params.policyLocator, { action: 'withdraw' }),
  }),
  get('/policy/{policyLocator}/cancellationValue', {
    summary: 'Get the amount that cancelling a policy would refund',
    permission: 'cancellations.read',
    query: CancellationValueQuery,
    answer: { schema: CancellationValueResponse, description: 'The amounts. Nothing is stored.' },
    handle: ({ params, query }, context) =>
      operate(context, params.policyLocator, {
        kind: 'change',
        of: { kind: 'value', coverageEndAt: query.coverageEndTimestamp },
      }),
  }),
]
