import { z } from '@hono/zod-openapi'
import {
  actOn,
  endorse,
  named,
  outlook,
  policyWhenIssued,
  readTransaction,
  transactionsOf,
} from '../endorsements/service.ts'
import { jsonText, type Route, tenantRoute } from '../platform/http/route.ts'
import { PolicyResponse } from '../policies/contract/response.ts'
import { operate, policyLocator } from '../policies/service.ts'
import { AutomatedUnderwritingResultResponse, UnderwritingDecisionRequest } from '../rating/contract.ts'
import { PolicyPriceChangeResponse } from '../rating/contract-change.ts'
import { referralBy } from '../rating/referral.ts'
import {
  RenewalActionRequest,
  RenewalCreateRequest,
  RenewalIssueRequest,
  RenewalResponse,
} from './contract.ts'

const tags = ['Renewals']
const renewal = { schema: RenewalResponse, description: 'The renewal.' }

export const renewalRoutes: readonly Route[] = [
  tenantRoute({
    method: 'post',
    path: '/policies/{policyLocator}/renewals',
    summary: 'Renew a policy: another term from where it ends',
    description: 'With `state` it goes through every step up to that one at once.',
    tags,
    permission: 'renewals.write',
    body: { schema: RenewalCreateRequest, required: true },
    answer: renewal,
    handle: async ({ params, body }, context) =>
      jsonText(
        await endorse(context, 'renewal', policyLocator(params.policyLocator), {
          action: 'renew',
          request: body,
        }),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/policies/{policyLocator}/renewals',
    summary: 'Renewals of a policy, oldest first',
    tags,
    permission: ['renewals.read', 'renewals.list'],
    answer: { schema: z.array(RenewalResponse), description: 'All of them, in every state.' },
    handle: ({ params }, context) => transactionsOf(context, 'renewal', params.policyLocator),
  }),
  tenantRoute({
    method: 'get',
    path: '/renewals/{renewalLocator}',
    summary: 'Get a renewal',
    tags,
    permission: 'renewals.read',
    answer: renewal,
    handle: ({ params }, context) => readTransaction(context, named('renewal', params.renewalLocator)),
  }),
  tenantRoute({
    method: 'patch',
    path: '/renewals/{renewalLocator}',
    summary: 'Update, quote, accept, issue, invalidate or discard a renewal',
    tags,
    permission: 'renewals.write',
    body: { schema: RenewalActionRequest, required: true },
    answer: renewal,
    handle: async ({ params, body }, context) =>
      jsonText(
        await actOn(context, named('renewal', params.renewalLocator), one =>
          body.action === 'update'
            ? { action: 'update', endorsement: one, update: body.update }
            : { action: body.action, endorsement: one, conflictHandling: body.conflictHandling },
        ),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/renewals/{renewalLocator}/price',
    summary: 'What a renewal changes of the price',
    description: 'Of an application: as it would be now; nothing is stored.',
    tags,
    permission: ['renewals.read', 'renewals.price'],
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params }, context) =>
      jsonText(await outlook(context, named('renewal', params.renewalLocator), 'price')),
  }),
  tenantRoute({
    method: 'get',
    path: '/renewals/{renewalLocator}/automatedUnderwritingResult',
    summary: 'Underwriting decision on a renewal',
    description: 'Of an application: as it would be now; nothing is stored.',
    tags,
    permission: 'renewals.read',
    answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
    handle: async ({ params }, context) =>
      jsonText(await outlook(context, named('renewal', params.renewalLocator), 'underwriting')),
  }),
  tenantRoute({
    method: 'post',
    path: '/renewals/{renewalLocator}/underwriting',
    summary: "Put a person's decision on an application in place of underwriting's",
    description:
      'It counts until the application is updated or the policy changes. Quoting goes by it; who decided, and the note, are kept with it.',
    tags,
    permission: 'renewals.underwrite',
    body: { schema: UnderwritingDecisionRequest, required: true },
    answer: renewal,
    handle: async ({ params, body }, context) =>
      jsonText(
        await actOn(context, named('renewal', params.renewalLocator), one => ({
          action: 'refer',
          endorsement: one,
          ...referralBy(context, body),
        })),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/renewals/{renewalLocator}/policyWhenIssued',
    summary: 'The policy as it will be once an accepted renewal is issued',
    tags,
    permission: 'renewals.read',
    answer: { schema: PolicyResponse, description: 'The policy; nothing is stored.' },
    handle: ({ params }, context) => policyWhenIssued(context, named('renewal', params.renewalLocator)),
  }),
  tenantRoute({
    method: 'post',
    path: '/policy/{policyLocator}/issueRenewal',
    summary: 'Renew a policy in one step',
    tags,
    permission: ['renewals.write', 'renewals.issue'],
    body: { schema: RenewalIssueRequest, required: true },
    answer: { schema: PolicyResponse, description: 'The renewed policy.' },
    handle: async ({ params, body }, context) =>
      jsonText(
        await operate(context, policyLocator(params.policyLocator), {
          kind: 'endorsement',
          operation: { action: 'renew', request: { ...body, state: 'issued' } },
          answersPolicy: true,
        }),
      ),
  }),
  tenantRoute({
    method: 'post',
    path: '/policy/{policyLocator}/previewRenewalPrice',
    summary: 'What renewing a policy would change of its price',
    description: 'Nothing is stored; locators of what the renewal would add are not used again.',
    tags,
    permission: ['renewals.read', 'renewals.price'],
    body: { schema: RenewalIssueRequest, required: true },
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params, body }, context) =>
      jsonText(
        await operate(context, policyLocator(params.policyLocator), {
          kind: 'change',
          of: { kind: 'renewal', request: body },
        }),
      ),
  }),
]
