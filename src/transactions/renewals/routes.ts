import { forTenant, jsonText, type Route } from '../../platform/http/route.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { endorse, transactionRoutes } from '../endorsements/routes.ts'
import { operate, policyLocator } from '../policies/service.ts'
import {
  RenewalActionRequest,
  RenewalCreateRequest,
  RenewalIssueRequest,
  RenewalResponse,
} from './contract.ts'

const renewals = forTenant('Renewals')

export const renewalRoutes: readonly Route[] = [
  renewals.post('/policies/{policyLocator}/renewals', {
    summary: 'Renew a policy: another term from where it ends',
    description: 'With `state` it goes through every step up to that one at once.',
    permission: 'renewals.write',
    body: { schema: RenewalCreateRequest, required: true },
    answer: { schema: RenewalResponse, description: 'The renewal.' },
    handle: async ({ params, body }, context) =>
      jsonText(
        await endorse(context, 'renewal', policyLocator(params.policyLocator), {
          action: 'renew',
          request: body,
        }),
      ),
  }),
  ...transactionRoutes('renewal', renewals, { action: RenewalActionRequest, response: RenewalResponse }),
  renewals.post('/policy/{policyLocator}/issueRenewal', {
    deprecated: true,
    summary: 'Renew a policy in one step',
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
  renewals.post('/policy/{policyLocator}/previewRenewalPrice', {
    deprecated: true,
    summary: 'What renewing a policy would change of its price',
    description: 'Nothing is stored; locators of what the renewal would add are not used again.',
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
