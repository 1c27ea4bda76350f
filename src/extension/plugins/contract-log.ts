// The log of plugins: what they print, and their failures.
import { z } from '@hono/zod-openapi'
import {
  component,
  Integer,
  ListOrder,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
} from '../../platform/wire.ts'

export const PluginLogsQuery = z.object({
  plugin: OptionalName.describe('Returns only calls of this function, such as getPerilRates.'),
  policyLocator: OptionalName.describe('Returns only calls for this policy.'),
  startTimestamp: OptionalTimestamp.describe('Returns only calls at or after this time.'),
  endTimestamp: OptionalTimestamp.describe('Returns only calls before this time.'),
  order: ListOrder,
  pageSize: PageSize,
  pagingToken: PagingToken,
})

export type PluginLogsQuery = z.infer<typeof PluginLogsQuery>

const Line = z.object({ level: z.enum(['debug', 'info', 'warn', 'error']), text: Text })

export const PluginLogResponse = component('PluginLogResponse', {
  locator: Text,
  timestamp: Timestamp,
  plugin: Text.describe('The function that was called.'),
  path: Text.describe('The file of the function, under scripts/.'),
  productName: Text,
  configVersion: Integer,
  policyLocator: OptionalText,
  requestId: Text.describe('X-Request-Id of the request that made the call.'),
  username: Text,
  failure: OptionalText.describe(
    'Why the function failed, and where, or why its answer was rejected. Absent otherwise.',
  ),
  lines: z.array(Line).describe('The lines that the function printed, in order.'),
})

export type PluginLogResponse = z.infer<typeof PluginLogResponse>

/** Oldest first unless the request says otherwise. The last page has no `pagingToken`. */
export const PluginLogPageResponse = component('PluginLogPageResponse', {
  logs: z.array(PluginLogResponse),
  pagingToken: OptionalText,
})

export type PluginLogPageResponse = z.infer<typeof PluginLogPageResponse>
