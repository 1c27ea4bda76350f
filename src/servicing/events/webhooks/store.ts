// What is put aside for a webhook: diverted events (resources brief 7.2), and what was skipped while it was suspended.
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Instant } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { isSubscribed, lineOfEvent } from '../../../platform/events/outbox.ts'
import { type AttemptMade, deliveries, events, webhooks } from '../../../platform/events/tables.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import { type Webhook, type WebhookPlace, webhookOf } from '../delivery/store.ts'
import { relinked } from '../delivery/webhook-copies.ts'

/** A diverted event; it stays one while it is sent again, until a 2xx came. */
export type Diverted = {
  readonly sequence: number
  readonly locator: string
  readonly requestId: string
  /** When it happened. */
  readonly at: number
  /** How the last attempt ended, or `suspended`. */
  readonly outcome: string
  readonly divertedAt: number
}

type Shards = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

const eachShard = async <T>(
  { env, tenant, calls }: Shards,
  read: (database: Database) => Promise<T>,
): Promise<T[]> =>
  await Promise.all(tenant.shards.map((_, shard) => read(shardDatabase(env, tenant, shard, calls))))

/** How many events are put aside for the webhook, over all shards. */
export async function countAside(
  context: Shards,
  webhookLocator: string,
): Promise<{ skipped: number; diverted: number }> {
  const counts = await eachShard(context, async database => {
    const [[row]] = await database.batch([
      database.build.all<{ skipped: number; diverted: number }>(sql`
        select (select count(*) from ${deliveries} where webhook_locator = ${webhookLocator} and state = 'skipped') as skipped,
          (select count(*) from ${deliveries} where webhook_locator = ${webhookLocator} and diverted_at is not null) as diverted`),
    ])
    return row!
  })
  return counts.reduce((sum, one) => ({
    skipped: sum.skipped + one.skipped,
    diverted: sum.diverted + one.diverted,
  }))
}

const divertedOf = (webhookLocator: string, more = sql`true`) => sql`
  select e.sequence, e.locator, e.request_id as requestId, e.at, d.outcome, d.diverted_at as divertedAt
  from ${deliveries} d join ${events} e on e.sequence = d.event_sequence
  where d.webhook_locator = ${webhookLocator} and d.diverted_at is not null and ${more}`

/** Diverted events of all shards in the order in which they happened. */
export async function listDiverted(
  context: Shards,
  webhookLocator: string,
  offset: number,
  count: number,
): Promise<Diverted[]> {
  const shards = await eachShard(context, async database => {
    const [rows] = await database.batch([
      database.build.all<Diverted>(
        sql`${divertedOf(webhookLocator)} order by d.event_sequence limit ${offset + count}`,
      ),
    ])
    return rows
  })
  return shards
    .flat()
    .sort((a, b) => a.at - b.at || a.sequence - b.sequence)
    .slice(offset, offset + count)
}

/** The diverted event of that locator in the shard that its locator tells. */
export async function findDiverted(
  database: Database,
  webhookLocator: string,
  eventLocator: string,
): Promise<Diverted | undefined> {
  const [rows] = await database.batch([
    database.build.all<Diverted>(divertedOf(webhookLocator, sql`e.locator = ${eventLocator}`)),
  ])
  return rows[0]
}

const chosen = (choice: EventChoice) =>
  'eventLocators' in choice
    ? sql`event_sequence in (select sequence from ${events}
        where locator in (select value from json_each(${JSON.stringify(choice.eventLocators)})))`
    : sql`event_sequence in (select sequence from ${events}
        where at >= ${choice.from ?? Number.MIN_SAFE_INTEGER} and at < ${choice.to ?? Number.MAX_SAFE_INTEGER})`

/** Locators of the diverted events of the choice in the shard. */
export async function chosenDiverted(
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
): Promise<string[]> {
  const [rows] = await database.batch([
    database.build.all<Diverted>(divertedOf(webhookLocator, chosen(choice))),
  ])
  return rows.map(one => one.locator)
}

/** Queries that send the diverted events of the choice again; those on their way already are left alone. */
export const resent = (
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  at: Instant,
): Query[] => [
  database.build.run(sql`
    update ${deliveries} set state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
    where webhook_locator = ${webhookLocator} and diverted_at is not null and state = 'diverted' and ${chosen(choice)}`),
  ...relinked(database, webhookLocator),
]

/** Queries that give the diverted event up. */
export const discarded = (
  database: Database,
  webhookLocator: string,
  eventLocator: string,
  at: Instant,
): Query[] => [
  database.build.run(sql`
    update ${deliveries} set state = 'failed', outcome = 'discarded', finished_at = ${at}, diverted_at = null
    where webhook_locator = ${webhookLocator} and diverted_at is not null
      and ${chosen({ eventLocators: [eventLocator] })}`),
  ...relinked(database, webhookLocator),
]

