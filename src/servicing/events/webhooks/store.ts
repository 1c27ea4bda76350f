// Lists of webhooks, deliveries and diverted events, and changes of deliveries.

import { and, asc, desc, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import type { Instant } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { isSubscribed, lineOfEvent } from '../../../platform/events/outbox.ts'
import {
  eachEvent,
  eventNumbered,
  rowLocators,
  rowOfNumber,
  storedRow,
} from '../../../platform/events/rows.ts'
import { deliveries, events, webhooks } from '../../../platform/events/tables.ts'
import { shardDatabases } from '../../../platform/tenancy.ts'
import type { Order } from '../../../platform/wire.ts'
import { type Webhook, type WebhookPlace, webhookOf } from '../delivery/webhook.ts'
import { relinkDeliveries } from '../delivery/webhook-copies.ts'
import { firstSequenceFrom } from '../stream/store.ts'
import type { DeliveryListQuery, WebhookListQuery } from './contract.ts'

/** Returns the condition, or undefined where the filter leaves the property out. */
const conditionIfGiven = <T>(value: T | undefined, condition: (value: T) => SQL): SQL | undefined =>
  value === undefined ? undefined : condition(value)

/** Returns the number of all webhooks, and whether one of them has the name. Takes one round trip. */
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

const isSuspended = sql`(${webhooks.suspendedAt} is not null)`

/** Returns webhooks of the home shard in the order of creation. `eventTypes`: with any of these patterns, compared as text. */
export async function listWebhooks(
  place: WebhookPlace,
  database: Database,
  { name, enabled, suspended, active, eventTypes }: Omit<WebhookListQuery, 'offset' | 'count' | 'extended'>,
  offset: number,
  most: number,
): Promise<Webhook[]> {
  const conditions = [
    conditionIfGiven(name, wanted => eq(webhooks.name, wanted)),
    conditionIfGiven(enabled, wanted => eq(webhooks.enabled, wanted)),
    conditionIfGiven(suspended, wanted => sql`${isSuspended} = ${wanted ? 1 : 0}`),
    conditionIfGiven(active, wanted => sql`(${webhooks.enabled} and not ${isSuspended}) = ${wanted ? 1 : 0}`),
    conditionIfGiven(
      eventTypes[0],
      () => sql`exists (select 1 from json_each(${webhooks.eventTypes}) t
        where t.value in (select value from json_each(${JSON.stringify(eventTypes)})))`,
    ),
  ]
  const [rows] = await database.batch([
    database.build
      .select()
      .from(webhooks)
      .where(and(...conditions))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.locator))
      .limit(most)
      .offset(offset),
  ])
  return await Promise.all(rows.map(row => webhookOf(place, row)))
}

/** Returns the condition for rows beyond `position`. With the newest first, the beginning of the list (0) has no limit. */
function isBeyond(position: number, isNewestFirst: boolean): SQL | undefined {
  if (!isNewestFirst) return gt(deliveries.eventSequence, position)
  return position > 0 ? lt(deliveries.eventSequence, position) : undefined
}

export type ListedDelivery = Awaited<ReturnType<typeof deliveriesAfter>>[number]

/** Returns the deliveries of one shard beyond the sequence `position`, which is 0 at the beginning of the list. */
export async function deliveriesAfter(
  database: Database,
  webhookLocator: string,
  position: number,
  { state, eventLocator, from, to }: Omit<DeliveryListQuery, 'order' | 'pageSize' | 'pagingToken'>,
  most: number,
  order: Order,
) {
  const { sequence, locator, requestId, type, newerType, at } = eventNumbered('"delivery"."event_sequence"')
  const { outcome, dueAt, finishedAt, log } = deliveries
  const isNewestFirst = order === 'newestFirst'
  const [rows] = await database.batch([
    database.build
      .select({
        sequence,
        locator,
        requestId,
        type,
        newerType,
        at,
        state: deliveries.state,
        outcome,
        dueAt,
        finishedAt,
        log,
      })
      .from(deliveries)
      .crossJoin(storedRow)
      .where(
        and(
          rowOfNumber(sql`${deliveries.eventSequence}`),
          eq(deliveries.webhookLocator, webhookLocator),
          isBeyond(position, isNewestFirst),
          conditionIfGiven(state, wanted => eq(deliveries.state, wanted)),
          conditionIfGiven(eventLocator, wanted => isOfChosen({ eventLocators: [wanted] })),
          conditionIfGiven(from, time => sql`${at} >= ${time}`),
          conditionIfGiven(to, time => sql`${at} < ${time}`),
        ),
      )
      .orderBy(isNewestFirst ? desc(deliveries.eventSequence) : asc(deliveries.eventSequence))
      .limit(most),
  ])
  return rows
}

