import { z } from '@hono/zod-openapi'
import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText, type Route, tenantRoute } from '../../platform/http/route.ts'
import { CancellationValueQuery, PolicyCancellationIssueRequest } from '../../policy/contract/requests.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { CancellationValueResponse, PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { operate, policyLocator } from '../policies/service.ts'
import { CancellationCreateRequest, CancellationResponse, CancellationUpdateRequest } from './contract.ts'
import {
  actOnCancellation,
  cancel,
  cancellationLocator,
  cancellationPrice,
  cancellationsOf,
  readCancellation,
} from './service.ts'

const tags = ['Cancellations']
const cancellation = { schema: CancellationResponse, description: 'The cancellation.' }
const policy = { schema: PolicyResponse, description: 'The policy.' }

const act = async (
  context: RequestContext,
  locator: string,
  action: 'issue' | 'rescind',
): Promise<JsonText> =>
  jsonText(
    await actOnCancellation(context, cancellationLocator(locator), one => ({ action, cancellation: one })),
  )

export const cancellationRoutes: readonly Route[] = [
  tenantRoute({
    method: 'post',
    path: '/policies/{policyLocator}/cancellations',
    summary: 'Draft a cancellation of a policy',
    description: 'Issues it too, with `issue`.',
    tags,
    permission: 'cancellations.write',
    body: { schema: CancellationCreateRequest, required: true },
    answer: cancellation,
    handle: async ({ params, body }, context) =>
      jsonText(
        await cancel(context, policyLocator(params.policyLocator), { action: 'create', request: body }),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/policies/{policyLocator}/cancellations',
    summary: 'Cancellations of a policy, oldest first',
    tags,
    permission: ['cancellations.read', 'cancellations.list'],
    answer: { schema: z.array(CancellationResponse), description: 'All of them, rescinded ones too.' },
    handle: ({ params }, context) => cancellationsOf(context, params.policyLocator),
  }),
  tenantRoute({
    method: 'get',
    path: '/cancellations/{locator}',
    summary: 'Get a cancellation',
    tags,
    permission: 'cancellations.read',
    answer: cancellation,
    handle: ({ params }, context) => readCancellation(context, cancellationLocator(params.locator)),
  }),
  tenantRoute({
    method: 'patch',
    path: '/cancellations/{locator}',
    summary: 'Update a draft cancellation',
    tags,
    permission: 'cancellations.write',
    body: { schema: CancellationUpdateRequest, required: true },
    answer: cancellation,
    handle: async ({ params, body }, context) =>
      jsonText(
        await actOnCancellation(context, cancellationLocator(params.locator), one => ({
          action: 'update',
          cancellation: one,
          request: body,
        })),
      ),
  }),
  tenantRoute({
    method: 'patch',
    path: '/cancellations/{locator}/issue',
    summary: 'Issue a cancellation',
    tags,
    permission: ['cancellations.issue', 'cancellations.write'],
    answer: cancellation,
    handle: ({ params }, context) => act(context, params.locator, 'issue'),
  }),
  tenantRoute({
    method: 'patch',
    path: '/cancellations/{locator}/rescind',
    summary: 'Rescind a draft cancellation',
    tags,
    permission: 'cancellations.write',
    answer: cancellation,
    handle: ({ params }, context) => act(context, params.locator, 'rescind'),
  }),
  tenantRoute({
    method: 'get',
    path: '/cancellations/{locator}/price',
    summary: 'What a cancellation changes of the price',
    description: 'Of a draft: as it would be now; nothing is stored.',
    tags,
    permission: 'cancellations.read',
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params }, context) =>
      jsonText(await cancellationPrice(context, cancellationLocator(params.locator))),
  }),
  tenantRoute({
    method: 'post',
    path: '/policy/{policyLocator}/cancel',
    summary: 'Cancel a policy in one step',
    description:
      'GET /policies/{policyLocator}/cancellations lists it as an issued cancellation named `cancel`, which PATCH /cancellations/{locator}/reinstate takes back. Where the product has a cancellation type of that name, its documents and its deadline hold.',
    tags,
    permission: ['cancellations.issue', 'cancellations.write'],
    body: { schema: PolicyCancellationIssueRequest, required: true },
    answer: policy,
    handle: async ({ params, body }, context) =>
      jsonText(
        await cancel(context, policyLocator(params.policyLocator), {
          action: 'legacy',
          coverageEndAt: body.coverageEndTimestamp,
        }),
      ),
  }),
  tenantRoute({
    method: 'post',
    path: '/policy/{policyLocator}/withdraw',
    summary: 'Withdraw a policy: cancel it from its start',
    description: 'Premium, taxes and fees become zero; nothing can be done to the policy afterwards.',
    tags,
    permission: ['cancellations.issue', 'cancellations.write'],
    answer: policy,
    handle: async ({ params }, context) =>
      jsonText(await cancel(context, policyLocator(params.policyLocator), { action: 'withdraw' })),
  }),
  tenantRoute({
    method: 'get',
    path: '/policy/{policyLocator}/cancellationValue',
    summary: 'What cancelling a policy would give back',
    tags,
    permission: 'cancellations.read',
    query: CancellationValueQuery,
    answer: { schema: CancellationValueResponse, description: 'The value; nothing is stored.' },
    handle: async ({ params, query }, context) =>
      jsonText(
        await operate(context, policyLocator(params.policyLocator), {
          kind: 'change',
          of: { kind: 'value', coverageEndAt: query.coverageEndTimestamp },
        }),
      ),
  }),
]
