import { forTenant, type Route } from '../../platform/http/route.ts'
import { SecretDeleteQuery, SecretUsageResponse } from './service.ts'

const { delete: remove, get } = forTenant('Secrets')

const service = () => import('./service.ts')

export const secretUsageRoutes: readonly Route[] = [
  remove('/resource/{tenantLocator}/secrets/{name}', {
    summary: 'Delete a secret',
    description:
      'Rejected (409) while a webhook, an integration or the deployed configuration refers to its static name, unless `force=true`. A secret in no resource group can be deleted if others have the same static name. Deleting removes the secret from its groups.',
    permission: 'secrets.write',
    query: SecretDeleteQuery,
    answer: { description: 'The secret is deleted.' },
    handle: async ({ params, query }, context) => (await service()).deleteSecret(params.name, query, context),
  }),
  get('/resource/{tenantLocator}/secrets/{name}/usage', {
    summary: 'List the references to a secret',
    permission: 'secrets.read',
    answer: {
      schema: SecretUsageResponse,
      description: 'The webhooks, integrations and configuration that refer to it.',
    },
    handle: async ({ params }, context) => (await service()).readUsage(params.name, context),
  }),
]