/** Counts skipped and diverted events over all shards. */
export async function countSkippedAndDiverted(
  context: RequestContext,
  webhookLocator: string,
): Promise<{ skipped: number; diverted: number }> {
  const counts = await Promise.all(
    shardDatabases(context).map(async database => {
      const [[row]] = await database.batch([
        database.build.all<{ skipped: number; diverted: number }>(sql`
          select (select count(*) from ${deliveries} where webhook_locator = ${webhookLocator} and state = 'skipped') as skipped,
            (select count(*) from ${deliveries} where webhook_locator = ${webhookLocator} and diverted_at is not null) as diverted`),
      ])
      return row!
    }),
  )
  return counts.reduce((sum, { skipped, diverted }) => ({
    skipped: sum.skipped + skipped,
    diverted: sum.diverted + diverted,
  }))
}

/** A diverted event. It stays diverted while it is sent again, until a 2xx comes. */
export type Diverted = {
  readonly sequence: number
  readonly locator: string
  readonly requestId: string
  readonly at: number
  /** How the last attempt ended, or `suspended`. */
  readonly outcome: string
  readonly divertedAt: number
}

/** Resources brief 7.2. */
async function readDiverted(database: Database, webhookLocator: string, rest: SQL): Promise<Diverted[]> {
  const { sequence, locator, requestId, at } = eventNumbered('d.event_sequence')
  const [rows] = await database.batch([
    database.build.all<Diverted>(sql`
      select ${sequence} as sequence, ${locator} as locator, ${requestId} as requestId, ${at} as at, d.outcome,
        d.diverted_at as divertedAt
      from ${deliveries} d cross join ${events} r
      where d.webhook_locator = ${webhookLocator} and d.diverted_at is not null
        and ${rowOfNumber(sql`d.event_sequence`)} ${rest}`),
  ])
  return rows
}

/** Lists diverted events over all shards, in the order of the events. */
export async function listDiverted(
  context: RequestContext,
  webhookLocator: string,
  offset: number,
  count: number,
): Promise<Diverted[]> {
  const databases = shardDatabases(context)
  const pageOf = (first: number, most: number) =>
    databases.map(database =>
      readDiverted(database, webhookLocator, sql`order by d.event_sequence limit ${most} offset ${first}`),
    )
  if (databases.length === 1) return (await Promise.all(pageOf(offset, count))).flat()
  const shards = await Promise.all(pageOf(0, offset + count))
  return shards
    .flat()
    .sort((a, b) => a.at - b.at || a.sequence - b.sequence)
    .slice(offset, offset + count)
}

/** Returns undefined unless the shard has the event and it is diverted. */
export const findDiverted = async (
  database: Database,
  webhookLocator: string,
  eventLocator: string,
): Promise<Diverted | undefined> =>
  (await readDiverted(database, webhookLocator, sql`and ${isOfChosen({ eventLocators: [eventLocator] })}`))[0]

/** Named events, or those from `from` until before `to` (epoch milliseconds). */
export type EventChoice =
  | { readonly eventLocators: readonly string[] }
  | { readonly from: number | undefined; readonly to: number | undefined }

