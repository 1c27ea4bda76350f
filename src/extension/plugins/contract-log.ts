// The log of plugins: what they printed, and why they failed.
import { z } from '@hono/zod-openapi'
import {
  Integer,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
} from '../../platform/wire.ts'

export const PluginLogsQuery = z.object({
  plugin: OptionalName.openapi({ description: 'Calls of this function only, e.g. getPerilRates.' }),
  policyLocator: OptionalName.openapi({ description: 'Calls for this policy only.' }),
  startTimestamp: OptionalTimestamp.openapi({ description: 'Calls from this time on.' }),
  endTimestamp: OptionalTimestamp.openapi({ description: 'Calls before this time.' }),
  pageSize: PageSize,
  pagingToken: PagingToken,
})

export type PluginLogsQuery = z.infer<typeof PluginLogsQuery>

const Line = z.object({ level: z.enum(['debug', 'info', 'warn', 'error']), text: Text })

export const PluginLogResponse = z
  .object({
    locator: Text,
    timestamp: Timestamp,
    plugin: Text.openapi({ description: 'The function.' }),
    path: Text.openapi({ description: 'Its file below scripts/.' }),
    productName: Text,
    configVersion: Integer,
    policyLocator: OptionalText,
    requestId: Text.openapi({ description: 'X-Request-Id of the request that made the call.' }),
    username: Text,
    failure: OptionalText.openapi({ description: 'Why it failed, and where; absent when it did not.' }),
    lines: z.array(Line).openapi({ description: 'What it printed, in order.' }),
  })
  .openapi('PluginLogResponse')

export type PluginLogResponse = z.infer<typeof PluginLogResponse>

/** Oldest first; without `pagingToken` it is the last page. */
export const PluginLogPageResponse = z
  .object({ logs: z.array(PluginLogResponse), pagingToken: OptionalText })
  .openapi('PluginLogPageResponse')

export type PluginLogPageResponse = z.infer<typeof PluginLogPageResponse>
