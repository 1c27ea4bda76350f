// Copies of webhooks. Deliveries are made by a statement inside the batch of the shard where the event happens,
// which can only see that shard's own tables; so every shard has a copy of the home shard's `webhook`.
import { eq, type SQL, sql } from 'drizzle-orm'
import { newUuid } from '../../../kernel/locators.ts'
import { type Instant, now } from '../../../kernel/time.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import { type Database, putRows, type Query } from '../../../platform/database.ts'
import { deliveries, webhooks } from '../../../platform/events/tables.ts'
import type { ShardPlace, TimerOwner } from '../../../platform/events/timers.ts'
import { timers } from '../../../platform/tables.ts'
import { HOME_SHARD, homeDatabase, type Tenant, tenantNow } from '../../../platform/tenancy.ts'
import { shardDatabases } from '../stream/store.ts'
import type { WebhookRow } from './store.ts'

/** How long a change may be on its way to the other shards before the dispatcher takes it there. */
const COPIED_WITHIN_MS = 60_000

/** Timers for the commit of a change of the webhook: should the copying be cut off, the dispatcher does it. */
export const copyTimers = (tenant: Tenant, webhook: string, at: Instant): NewTimer[] =>
  tenant.shards.length === 1
    ? []
    : [{ dueAt: (at + COPIED_WITHIN_MS) as Instant, kind: 'webhook.copy', subject: webhook, payload: {} }]

/** Queries that take the home shard's row into another shard, where it is newer than what is there. */
export const copyQueries = (database: Database, row: WebhookRow, at: Instant): Query[] =>
  applied(database, { ...row, name: row.locator }, at)

/** When the timer is due. */
export const webhookCopyDue: TimerOwner = ({ subject }, place) => copyWebhook(place, subject)

type TenantPlace = Pick<ShardPlace, 'env' | 'tenant' | 'calls'>

/** Makes every other shard's copy what the home shard has: the row as it is now, or none. */
export async function copyWebhook(place: TenantPlace, webhook: string): Promise<void> {
  const [home, ...others] = shardDatabases(place)
  if (!home || others.length === 0) return
  const [[row]] = await home.batch([home.build.select().from(webhooks).where(eq(webhooks.locator, webhook))])
  await Promise.all(
    others.map(async database => {
      const change = row ? copyQueries(database, row, now()) : removed(database, webhook, now())
      await database.batch(change as [Query, ...Query[]])
    }),
  )
}

// Statements that take a webhook's row into a shard and settle its deliveries there: in the home shard within the commit of the
// change, in the others when the copy comes.
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

/**
 * Settles deliveries by the webhook's state. Deleted: all end. Suspended: unfinished ones are put aside. Otherwise: skipped ones
 * that nobody asked for end.
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

/** Suspends a webhook, in the home shard first, since clients see that row. If cut off, the timer of the copies does the rest. */
export async function suspendWebhook(place: TenantPlace, locator: string, at: Instant): Promise<void> {
  const { tenant } = place
  const home = homeDatabase(place)
  const copies = copyTimers(tenant, locator, tenantNow(tenant))
  await home.batch([
    home.build.run(
      sql`update ${webhooks} set suspended_at = ${at}, version = version + 1
        where locator = ${locator} and suspended_at is null`,
    ),
    ...settled(home, locator, at),
    ...putRows(
      home,
      timers,
      copies.map(timer => ({ locator: newUuid(HOME_SHARD), ...timer })),
    ),
  ])
  await copyWebhook(place, locator)
}

// The order of deliveries: in each line (tables.ts) the earliest unfinished one is `pending`, all behind it `waiting`.
/** Whether an unfinished delivery of the same webhook and line is before the row `d`. */
const isBehind = sql`exists (select 1 from ${deliveries} e
  where e.webhook_locator = d.webhook_locator and e.line = d.line and e.finished_at is null
    and e.event_sequence < d.event_sequence)`

/** Queries that put all unfinished deliveries of the webhook into order again. */
export const relinked = (database: Database, webhookLocator: string): Query[] => [
  database.build.run(sql`
    update ${deliveries} as d set state = 'waiting'
    where webhook_locator = ${webhookLocator} and finished_at is null and state = 'pending'
      and line is not null and ${isBehind}`),
  database.build.run(sql`
    update ${deliveries} as d set state = 'pending'
    where webhook_locator = ${webhookLocator} and finished_at is null and state = 'waiting' and not ${isBehind}`),
]

/** A query that lets everything that was put aside wait again, where `holds` is true; `relinked` must follow. */
export const replayed = (database: Database, webhookLocator: string, at: Instant, holds: SQL): Query =>
  database.build.run(sql`
    update ${deliveries} set state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
    where webhook_locator = ${webhookLocator} and state in ('skipped', 'diverted') and ${holds}`)