/** SQL for the chosen events, and for the other events of their rows (`isChosen` excludes these). */
const selectedEventRows = (choice: EventChoice): SQL =>
  eachEvent(
    'eventLocators' in choice
      ? sql`(select * from ${events} where locator in
          (select value from json_each(${JSON.stringify(choice.eventLocators.flatMap(rowLocators))})))`
      : sql`(select * from ${events} where sequence >= ${choice.from === undefined ? 0 : firstSequenceFrom(choice.from)}
          and sequence < ${choice.to === undefined ? Number.MAX_SAFE_INTEGER : firstSequenceFrom(choice.to)})`,
  )

/** SQL condition on an event `e` of these rows. All events of a row have the same time. */
const isChosen = (choice: EventChoice): SQL =>
  'eventLocators' in choice
    ? sql`e.locator in (select value from json_each(${JSON.stringify(choice.eventLocators)}))`
    : sql`true`

/** SQL condition on a delivery. */
const isOfChosen = (choice: EventChoice): SQL =>
  sql`event_sequence in (select e.sequence from ${selectedEventRows(choice)} e where ${isChosen(choice)})`

/** Returns the locators of the chosen events of one shard that are diverted. */
export async function readSelectedDiverted(
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
): Promise<string[]> {
  const found = await readDiverted(database, webhookLocator, sql`and ${isOfChosen(choice)}`)
  return found.map(({ locator }) => locator)
}

export type ChangeOfDeliveries = (
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  at: Instant,
) => Query[]

/** Sends diverted events again. Events that are already on their way are left alone. */
export const resend: ChangeOfDeliveries = (database, webhookLocator, choice, at) => [
  database.build.run(sql`
    update ${deliveries} set state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
    where webhook_locator = ${webhookLocator} and diverted_at is not null and state = 'diverted' and ${isOfChosen(choice)}`),
  ...relinkDeliveries(database, webhookLocator),
]

/** Ends diverted events as failed, also those that are being sent again. */
export const discard: ChangeOfDeliveries = (database, webhookLocator, choice, at) => [
  database.build.run(sql`
    update ${deliveries} set state = 'failed', outcome = 'discarded', finished_at = ${at}, diverted_at = null
    where webhook_locator = ${webhookLocator} and diverted_at is not null and ${isOfChosen(choice)}`),
  ...relinkDeliveries(database, webhookLocator),
]

/** SQL for the chosen events of the webhook's types, as rows `e`. */
const selectedSubscribedEvents = (webhookLocator: string, choice: EventChoice): SQL => sql`
  from ${webhooks} w cross join ${selectedEventRows(choice)} e
  where w.locator = ${webhookLocator} and ${isSubscribed} and ${isChosen(choice)}`

/** Returns the locators of the chosen events of one shard that have the webhook's types, at most `most`. */
export async function readSelectedEvents(
  database: Database,
  webhookLocator: string,
  choice: EventChoice,
  most: number,
): Promise<string[]> {
  const [rows] = await database.batch([
    database.build.all<{ locator: string }>(
      sql`select e.locator ${selectedSubscribedEvents(webhookLocator, choice)} limit ${most}`,
    ),
  ])
  return rows.map(({ locator }) => locator)
}

/**
 * Delivers the events again. A waiting delivery is due now and keeps its attempts. A delivery whose attempt is under way or not
 * yet recorded gets one more attempt, however that one ends.
 */
export const redeliver: ChangeOfDeliveries = (database, webhookLocator, choice, at) => {
  const { build } = database
  const isRedelivered = sql`webhook_locator = ${webhookLocator}
    and event_sequence in (select e.sequence ${selectedSubscribedEvents(webhookLocator, choice)})`
  return [
    build.run(sql`
      update ${deliveries} set asked = asked + 1, due_at = min(due_at, ${at}) where finished_at is null and ${isRedelivered}`),
    build.run(sql`
      update ${deliveries} set asked = asked + 1, state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
      where finished_at is not null and ${isRedelivered}`),
    build.run(sql`
      insert into ${deliveries} (webhook_locator, event_sequence, line, state, attempts, due_at)
      select ${webhookLocator}, e.sequence, ${lineOfEvent}, 'waiting', 0, ${at}
      ${selectedSubscribedEvents(webhookLocator, choice)} on conflict do nothing`),
    ...relinkDeliveries(database, webhookLocator),
  ]
}
