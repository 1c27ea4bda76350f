import { forTenant, type Route } from '../../platform/http/route.ts'
import { SelectionQuery } from '../contract.ts'
import {
  SecretCreateQuery,
  SecretCreateRequest,
  SecretResponse,
  SecretUpdateQuery,
  SecretUpdateRequest,
} from './contract.ts'

const { get, patch, post } = forTenant('Secrets')

const secret = { schema: SecretResponse, description: 'The secret, its values masked.' }

// Loaded at the first request: start-up does not need the service.
const service = () => import('./service.ts')

export const secretRoutes: readonly Route[] = [
  post('/resource/{tenantLocator}/secrets', {
    summary: 'Create a secret',
    description:
      'Values that no answer shows again. Headers of integrations and webhooks refer to them as `{{secret:staticName.item}}`: what is sent is the item of the secret that is in force then, for no jurisdiction, so the secret must be in a resource group. To write such a reference takes `secrets.read`. With `allowedHosts` it is sent to these hosts only. Where config.json declares the static name under `secrets`, all of its items are needed, and no others.',
    permission: 'secrets.write',
    query: SecretCreateQuery,
    body: { schema: SecretCreateRequest, required: true },
    answer: secret,
    handle: async ({ body, query }, context) => (await service()).createSecret(body, query, context),
  }),
  get('/resource/{tenantLocator}/secrets/{name}', {
    summary: 'Get a secret',
    description: 'Which items it has. Their values are `********`.',
    permission: 'secrets.read',
    query: SelectionQuery,
    answer: secret,
    handle: async ({ params, query }, context) => (await service()).readSecret(params.name, query, context),
  }),
  patch('/resource/{tenantLocator}/secrets/{name}', {
    summary: 'Change a secret',
    description:
      'Items that are named are set, or taken away with null; all others stay. `********` means the value that is kept. What was replaced is gone.',
    permission: 'secrets.write',
    query: SecretUpdateQuery,
    body: { schema: SecretUpdateRequest, required: true },
    answer: secret,
    handle: async ({ params, body, query }, context) =>
      (await service()).updateSecret(params.name, body, query, context),
  }),
]
