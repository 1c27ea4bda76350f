import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { component, Name } from '../../platform/wire.ts'
import { PluginLogPageResponse, PluginLogsQuery } from './contract-log.ts'
import { readLogs } from './logs.ts'

const Anything = z.unknown().describe('Any JSON.')

const LambdaRequest = component('LambdaRequest', {
  operation: Name.describe('What the function is asked to do, its first argument.'),
  payload: z.unknown().optional().describe('Any JSON, its second argument; null if it is left out.'),
})

const LambdaResponse = component('LambdaResponse', {
  payload: z.unknown().describe('What the function returned; null if it returned nothing.'),
})

const { get, post } = forTenant('Plugins')

export const pluginRoutes: readonly Route[] = [
  post('/lambda', {
    summary: 'Call a function of the configuration by a name in the body',
    description:
      'Calls the same function as `POST /lambda/{operation}`, with the `operation` and the `payload` of the body, and puts what it returns into `payload`.',
    permission: 'lambda.execute',
    body: { schema: LambdaRequest, required: true, isPassedOn: true },
    answer: { schema: LambdaResponse, description: 'What the function returned, as `payload`.' },
    handle: async ({ body }, context) => {
      const { executeLambda } = await import('./lambda.ts')
      return await executeLambda(context, body.operation, body.payload, payload => ({ payload }))
    },
  }),
  post('/lambda/{operation}', {
    summary: 'Call a function of the configuration',
    description:
      'Calls `executeLambda(operation, payload)` of the latest configuration with the body as payload, and answers what it returns. It is the plugin `executeLambda` of the first product that switches it on, else that of scripts/lambda/lambda.js; 404 where there is neither.',
    permission: 'lambda.execute',
    body: { schema: Anything, required: false, isPassedOn: true },
    answer: { schema: Anything, description: 'What the function returned.' },
    handle: async ({ params, body }, context) => {
      // Loaded at the first call, because calling plugins needs much code.
      const { executeLambda } = await import('./lambda.ts')
      return await executeLambda(context, params.operation, body)
    },
  }),
  get('/plugin/logs', {
    summary: 'Read the log of plugins',
    description:
      'Calls of plugins that printed something or failed; kept 7 days. Oldest first unless `order` says otherwise. For administrators of the tenant.',
    permission: 'plugins.read',
    query: PluginLogsQuery,
    answer: { schema: PluginLogPageResponse, description: 'A page of calls.' },
    handle: ({ query }, context) => readLogs(query, context),
  }),
]
