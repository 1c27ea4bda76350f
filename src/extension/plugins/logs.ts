// The log of plugins, stored as rows in the shard of the call. It is not part of the transaction, so it keeps failures too.
import { eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { withoutNulls } from '../../kernel/maps.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import { type PagedRow, pageOfShards } from '../../platform/paging.ts'
import type { PluginLogPageResponse, PluginLogResponse, PluginLogsQuery } from './contract-log.ts'
import { pluginLogs } from './tables.ts'

type PluginLog = typeof pluginLogs.$inferInsert

/** How long logs of plugins are kept. */
export const KEEP_LOGS_MS = 7 * 24 * 60 * 60 * 1000

/** The most rows that one run deletes. */
const MOST_PURGED = 1_000

export const logRows = (database: Database, logs: readonly PluginLog[]): Query[] =>
  putRows(database, pluginLogs, logs)

/** Deletes the oldest logs that have expired at `at`, which is real time. */
export const purgeLogs = (database: Database, at: Instant): Query =>
  database.build.run(
    sql`delete from ${pluginLogs} where rowid in (
      select rowid from ${pluginLogs} where at <= ${at - KEEP_LOGS_MS} order by at limit ${MOST_PURGED})`,
  )

/** Returns a page of the calls that left a log, from all shards of the tenant, in one round trip for each shard. */
export async function readLogs(
  { pageSize, pagingToken, order, ...filter }: PluginLogsQuery,
  context: RequestContext,
): Promise<PluginLogPageResponse> {
  const page = { pageSize, pagingToken, order }
  const { rows, ...more } = await pageOfShards(context, pluginLogs, conditions(filter), page)
  return { logs: rows.map(response), ...more }
}

type Filter = Omit<PluginLogsQuery, 'order' | 'pageSize' | 'pagingToken'>

function conditions({ plugin, policyLocator, startTimestamp, endTimestamp }: Filter): SQL[] {
  const all: SQL[] = []
  if (plugin !== undefined) all.push(eq(pluginLogs.plugin, plugin))
  if (policyLocator !== undefined) all.push(eq(pluginLogs.policyLocator, policyLocator))
  if (startTimestamp !== undefined) all.push(gte(pluginLogs.createdAt, startTimestamp))
  if (endTimestamp !== undefined) all.push(lt(pluginLogs.createdAt, endTimestamp))
  return all
}

const response = ({
  locator,
  createdAt,
  at: _,
  lines,
  ...row
}: PagedRow<typeof pluginLogs>): PluginLogResponse => ({
  locator,
  timestamp: String(createdAt),
  ...withoutNulls(row),
  lines: [...lines],
})
