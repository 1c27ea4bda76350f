// Deliveries as rows: claim what is due, record what came of it. Written without `commit`: an attempt is nobody's
// request, and its result only moves its own row.
import { and, eq, sql } from 'drizzle-orm'
import type { Database, Query } from '../../platform/database.ts'
import type { Uuid } from '../../platform/locators.ts'
import type { Instant } from '../../platform/time.ts'
import { deliveries, events, webhooks } from '../tables.ts'
import type { Webhook } from '../webhook.ts'

export type StoredEvent = typeof events.$inferSelect

export type ClaimedDelivery = {
  event: StoredEvent
  /** Attempts that ended before. */
  attempts: number
}

/** Deliveries of one webhook that nobody else attempts before `leaseUntil`. */
export type Claim = { webhook: Webhook; leaseUntil: Instant; deliveries: ClaimedDelivery[] }

/** What became of a delivery. `pending` is due again at `dueAt`. */
export type DeliveryResult = {
  eventSequence: number
  state: 'pending' | 'sent' | 'failed'
  attempts: number
  dueAt: Instant
  /** Null: not attempted. */
  outcome: string | null
  finishedAt: Instant | null
}

const listening = sql`w.enabled and w.suspended_at is null`
const oldestDue = sql`(select min(due_at) from ${deliveries} where webhook_locator = w.locator and state = 'pending')`

/** Locators of at most `most` webhooks with deliveries due at `at`, those that wait longest first. */
export async function webhooksDue(
  database: Database,
  at: Instant,
  except: readonly Uuid[],
  most: number,
): Promise<Uuid[]> {
  const [rows] = await database.batch([
    database.build.all<{ locator: Uuid }>(sql`
      select locator from (select w.locator, ${oldestDue} as due from ${webhooks} w where ${listening})
      where due <= ${at} and locator not in (select value from json_each(${JSON.stringify(except)}))
      order by due limit ${most}`),
  ])
  return rows.map(row => row.locator)
}

/** Earliest time at which a delivery is due, as SQL for one value; null when none waits. */
export const earliestDelivery = sql`(select min(due) from (select ${oldestDue} as due from ${webhooks} w where ${listening}))`

/** Claims at most `most` deliveries of the webhook that are due at `at`, oldest first; undefined when there is none. */
export async function claimDue(
  database: Database,
  webhookLocator: Uuid,
  at: Instant,
  leaseUntil: Instant,
  most: number,
): Promise<Claim | undefined> {
  const { build } = database
  const [claimed, found, told] = await database.batch([
    build
      .update(deliveries)
      .set({ dueAt: leaseUntil })
      .where(
        sql`rowid in (select rowid from ${deliveries}
          where webhook_locator = ${webhookLocator} and state = 'pending' and due_at <= ${at}
          order by due_at, event_sequence limit ${most})`,
      )
      .returning({ eventSequence: deliveries.eventSequence, attempts: deliveries.attempts }),
    build.select().from(webhooks).where(eq(webhooks.locator, webhookLocator)),
    // Another's claim of the same millisecond may be among these; `claimed` tells which are ours.
    build
      .select()
      .from(events)
      .where(
        sql`sequence in (select event_sequence from ${deliveries}
          where webhook_locator = ${webhookLocator} and state = 'pending' and due_at = ${leaseUntil})`,
      )
      .orderBy(events.sequence),
  ])
  const webhook = found[0]
  if (!webhook || claimed.length === 0) return undefined
  const attempts = new Map(claimed.map(row => [row.eventSequence, row.attempts]))
  return {
    webhook: webhook as Webhook,
    leaseUntil,
    deliveries: told.flatMap(event => {
      const before = attempts.get(event.sequence)
      return before === undefined ? [] : [{ event, attempts: before }]
    }),
  }
}

/**
 * Records results of a claim. A 2xx counts whoever holds the delivery by now; any other result only while the
 * lease is ours, for after it another attempt may be under way.
 */
export function recordResults(database: Database, claim: Claim, results: readonly DeliveryResult[]): Query {
  const rows = results.map(({ eventSequence, state, attempts, dueAt, outcome, finishedAt }) => [
    eventSequence,
    state,
    attempts,
    dueAt,
    outcome,
    finishedAt,
  ])
  return database.build.run(sql`
    update ${deliveries} set state = r.state, attempts = r.attempts, due_at = r.due_at,
      outcome = coalesce(r.outcome, ${sql.raw('"delivery".outcome')}), finished_at = r.finished_at
    from (
      select value ->> 0 as sequence, value ->> 1 as state, value ->> 2 as attempts, value ->> 3 as due_at,
        value ->> 4 as outcome, value ->> 5 as finished_at
      from json_each(${JSON.stringify(rows)})
    ) r
    where webhook_locator = ${claim.webhook.locator} and event_sequence = r.sequence
      and (r.state = 'sent'
        or (${sql.raw('"delivery".state')} = 'pending' and ${sql.raw('"delivery".due_at')} = ${claim.leaseUntil}))`)
}

/** Ends what waits for a webhook that is suspended or deleted. */
export const failWaiting = (
  database: Database,
  webhookLocator: Uuid,
  outcome: 'suspended' | 'deleted',
  at: Instant,
): Query =>
  database.build
    .update(deliveries)
    .set({ state: 'failed', outcome, finishedAt: at })
    .where(and(eq(deliveries.webhookLocator, webhookLocator), sql`state = 'pending'`))

/** Suspends the webhook as far as this shard goes; a second time changes nothing. */
export const suspendHere = (database: Database, webhookLocator: Uuid, at: Instant): [Query, Query] => [
  database.build
    .update(webhooks)
    .set({ suspendedAt: at })
    .where(and(eq(webhooks.locator, webhookLocator), sql`suspended_at is null`)),
  failWaiting(database, webhookLocator, 'suspended', at),
]
