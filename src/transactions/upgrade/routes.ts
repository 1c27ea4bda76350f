import { forTenant, type Route } from '../../platform/http/route.ts'
import { operate } from '../policies/service.ts'
import { PolicyUpgradeRequest, PolicyUpgradeResponse } from './contract.ts'

const LATEST = PolicyUpgradeRequest.parse({})

const { post } = forTenant('Policies')

export const upgradeRoutes: readonly Route[] = [
  post('/policy/{policyLocator}/upgrade', {
    summary: 'Move a policy to another version of the configuration',
    description:
      'Its later transactions go by that version; what was recorded stays as it is. Refused with 400 and all problems where the version, or a constraint table in force, does not take what the policy has, and with 409 while something is priced by the version that it has now and not issued, unless `conflictHandling` is `invalidate`. The version that the policy has already is answered, and nothing is done.',
    permission: 'policies.write',
    body: { schema: PolicyUpgradeRequest, required: false },
    answer: { schema: PolicyUpgradeResponse, description: 'What was done, or found.' },
    handle: ({ params, body }, context) =>
      operate(context, params.policyLocator, {
        kind: 'upgrade',
        request: body ?? LATEST,
      }),
  }),
]
