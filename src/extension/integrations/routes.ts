import { forTenant, type Route } from '../../platform/http/route.ts'
import {
  AutofillCallResponse,
  AutofillIntegrationCreateRequest,
  AutofillIntegrationResponse,
  ExternalServiceIntegrationAddRequest,
  ExternalServiceIntegrationsResponse,
  ExternalServiceIntegrationUpdateRequest,
  IntegrationCallBodiesResponse,
  IntegrationCallPageResponse,
  IntegrationCallsQuery,
} from './contract.ts'

const { delete: remove, get, post, put } = forTenant('Integrations')

/** Permitted for accounts that may deploy, and for administrators of the tenant (resources brief 11). */
const reading = ['integrations.read', 'deployments.deploy'] as const
const writing = ['integrations.write', 'deployments.deploy'] as const

const all = { schema: ExternalServiceIntegrationsResponse, description: 'All integrations of the tenant.' }
const call = { schema: IntegrationCallBodiesResponse, description: 'The call with its bodies.' }

// Loaded at the first request: start-up does not need the service.
const service = () => import('./service.ts')
const callLog = () => import('./call/reading.ts')

export const integrationRoutes: readonly Route[] = [
  get('/integrations', {
    summary: 'List external services',
    permission: reading,
    answer: all,
    handle: async (_, context) => (await service()).listIntegrations(context),
  }),
  post('/integrations', {
    summary: 'Register an external service',
    description:
      'A product with `"externalRater": "<name>"` in policy.json is rated by the integration of that name, instead of any plugin or template. The name must be unique (otherwise 409). An integration of type data_autofill completes requests: see PUT /integrations/autofill. The address must be https and on the public internet. With a secret, calls are signed: `socotra-signature` is the hexadecimal HMAC-SHA256 of the body, and the headers of Standard Webhooks are sent as well.',
    permission: writing,
    body: { schema: ExternalServiceIntegrationAddRequest, required: true },
    answer: all,
    handle: async ({ body }, context) => (await service()).addIntegration(body, context),
  }),
  put('/integrations/{integrationName}', {
    summary: 'Replace an external service',
    description:
      'Replaces everything except the name and type: headers and security that the request omits are removed. A value of `********`, as answers show secrets, keeps the stored value.',
    permission: writing,
    body: { schema: ExternalServiceIntegrationUpdateRequest, required: true },
    answer: all,
    handle: async ({ params, body }, context) =>
      (await service()).replaceIntegration(params.integrationName, body, context),
  }),
  remove('/integrations/{integrationName}', {
    summary: 'Remove an external service',
    description:
      'Responds with 409 if the integration is used by the newest configuration, by one that has policies, or by an autofill operation.',
    permission: writing,
    answer: all,
    handle: async ({ params }, context) =>
      (await service()).removeIntegration(params.integrationName, context),
  }),
  get('/integrations/{integrationName}/calls', {
    summary: 'Read the log of calls',
    description: 'Returns all calls, oldest first. They are stored for 30 days.',
    permission: reading,
    query: IntegrationCallsQuery,
    answer: { schema: IntegrationCallPageResponse, description: 'A page of calls.' },
    handle: async ({ params, query }, context) =>
      (await callLog()).readCalls(params.integrationName, query, context),
  }),
  get('/integrations/{integrationName}/calls/{callLocator}', {
    summary: 'Read a call with its bodies',
    permission: reading,
    answer: call,
    handle: async ({ params }, context) =>
      (await callLog()).readCall(params.integrationName, params.callLocator, context),
  }),
  post('/integrations/{integrationName}/calls/{callLocator}/replay', {
    summary: 'Repeat a call',
    description:
      'Sends the logged body to the present address of the integration and returns the new call, even if it fails. Nothing else changes.',
    permission: writing,
    answer: call,
    handle: async ({ params }, context) =>
      (await callLog()).replayCall(params.integrationName, params.callLocator, context),
  }),
]

const operation = { schema: AutofillCallResponse, description: 'The operation with its calls.' }

const autofill = () => import('./autofill/service.ts')

export const autofillRoutes: readonly Route[] = [
  put('/integrations/autofill', {
    summary: 'Register an autofill operation',
    description:
      'For a request without `autofill`, the first of these that is registered applies: `<product>.<transaction>.<action>`, `<product>.<transaction>.*`, `<product>.*.*`, `*.*.*`. Registering an operation again replaces its calls. Takes effect everywhere within 5 seconds.',
    permission: writing,
    body: { schema: AutofillIntegrationCreateRequest, required: true },
    answer: operation,
    handle: async ({ body }, context) => (await autofill()).putOperation(context, body),
  }),
  get('/integrations/autofill', {
    summary: 'List the autofill operations',
    permission: reading,
    answer: { schema: AutofillIntegrationResponse, description: 'All operations, by name.' },
    handle: async (_, context) => (await autofill()).listOperations(context),
  }),
  get('/integrations/autofill/{locator}', {
    summary: 'Get an autofill operation',
    permission: reading,
    answer: operation,
    handle: async ({ params }, context) => (await autofill()).readOperation(context, params.locator),
  }),
  remove('/integrations/autofill/{locator}', {
    summary: 'Remove an autofill operation',
    permission: writing,
    answer: { description: 'Removed.' },
    handle: async ({ params }, context) => (await autofill()).removeOperation(context, params.locator),
  }),
]
