// What is put aside for a webhook: diverted events (resources brief 7.2), and what was skipped while it was suspended.
import { sql } from 'drizzle-orm'
import type { Instant } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { deliveries, events } from '../../../platform/events/tables.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import { relinked } from './lines.ts'
import type { EventChoice } from './redeliver.ts'

/** A diverted event; it stays one while it is sent again, until a 2xx came. */
export type Diverted = {
  readonly sequence: number
  readonly locator: string
  readonly requestId: string
  /** When it happened. */
  readonly at: number
  /** How the last attempt ended (judge.ts), or `suspended`. */
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
