import { forTenant, type Route } from '../../platform/http/route.ts'
import { DetailQuery } from '../../policy/contract/requests.ts'
import { ExplainQuery } from '../../policy/contract/worksheet.ts'
import { policyLocator } from '../policies/service.ts'
import { PolicyPreviewRequest, PolicyPreviewResponse } from './contract.ts'

const { post } = forTenant('Policies')

export const previewRoutes: readonly Route[] = [
  post('/policies/{policyLocator}/preview', {
    summary:
      'What issuing a policy, an endorsement, a renewal, a cancellation or a reinstatement would come to',
    description:
      'Price, underwriting, invoices and the policy as it would be once the transaction is issued now, and what stands in its way. Nothing is stored. What is wrong with the request is refused as the transaction itself would be; what underwriting does not accept is answered, not refused.',
    permission: ['policies.read', 'policies.price'],
    query: ExplainQuery.extend(DetailQuery.shape),
    body: { schema: PolicyPreviewRequest, required: true },
    answer: { schema: PolicyPreviewResponse, description: 'What it would come to.' },
    handle: async ({ params, query, body }, context) => {
      // Imported on demand: the rules and rating are a lot of code, which would slow the start.
      const { previewOf } = await import('./service.ts')
      return await previewOf(context, policyLocator(params.policyLocator), body, query)
    },
  }),
]
