import { type Route, tenantRoute } from '../../../platform/http/route.ts'
import {
  AutofillCallResponse,
  AutofillIntegrationCreateRequest,
  AutofillIntegrationResponse,
} from './contract.ts'

const tags = ['Integrations']

/**
 * The permissions of integrations: for accounts that may deploy, or an administrator of the tenant (resources brief 11).
 */
const reading = ['integrations.read', 'deployments.deploy'] as const
const writing = ['integrations.write', 'deployments.deploy'] as const

const answer = { schema: AutofillCallResponse, description: 'The operation with its calls.' }

// The service is loaded at the first request: start-up does without it.
const service = () => import('./service.ts')

export const autofillRoutes: readonly Route[] = [
  tenantRoute({
    method: 'put',
    path: '/integrations/autofill',
    summary: 'Register what fills in an operation',
    description:
      'Of a request without `autofill` the first of these that is registered counts: `<product>.<transaction>.<action>`, `<product>.<transaction>.*`, `<product>.*.*`, `*.*.*`. An operation that is registered already gets other calls. Known everywhere within 5 seconds.',
    tags,
    permission: writing,
    body: { schema: AutofillIntegrationCreateRequest, required: true },
    answer,
    handle: async ({ body }, context) => (await service()).putOperation(context, body),
  }),
  tenantRoute({
    method: 'get',
    path: '/integrations/autofill',
    summary: 'List what fills in operations',
    tags,
    permission: reading,
    answer: { schema: AutofillIntegrationResponse, description: 'All operations, by name.' },
    handle: async (_, context) => (await service()).listOperations(context),
  }),
  tenantRoute({
    method: 'get',
    path: '/integrations/autofill/{locator}',
    summary: 'Get what fills in an operation',
    tags,
    permission: reading,
    answer,
    handle: async ({ params }, context) => (await service()).readOperation(context, params.locator),
  }),
  tenantRoute({
    method: 'delete',
    path: '/integrations/autofill/{locator}',
    summary: 'Remove what fills in an operation',
    tags,
    permission: writing,
    answer: { description: 'Removed.' },
    handle: async ({ params }, context) => (await service()).removeOperation(context, params.locator),
  }),
]
