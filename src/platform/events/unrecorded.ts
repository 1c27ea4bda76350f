// Files are stored before the commit that records them, so that whatever is recorded can be read. Where that commit never comes
// (a request that is cut off, a store that does not answer) nobody else knows of the file; so a timer does, from before it is
// stored, and deletes it unless a record names it by then.
import { eq } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { derivedUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../context.ts'
import { putRows, type Query } from '../database.ts'
import { type TimerKind, timers } from '../tables.ts'
import { shardDatabase } from '../tenancy.ts'
import { armDispatcher } from './announcement.ts'
import type { ShardPlace, TimerOwner } from './timers.ts'

/**
 * How long whoever stored a file may take to record it, a slow upload included. In real time: a tenant's clock may be moved while
 * a request is under way.
 */
export const RECORDED_WITHIN_MS = 60 * 60_000

/** To be awaited before a file is stored that a record with this locator is to name. One round trip. */
export async function expectRecord(context: RequestContext, kind: TimerKind, locator: Uuid): Promise<void> {
  const { env, tenant, calls } = context
  const shard = shardOfUuid(locator)
  const until = now() + RECORDED_WITHIN_MS
  const timer = {
    locator: derivedUuid(shard, kind, locator),
    dueAt: (context.now + RECORDED_WITHIN_MS) as Instant,
    kind,
    subject: locator,
    payload: { until: String(until) },
  }
  await armDispatcher(context, shard)
  const database = shardDatabase(env, tenant, shard, calls)
  await database.batch(putRows(database, timers, [timer]) as [Query, ...Query[]])
}

/** Calls `remove` for a file that no row of the table names, once nobody can be about to record it. */
export const unlessRecorded =
  (
    table: SQLiteTable & { locator: SQLiteColumn },
    remove: (locator: Uuid, place: ShardPlace) => Promise<unknown>,
  ): TimerOwner =>
  async ({ subject, payload }, place) => {
    const { env, tenant, shard, calls } = place
    const database = shardDatabase(env, tenant, shard, calls)
    const [rows] = await database.batch([
      database.build.select({ locator: table.locator }).from(table).where(eq(table.locator, subject)),
    ])
    if (rows.length > 0) return undefined
    if (now() < Number(payload.until ?? 0)) return 'later'
    await remove(subject as Uuid, place)
    return undefined
  }
