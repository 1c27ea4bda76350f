// A webhook's row as a shard takes it in, with what follows for the deliveries that are there. The same statements serve
// the home shard, inside the commit of the change, and the others, when the copy comes (copies.ts).
import { sql } from 'drizzle-orm'
import type { Instant } from '../../../kernel/time.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { deliveries, webhooks } from '../../../platform/events/tables.ts'
import { relinked, replayed } from '../delivery/lines.ts'
import type { WebhookRow } from './store.ts'

/** Queries that take in the row where it is newer than what is there. A second time they change nothing. */
export function applied(database: Database, row: WebhookRow, at: Instant): Query[] {
  const { build } = database
  const unseen = sql`exists (select 1 from ${webhooks}
    where locator = ${row.locator} and version < ${row.replayVersion})`
  return [
    ...(row.replayVersion > 0 ? [replayed(database, row.locator, at, unseen)] : []),
    build.run(sql`delete from ${webhooks} where locator = ${row.locator} and version < ${row.version}`),
    // After the older one is gone: where there is one still, it is newer, and stays.
    build.insert(webhooks).values(row).onConflictDoNothing({ target: webhooks.locator }),
    ...settled(database, row.locator, at),
  ]
}

/** Queries that remove the webhook, and end what waits for it. */
export const removed = (database: Database, locator: string, at: Instant): Query[] => [
  database.build.run(sql`delete from ${webhooks} where locator = ${locator}`),
  ...settled(database, locator, at),
]

/** Queries that suspend the webhook where it is not suspended yet: home only, copies follow. */
export const suspended = (database: Database, locator: string, at: Instant): Query[] => [
  database.build.run(
    sql`update ${webhooks} set suspended_at = ${at}, version = version + 1
      where locator = ${locator} and suspended_at is null`,
  ),
  ...settled(database, locator, at),
]

/**
 * What the state of the webhook means for its deliveries: of one that is gone all end; of a suspended one what is
 * unfinished is put aside; of any other what was skipped and not asked for ends.
 */
function settled(database: Database, locator: string, at: Instant): Query[] {
  const { build } = database
  const row = sql`select 1 from ${webhooks} where locator = ${locator}`
  return [
    build.run(sql`
      update ${deliveries} set state = 'failed', outcome = 'deleted', finished_at = ${at}, diverted_at = null
      where webhook_locator = ${locator} and not exists (${row})
        and (finished_at is null or diverted_at is not null or state = 'skipped')`),
    build.run(sql`
      update ${deliveries} set outcome = 'suspended', finished_at = ${at},
        state = iif(w.divert or diverted_at is not null, 'diverted', 'skipped'),
        diverted_at = iif(w.divert, coalesce(diverted_at, ${at}), diverted_at)
      from (select coalesce(failure_handling ->> 'divert', 0) as divert from ${webhooks}
        where locator = ${locator} and suspended_at is not null) w
      where webhook_locator = ${locator} and finished_at is null`),
    build.run(sql`
      update ${deliveries} set state = 'failed'
      where webhook_locator = ${locator} and state = 'skipped' and exists (${row} and suspended_at is null)`),
    ...relinked(database, locator),
  ]
}
