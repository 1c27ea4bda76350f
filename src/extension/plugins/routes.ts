import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { component, Name } from '../../platform/wire.ts'
import { PluginLogPageResponse, PluginLogsQuery } from './contract-log.ts'
import { readLogs } from './logs.ts'

const Anything = z.unknown().describe('Any JSON.')

const LambdaRequest = component('LambdaRequest', {
  operation: Name.describe('The name of the operation, passed as the first argument.'),
  payload: z.unknown().optional().describe('Any JSON, passed as the second argument. Default: null.'),
})

const LambdaResponse = component('LambdaResponse', {
  payload: z.unknown().describe('The return value of the function. null if it returned nothing.'),
})

const { get, post } = forTenant('Plugins')

export const pluginRoutes: readonly Route[] = [
  post('/lambda', {
    summary: 'Call a function of the configuration by a name in the body',
    description:
      'Calls the same function as `POST /lambda/{operation}`, with the `operation` and the `payload` of the body. Its return value is the `payload` of the answer.',
    permission: 'lambda.execute',
    body: { schema: LambdaRequest, required: true, isPassedOn: true },
    answer: { schema: LambdaResponse, description: 'The return value of the function, as `payload`.' },
    handle: async ({ body }, context) => {
      const { executeLambda } = await import('./lambda.ts')
      return await executeLambda(context, body.operation, body.payload, payload => ({ payload }))
    },
  }),
  post('/lambda/{operation}', {
    summary: 'Call a function of the configuration',
    description:
      'Calls `executeLambda(operation, payload)` of the latest configuration with the body as payload, and returns the result. This is the plugin `executeLambda` of the first product that enables it, otherwise the function in scripts/lambda/lambda.js. Responds with 404 if there is neither.',
    permission: 'lambda.execute',
    body: { schema: Anything, required: false, isPassedOn: true },
    answer: { schema: Anything, description: 'The return value of the function.' },
    handle: async ({ params, body }, context) => {
      // Loaded at the first call, because calling plugins needs much code.
      const { executeLambda } = await import('./lambda.ts')
      return await executeLambda(context, params.operation, body)
    },
  }),
  get('/plugin/logs', {
    summary: 'Read the log of plugins',
    description:
      'Returns calls of plugins that printed something or failed, oldest first unless `order` says otherwise. They are stored for 7 days. For administrators of the tenant.',
    permission: 'plugins.read',
    query: PluginLogsQuery,
    answer: { schema: PluginLogPageResponse, description: 'A page of calls.' },
    handle: ({ query }, context) => readLogs(query, context),
  }),
]
