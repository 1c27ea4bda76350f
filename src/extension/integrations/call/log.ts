// The log of calls: a row in the shard of what the call was made for, and the two bodies in R2, since the database
// takes no row of their size.
import { sql } from 'drizzle-orm'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Calls } from '../../../platform/calls.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { type Database, putRows, type Query } from '../../../platform/database.ts'
import { fileKey, shardDatabase, type Tenant, tenantFiles } from '../../../platform/tenancy.ts'
import { integrationCalls } from '../tables.ts'

export type LoggedCall = typeof integrationCalls.$inferInsert & { locator: Uuid; createdAt: Instant }

/** What was sent and what came back, without secrets; `response` is null when no answer came. */
export type CallBodies = { readonly request: string; readonly response: string | null }

export const KEEP_CALLS_MS = 30 * 24 * 60 * 60 * 1000

/** Rows deleted in one go; R2 deletes as many objects at once. */
const MOST_PURGED = 1_000

const bodiesKey = (tenant: Tenant, locator: string): string => fileKey(tenant, 'integration-calls', locator)

/**
 * Keeps the call: its row first, since bodies without one would stay for ever. Bodies that could not be kept leave the row
 * without them.
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

/** The bodies of the call; undefined when they are not kept (any more). */
export async function readBodies(
  { env, tenant, calls }: RequestContext,
  locator: Uuid,
): Promise<CallBodies | undefined> {
  calls.r2 += 1
  const kept = await tenantFiles(env, tenant).get(bodiesKey(tenant, locator))
  return kept ? ((await kept.json()) as CallBodies) : undefined
}

/** The oldest calls that are too old at `at`, in real time. */
export const oldCallsQuery = (database: Database, at: Instant) =>
  database.build.all<{ locator: string }>(
    sql`select locator from ${integrationCalls} where at <= ${at - KEEP_CALLS_MS} order by at limit ${MOST_PURGED}`,
  )

/** Deletes the calls, their bodies first: cut off in between, they are found again. */
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
