import { forTenant, type Route } from '../../platform/http/route.ts'
import { SecretDeleteQuery, SecretUsageResponse } from './service.ts'

const { delete: remove, get } = forTenant('Secrets')

const service = () => import('./service.ts')

export const secretUsageRoutes: readonly Route[] = [
  remove('/resource/{tenantLocator}/secrets/{name}', {
    summary: 'Delete a secret',
    description:
      'Refused (409) while a webhook, an integration or the deployed configuration refers to its static name, unless `force=true`; but for one in no resource group, where there are others of the static name. It is taken out of its groups.',
    permission: 'secrets.write',
    query: SecretDeleteQuery,
    answer: { description: 'It is gone.' },
    handle: async ({ params, query }, context) => (await service()).deleteSecret(params.name, query, context),
  }),
  get('/resource/{tenantLocator}/secrets/{name}/usage', {
    summary: 'See who refers to a secret',
    permission: 'secrets.read',
    answer: { schema: SecretUsageResponse, description: 'Webhooks, integrations and the configuration.' },
    handle: async ({ params }, context) => (await service()).readUsage(params.name, context),
  }),
]