// Deliveries of a webhook as they are shown, with their attempts.
export type DeliveryFilter = {
  readonly state?: string | undefined
  readonly eventLocator?: string | undefined
  /** Events from this time on, and before that one. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** A delivery and its event. `at` is the event's time. */
export type DeliveryShown = {
  readonly sequence: number
  readonly locator: string
  readonly requestId: string
  readonly type: string
  readonly newerType: string | null
  readonly at: number
  readonly state: (typeof deliveries.$inferSelect)['state']
  readonly outcome: string | null
  readonly dueAt: number
  readonly finishedAt: number | null
  readonly log: readonly AttemptMade[]
}

function deliveryConditions({ state, eventLocator, from, to }: DeliveryFilter): SQL[] {
  const all: SQL[] = []
  if (state !== undefined) all.push(sql`d.state = ${state}`)
  if (eventLocator !== undefined) all.push(sql`e.locator = ${eventLocator}`)
  if (from !== undefined) all.push(sql`e.at >= ${from}`)
  if (to !== undefined) all.push(sql`e.at < ${to}`)
  return all
}

/** At most `most` deliveries of one shard after the event of that sequence, in the order of the events. */
export async function deliveriesAfter(
  database: Database,
  webhookLocator: string,
  position: number,
  filter: DeliveryFilter,
  most: number,
): Promise<DeliveryShown[]> {
  const [rows] = await database.batch([
    database.build.all<Omit<DeliveryShown, 'log'> & { log: string }>(sql`
      select e.sequence, e.locator, e.request_id as requestId, e.type, e.newer_type as newerType, e.at,
        d.state, d.outcome, d.due_at as dueAt, d.finished_at as finishedAt, d.log
      from ${deliveries} d join ${events} e on e.sequence = d.event_sequence
      where ${sql.join(
        [
          sql`d.webhook_locator = ${webhookLocator}`,
          sql`d.event_sequence > ${position}`,
          ...deliveryConditions(filter),
        ],
        sql` and `,
      )}
      order by d.event_sequence limit ${most}`),
  ])
  return rows.map(({ log, ...row }) => ({ ...row, log: JSON.parse(log) as AttemptMade[] }))
}

// Events once more, or for the first time: those named, or those of a span of time.

/** Which events: those named, or those that happened from the one time until before the other, in milliseconds. */
export type EventChoice =
  | { readonly eventLocators: readonly string[] }
  | { readonly from: number | undefined; readonly to: number | undefined }

/** Events of the choice that are of the webhook's types, as rows `e`. */
const ofTypes = (webhookLocator: string, choice: EventChoice): SQL => sql`
  from ${events} e join ${webhooks} w on w.locator = ${webhookLocator}
  where ${isSubscribed} and ${
    'eventLocators' in choice
      ? sql`e.locator in (select value from json_each(${JSON.stringify(choice.eventLocators)}))`
      : sql`e.at >= ${choice.from ?? Number.MIN_SAFE_INTEGER} and e.at < ${choice.to ?? Number.MAX_SAFE_INTEGER}`
  }`

/** Locators of the events of the choice in the shard, at most `most`. */
export async function chosenEvents(
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  most: number,
): Promise<string[]> {
  const [rows] = await database.batch([
    database.build.all<{ locator: string }>(
      sql`select e.locator ${ofTypes(webhookLocator, choice)} order by e.sequence limit ${most}`,
    ),
  ])
  return rows.map(one => one.locator)
}

/**
 * Queries that deliver the events again. One that waits is tried at once, and its attempts go on counting. One whose attempt is
 * under way or not yet recorded gets one more, however that attempt went.
 */
export const redelivered = (
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  at: Instant,
): Query[] => {
  const { build } = database
  const isChosen = sql`webhook_locator = ${webhookLocator}
    and event_sequence in (select e.sequence ${ofTypes(webhookLocator, choice)})`
  return [
    build.run(sql`
      update ${deliveries} set asked = asked + 1, due_at = min(due_at, ${at}) where finished_at is null and ${isChosen}`),
    build.run(sql`
      update ${deliveries} set asked = asked + 1, state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
      where finished_at is not null and ${isChosen}`),
    build.run(sql`
      insert into ${deliveries} (webhook_locator, event_sequence, line, state, attempts, due_at)
      select ${webhookLocator}, e.sequence, ${lineOfEvent},
        'waiting', 0, ${at}
      ${ofTypes(webhookLocator, choice)} on conflict do nothing`),
    ...relinked(database, webhookLocator),
  ]
}

/** How many there are, and whether one has the name. */
export async function presentWebhooks(
  database: Database,
  name: string,
): Promise<{ count: number; isTaken: boolean }> {
  const [[row]] = await database.batch([
    database.build.all<{ count: number; named: number }>(
      sql`select count(*) as count, coalesce(sum(name = ${name}), 0) as named from ${webhooks}`,
    ),
  ])
  return { count: row!.count, isTaken: row!.named > 0 }
}

export type WebhookFilter = {
  name?: string
  enabled?: boolean
  suspended?: boolean
  /** Enabled and not suspended. */
  active?: boolean
  /** Those that list any of these. */
  eventTypes: readonly string[]
}

const isSuspended = sql`(${webhooks.suspendedAt} is not null)`

function webhookConditions({ name, enabled, suspended, active, eventTypes }: WebhookFilter): SQL[] {
  const all: SQL[] = []
  if (name !== undefined) all.push(eq(webhooks.name, name))
  if (enabled !== undefined) all.push(eq(webhooks.enabled, enabled))
  if (suspended !== undefined) all.push(sql`${isSuspended} = ${suspended ? 1 : 0}`)
  if (active !== undefined) all.push(sql`(${webhooks.enabled} and not ${isSuspended}) = ${active ? 1 : 0}`)
  if (eventTypes.length > 0)
    all.push(sql`exists (select 1 from json_each(${webhooks.eventTypes}) t
      where t.value in (select value from json_each(${JSON.stringify(eventTypes)})))`)
  return all
}

/** At most `most` webhooks in the order of their creation. */
export async function listWebhooks(
  place: WebhookPlace,
  database: Database,
  filter: WebhookFilter,
  offset: number,
  most: number,
): Promise<Webhook[]> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(webhooks)
      .where(and(...webhookConditions(filter)))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.locator))
      .limit(most)
      .offset(offset),
  ])
  return await Promise.all(rows.map(row => webhookOf(place, row)))
}
