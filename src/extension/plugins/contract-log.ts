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
  plugin: OptionalName.describe('Calls of this function only, e.g. getPerilRates.'),
  policyLocator: OptionalName.describe('Calls for this policy only.'),
  startTimestamp: OptionalTimestamp.describe('Calls from this time on.'),
  endTimestamp: OptionalTimestamp.describe('Calls before this time.'),
  order: ListOrder,
  pageSize: PageSize,
  pagingToken: PagingToken,
})

export type PluginLogsQuery = z.infer<typeof PluginLogsQuery>

const Line = z.object({ level: z.enum(['debug', 'info', 'warn', 'error']), text: Text })

export const PluginLogResponse = component('PluginLogResponse', {
  locator: Text,
  timestamp: Timestamp,
  plugin: Text.describe('The function.'),
  path: Text.describe('Its file below scripts/.'),
  productName: Text,
  configVersion: Integer,
  policyLocator: OptionalText,
  requestId: Text.describe('X-Request-Id of the request that made the call.'),
  username: Text,
  failure: OptionalText.describe(
    'Why it failed, and where, or why its answer was refused; absent when neither.',
  ),
  lines: z.array(Line).describe('What it printed, in order.'),
})

export type PluginLogResponse = z.infer<typeof PluginLogResponse>

/** Oldest first unless the request says otherwise. The last page has no `pagingToken`. */
export const PluginLogPageResponse = component('PluginLogPageResponse', {
  logs: z.array(PluginLogResponse),
  pagingToken: OptionalText,
})

export type PluginLogPageResponse = z.infer<typeof PluginLogPageResponse>
