import { z } from '@hono/zod-openapi'
import { jsonText, type Route, tenantRoute } from '../platform/http/route.ts'
import { PolicyResponse } from '../policies/contract/response.ts'
import { policyLocator } from '../policies/service.ts'
import { AutomatedUnderwritingResultResponse, UnderwritingDecisionRequest } from '../rating/contract.ts'
import { PolicyPriceChangeResponse } from '../rating/contract-change.ts'
import { referralBy } from '../rating/referral.ts'
import { EndorsementActionRequest, EndorsementCreateRequest, EndorsementResponse } from './contract.ts'
import {
  actOn,
  endorse,
  named,
  outlook,
  policyWhenIssued,
  readTransaction,
  transactionsOf,
} from './service.ts'

const tags = ['Endorsements']
const endorsement = { schema: EndorsementResponse, description: 'The endorsement.' }

export const endorsementRoutes: readonly Route[] = [
  tenantRoute({
    method: 'post',
    path: '/policies/{policyLocator}/endorsements',
    summary: 'Apply for a change of a policy',
    description: 'With `state` it goes through every step up to that one at once.',
    tags,
    permission: 'endorsements.write',
    body: { schema: EndorsementCreateRequest, required: true },
    answer: endorsement,
    handle: async ({ params, body }, context) =>
      jsonText(
        await endorse(context, 'endorsement', policyLocator(params.policyLocator), {
          action: 'create',
          request: body,
        }),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/policies/{policyLocator}/endorsements',
    summary: 'Endorsements of a policy, oldest first',
    tags,
    permission: ['endorsements.read', 'endorsements.list'],
    answer: { schema: z.array(EndorsementResponse), description: 'All of them, in every state.' },
    handle: ({ params }, context) => transactionsOf(context, 'endorsement', params.policyLocator),
  }),
  tenantRoute({
    method: 'get',
    path: '/endorsements/{endorsementLocator}',
    summary: 'Get an endorsement',
    tags,
    permission: 'endorsements.read',
    answer: endorsement,
    handle: ({ params }, context) =>
      readTransaction(context, named('endorsement', params.endorsementLocator)),
  }),
  tenantRoute({
    method: 'patch',
    path: '/endorsements/{endorsementLocator}',
    summary: 'Update, quote, accept, issue, invalidate or discard an endorsement',
    tags,
    permission: 'endorsements.write',
    body: { schema: EndorsementActionRequest, required: true },
    answer: endorsement,
    handle: async ({ params, body }, context) =>
      jsonText(
        await actOn(context, named('endorsement', params.endorsementLocator), one =>
          body.action === 'update'
            ? { action: 'update', endorsement: one, update: body.update }
            : { action: body.action, endorsement: one, conflictHandling: body.conflictHandling },
        ),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/endorsements/{endorsementLocator}/price',
    summary: 'What an endorsement changes of the price',
    description: 'Of an application: as it would be now; nothing is stored.',
    tags,
    permission: ['endorsements.read', 'endorsements.price'],
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params }, context) =>
      jsonText(await outlook(context, named('endorsement', params.endorsementLocator), 'price')),
  }),
  tenantRoute({
    method: 'get',
    path: '/endorsements/{endorsementLocator}/automatedUnderwritingResult',
    summary: 'Underwriting decision on an endorsement',
    description: 'Of an application: as it would be now; nothing is stored.',
    tags,
    permission: 'endorsements.read',
    answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
    handle: async ({ params }, context) =>
      jsonText(await outlook(context, named('endorsement', params.endorsementLocator), 'underwriting')),
  }),
  tenantRoute({
    method: 'post',
    path: '/endorsements/{endorsementLocator}/underwriting',
    summary: "Put a person's decision on an application in place of underwriting's",
    description:
      'It counts until the application is updated or the policy changes. Quoting goes by it; who decided, and the note, are kept with it.',
    tags,
    permission: 'endorsements.underwrite',
    body: { schema: UnderwritingDecisionRequest, required: true },
    answer: endorsement,
    handle: async ({ params, body }, context) =>
      jsonText(
        await actOn(context, named('endorsement', params.endorsementLocator), one => ({
          action: 'refer',
          endorsement: one,
          ...referralBy(context, body),
        })),
      ),
  }),
  tenantRoute({
    method: 'get',
    path: '/endorsements/{endorsementLocator}/policyWhenIssued',
    summary: 'The policy as it will be once an accepted endorsement is issued',
    tags,
    permission: 'endorsements.read',
    answer: { schema: PolicyResponse, description: 'The policy; nothing is stored.' },
    handle: ({ params }, context) =>
      policyWhenIssued(context, named('endorsement', params.endorsementLocator)),
  }),
]
