// The log of calls: a row in the shard of the call's record, and the two bodies in R2 because they are too large for a row.
import { sql } from 'drizzle-orm'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Calls } from '../../../platform/calls.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { putRows } from '../../../platform/database/rows.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { fileKey, shardDatabase, type Tenant, tenantFiles } from '../../../platform/tenancy.ts'
import { integrationCalls } from '../tables.ts'

export type LoggedCall = typeof integrationCalls.$inferInsert & { locator: Uuid; createdAt: Instant }

/** Both without secrets; `response` is null if there was none. */
export type CallBodies = { readonly request: string; readonly response: string | null }

/** How long the log keeps a call. */
export const KEEP_CALLS_MS = 30 * 24 * 60 * 60 * 1000

/** The most rows that one run deletes, which is also the most objects that one R2 call deletes. */
const MOST_PURGED = 1_000

const bodiesKey = (tenant: Tenant, locator: string): string => fileKey(tenant, 'integration-calls', locator)

/**
 * Writes the row first, because bodies without a row would never be purged. If the bodies cannot be stored, the row remains without
 * them.
 */
export async function keepCall(
  { env, tenant, calls }: RequestContext,
  shard: number,
  call: LoggedCall,
  bodies: CallBodies,
): Promise<void> {
  const database = shardDatabase(env, tenant, shard, calls)
  await database.batch(putRows(database, integrationCalls, [call]) as [Query, ...Query[]])
  calls.r2 += 1
  await tenantFiles(env, tenant).put(bodiesKey(tenant, call.locator), JSON.stringify(bodies), {
    httpMetadata: { contentType: 'application/json' },
  })
}

/** Returns undefined if the bodies were never stored or are deleted. */
export async function readBodies(
  { env, tenant, calls }: RequestContext,
  locator: Uuid,
): Promise<CallBodies | undefined> {
  calls.r2 += 1
  const file = await tenantFiles(env, tenant).get(bodiesKey(tenant, locator))
  return file ? ((await file.json()) as CallBodies) : undefined
}

/** The oldest calls that have expired at `at`, which is real time. */
export const oldCallsQuery = (database: Database, at: Instant) =>
  database.build.all<{ locator: string }>(
    sql`select locator from ${integrationCalls} where at <= ${at - KEEP_CALLS_MS} order by at limit ${MOST_PURGED}`,
  )

/** Deletes the bodies first: if it is interrupted, the next run finds the rows again. */
export async function purgeCalls(
  env: Env,
  tenant: Tenant,
  database: Database,
  old: readonly { locator: string }[],
  calls: Calls,
): Promise<void> {
  if (old.length === 0) return
  const locators = old.map(one => one.locator)
  calls.r2 += 1
  await tenantFiles(env, tenant).delete(locators.map(locator => bodiesKey(tenant, locator)))
  await database.batch([
    database.build.run(
      sql`delete from ${integrationCalls} where locator in (select value from json_each(${JSON.stringify(locators)}))`,
    ),
  ])
}
