// Rows of `write` answer repeats for 30 days (docs/design.md, section 5); then they go.
import { sql } from 'drizzle-orm'
import { KEEP_WRITES_MS } from '../platform/commit.ts'
import type { Database, Query } from '../platform/database.ts'
import { derivedUuid } from '../platform/locators.ts'
import { timers, writes } from '../platform/tables.ts'
import { now } from '../platform/time.ts'
import type { Firing } from './timers.ts'

export const WRITES_PURGE = 'writes.purge'

/** Rows deleted in one go. */
const MOST_PURGED = 1_000

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Sets the shard's purge timer when it has writes and no such timer. The dispatcher asks for it whenever it works,
 * which it does after every commit with events; so no database needs to be born with the timer, and one that has
 * nothing left to purge is left alone.
 */
export const ensurePurgeTimer = (database: Database, shard: number): Query =>
  database.build.run(sql`
    insert into ${timers} (locator, due_at, kind, subject, payload)
    select ${derivedUuid(shard, WRITES_PURGE)}, at + ${KEEP_WRITES_MS}, ${WRITES_PURGE}, '', '{}'
    from ${writes} where true order by at limit 1
    on conflict (locator) do nothing`)

/**
 * Deletes writes that are too old, a bounded number, and sets the timer for what is left: at once when more are
 * too old, else when the oldest will be, at most once a day.
 */
export async function purgeWrites({ database, timer }: Firing): Promise<void> {
  const at = now()
  const cutOff = at - KEEP_WRITES_MS
  const oldest = sql`(select min(at) from ${writes})`
  await database.batch([
    database.build.run(
      sql`delete from ${writes} where rowid in (
        select rowid from ${writes} where at <= ${cutOff} order by at limit ${MOST_PURGED})`,
    ),
    database.build.run(
      sql`update ${timers}
        set due_at = iif(${oldest} <= ${cutOff}, ${at}, max(${oldest} + ${KEEP_WRITES_MS}, ${at + DAY_MS}))
        where locator = ${timer.locator} and ${oldest} is not null`,
    ),
    database.build.run(sql`delete from ${timers} where locator = ${timer.locator} and ${oldest} is null`),
  ])
}
