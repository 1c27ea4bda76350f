// Every shard has a copy of the home shard's webhooks. A statement in the batch of the shard where an event happens creates the
// deliveries, and it sees only that shard's tables.
import { eq, type SQL, sql } from 'drizzle-orm'
import { newUuid } from '../../../kernel/locators.ts'
import { type Instant, now } from '../../../kernel/time.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import { putRows } from '../../../platform/database/rows.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { deliveries, webhooks } from '../../../platform/events/tables.ts'
import type { TimerOwner } from '../../../platform/events/timers.ts'
import { timers } from '../../../platform/tables.ts'
import {
  HOME_SHARD,
  homeDatabase,
  shardDatabases,
  type Tenant,
  type TenantPlace,
  tenantNow,
} from '../../../platform/tenancy.ts'
import type { WebhookRow } from './webhook.ts'

/** The dispatcher copies a change that is not copied within this time. */
const COPIED_WITHIN_MS = 60_000

/** Returns the timer for the commit of a change. If copying is cut off, the dispatcher copies the change. */
export const copyTimers = (tenant: Tenant, webhook: string, at: Instant): NewTimer[] =>
  tenant.shards.length === 1
    ? []
    : [{ dueAt: (at + COPIED_WITHIN_MS) as Instant, kind: 'webhook.copy', subject: webhook, payload: {} }]

/** The copy uses the locator as its name. Names are unique, and copies that arrive out of order could clash. */
export const copyQueries = (database: Database, row: WebhookRow, at: Instant): Query[] =>
  putWebhook(database, { ...row, name: row.locator }, at)

/** Copies a changed or deleted webhook again, because the first copying may have been cut off. */
export const webhookCopyDue: TimerOwner = ({ subject }, place) => copyWebhook(place, subject)

/** Makes the copies in the other shards equal to the home shard's row, or removes them if there is no such row. */
export async function copyWebhook(place: TenantPlace, webhook: string): Promise<void> {
  const [home, ...others] = shardDatabases(place)
  if (!home || others.length === 0) return
  const [[row]] = await home.batch([home.build.select().from(webhooks).where(eq(webhooks.locator, webhook))])
  await Promise.all(
    others.map(async database => {
      const change = row ? copyQueries(database, row, now()) : removeWebhook(database, webhook, now())
      await database.batch(change as [Query, ...Query[]])
    }),
  )
}

/**
 * Stores the row if it is newer than the one in the shard, and matches its deliveries to it. In the home shard this is part of the
 * commit of the change; elsewhere it runs when the copy arrives. Idempotent, so that an interrupted copy can be repeated.
 */
export function putWebhook(database: Database, row: WebhookRow, at: Instant): Query[] {
  const { build } = database
  const unseen = sql`exists (select 1 from ${webhooks}
    where locator = ${row.locator} and version < ${row.replayVersion})`
  return [
    ...(row.replayVersion > 0 ? [replayDeliveries(database, row.locator, at, unseen)] : []),
    build.run(sql`delete from ${webhooks} where locator = ${row.locator} and version < ${row.version}`),
    // The older row is gone: a row that still exists is newer and stays.
    build.insert(webhooks).values(row).onConflictDoNothing({ target: webhooks.locator }),
    ...matchDeliveriesToState(database, row.locator, at),
  ]
}

/** Deletes the shard's row of the webhook. Its unfinished, diverted and skipped deliveries fail. */
export const removeWebhook = (database: Database, locator: string, at: Instant): Query[] => [
  database.build.run(sql`delete from ${webhooks} where locator = ${locator}`),
  ...matchDeliveriesToState(database, locator, at),
]

/**
 * Changes deliveries to match the webhook's state. Deleted: all unfinished, diverted and skipped deliveries fail. Suspended: unfinished
 * deliveries are diverted or skipped. Otherwise: skipped deliveries that are not replayed fail.
 */
function matchDeliveriesToState(database: Database, locator: string, at: Instant): Query[] {
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
    ...relinkDeliveries(database, locator),
  ]
}

/**
 * Suspends a webhook and logs a line for the operator. Changes the home shard first, since clients see that row. If it is cut off,
 * the timer copies the change. Returns false if it was already suspended: of several simultaneous failures, only one suspends.
 */
export async function suspendWebhook(place: TenantPlace, locator: string, at: Instant): Promise<boolean> {
  const { tenant } = place
  const home = homeDatabase(place)
  const copies = copyTimers(tenant, locator, tenantNow(tenant))
  const [suspended] = await home.batch([
    home.build.run(
      sql`update ${webhooks} set suspended_at = ${at}, version = version + 1
        where locator = ${locator} and suspended_at is null`,
    ),
    ...matchDeliveriesToState(home, locator, at),
    ...putRows(
      home,
      timers,
      copies.map(timer => ({ locator: newUuid(HOME_SHARD), ...timer })),
    ),
  ])
  const hasSuspended = (suspended as D1Result).meta.changes > 0
  if (hasSuspended)
    console.warn(JSON.stringify({ at: 'webhook suspended', tenant: tenant.name, webhook: locator }))
  await copyWebhook(place, locator)
  return hasSuspended
}

/** Whether an unfinished delivery comes before the row `d` in its line. */
const isBehind = sql`exists (select 1 from ${deliveries} e
  where e.webhook_locator = d.webhook_locator and e.line = d.line and e.finished_at is null
    and e.event_sequence < d.event_sequence)`

/** Makes the earliest unfinished delivery of each line (tables.ts) `pending`, and the others `waiting`. */
export const relinkDeliveries = (database: Database, webhookLocator: string): Query[] => [
  database.build.run(sql`
    update ${deliveries} as d set state = 'waiting'
    where webhook_locator = ${webhookLocator} and finished_at is null and state = 'pending'
      and line is not null and ${isBehind}`),
  database.build.run(sql`
    update ${deliveries} as d set state = 'pending'
    where webhook_locator = ${webhookLocator} and finished_at is null and state = 'waiting' and not ${isBehind}`),
]

/** Makes skipped and diverted deliveries wait again if `condition` is true. `relinkDeliveries` must follow. */
const replayDeliveries = (database: Database, webhookLocator: string, at: Instant, condition: SQL): Query =>
  database.build.run(sql`
    update ${deliveries} set state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
    where webhook_locator = ${webhookLocator} and state in ('skipped', 'diverted') and ${condition}`)
