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

const secret = { schema: SecretResponse, description: 'The secret, with its values masked.' }

// Loaded at the first request: start-up does not need the service.
const service = () => import('./service.ts')

export const secretRoutes: readonly Route[] = [
  post('/resource/{tenantLocator}/secrets', {
    summary: 'Create a secret',
    description:
      'No answer shows the values again. Headers of integrations and webhooks refer to them as `{{secret:staticName.item}}`: the item is taken from the secret that is then in force, for no jurisdiction, so the secret must be in a resource group. Writing such a reference requires `secrets.read`. With `allowedHosts`, the secret is sent only to these hosts. If config.json declares the static name under `secrets`, all of its items are required, and no others are permitted.',
    permission: 'secrets.write',
    query: SecretCreateQuery,
    body: { schema: SecretCreateRequest, required: true },
    answer: secret,
    handle: async ({ body, query }, context) => (await service()).createSecret(body, query, context),
  }),
  get('/resource/{tenantLocator}/secrets/{name}', {
    summary: 'Get a secret',
    description: 'Returns the names of its items. Their values are `********`.',
    permission: 'secrets.read',
    query: SelectionQuery,
    answer: secret,
    handle: async ({ params, query }, context) => (await service()).readSecret(params.name, query, context),
  }),
  patch('/resource/{tenantLocator}/secrets/{name}', {
    summary: 'Change a secret',
    description:
      'Items in the request are set, or removed if they are null; all others are unchanged. `********` keeps the stored value. Replaced values cannot be recovered.',
    permission: 'secrets.write',
    query: SecretUpdateQuery,
    body: { schema: SecretUpdateRequest, required: true },
    answer: secret,
    handle: async ({ params, body, query }, context) =>
      (await service()).updateSecret(params.name, body, query, context),
  }),
]
