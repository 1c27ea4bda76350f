import { forTenant, type Route } from '../../platform/http/route.ts'
import { DetailQuery } from '../../policy/contract/requests.ts'
import { ExplainQuery } from '../../policy/contract/worksheet.ts'
import { policyLocator } from '../policies/service.ts'
import { PolicyPreviewRequest, PolicyPreviewResponse } from './contract.ts'

const { post } = forTenant('Policies')

export const previewRoutes: readonly Route[] = [
  post('/policies/{policyLocator}/preview', {
    summary: 'Preview the issue of a policy, an endorsement, a renewal, a cancellation or a reinstatement',
    description:
      'Returns the price, the underwriting decision, the invoices and the policy as they would be if the transaction were issued now, and the pending transactions that conflict with it. Nothing is stored. An invalid request is rejected as the transaction itself would be. An underwriting decision against the transaction is returned, not rejected.',
    permission: ['policies.read', 'policies.price'],
    query: ExplainQuery.extend(DetailQuery.shape),
    body: { schema: PolicyPreviewRequest, required: true },
    answer: { schema: PolicyPreviewResponse, description: 'The preview.' },
    handle: async ({ params, query, body }, context) => {
      // Imported on demand: the rules and rating are a lot of code, which would slow the start.
      const { previewOf } = await import('./service.ts')
      return await previewOf(context, policyLocator(params.policyLocator), body, query)
    },
  }),
]
