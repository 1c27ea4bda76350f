import { forTenant, type Route } from '../../platform/http/route.ts'
import { operate } from '../policies/service.ts'
import { PolicyUpgradeRequest, PolicyUpgradeResponse } from './contract.ts'

const LATEST = PolicyUpgradeRequest.parse({})

const { post } = forTenant('Policies')

export const upgradeRoutes: readonly Route[] = [
  post('/policy/{policyLocator}/upgrade', {
    summary: 'Move a policy to another version of the configuration',
    description:
      'Later transactions use that version; recorded ones do not change. Responds with 400 and all problems if the version, or a constraint table in force, does not accept the content of the policy, and with 409 while a record is priced by the present version but not issued, unless `conflictHandling` is `invalidate`. Upgrading to the version that the policy already has changes nothing.',
    permission: 'policies.write',
    body: { schema: PolicyUpgradeRequest, required: false },
    answer: {
      schema: PolicyUpgradeResponse,
      description: 'The outcome of the upgrade, or the problems found.',
    },
    handle: ({ params, body }, context) =>
      operate(context, params.policyLocator, {
        kind: 'upgrade',
        request: body ?? LATEST,
      }),
  }),
]
