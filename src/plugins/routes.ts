import { type Route, tenantRoute } from '../platform/http/route.ts'
import { PluginLogPageResponse, PluginLogsQuery } from './contract-log.ts'
import { readLogs } from './logs.ts'

export const pluginRoutes: readonly Route[] = [
  tenantRoute({
    method: 'get',
    path: '/plugin/logs',
    summary: 'Read the log of plugins',
    description:
      'Calls of plugins that printed something or failed, oldest first; kept 7 days. For administrators of the tenant.',
    tags: ['Plugins'],
    permission: 'plugins.read',
    query: PluginLogsQuery,
    answer: { schema: PluginLogPageResponse, description: 'A page of calls.' },
    handle: ({ query }, context) => readLogs(query, context),
  }),
]
