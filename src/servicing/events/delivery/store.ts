// Reads what is due and records results. It does not use `commit`: an attempt is not a request of a client and changes only its
// own rows, so it needs no guards. The webhook's object knows what is under way (deliver.ts); the database does not.
import { eq, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { type Database, type Query, statement } from '../../../platform/database.ts'
import { eventNumbered, rowOfNumber, storedRow } from '../../../platform/events/rows.ts'
import { type AttemptMade, deliveries, type StoredEvent, webhooks } from '../../../platform/events/tables.ts'
import type { WebhookRow } from './webhook.ts'

type ClaimedDelivery = {
  readonly event: StoredEvent
  readonly line: string | null
  /** The number of earlier attempts. */
  readonly attempts: number
  /** The number of times that redelivery had been requested when the delivery was read. */
  readonly asked: number
  readonly dueAt: Instant
}

/** Deliveries in order: the first is claimed, the others wait for it. */
export type ClaimedLine = readonly [ClaimedDelivery, ...ClaimedDelivery[]]

export type Claim = {
  readonly webhook: WebhookRow
  readonly lines: readonly ClaimedLine[]
}

/** `nextDue` is undefined when nothing waits, or when the webhook is disabled or suspended. */
export type NothingDue = { readonly nextDue: Instant | undefined }

/** The claimed delivery. `attempts` includes this attempt. A `pending` delivery is due again at `dueAt`. */
export type DeliveryResult = ClaimedDelivery & {
  /** The line's first delivery as it was read. Results other than a 2xx count only while its row is unchanged. */
  readonly head: Head
  readonly state: 'pending' | 'sent' | 'failed' | 'diverted' | 'skipped'
  readonly dueAt: Instant
  /** Undefined when the delivery is given back without an attempt. */
  readonly made: AttemptMade | undefined
}

export type Head = { readonly sequence: number; readonly attempts: number; readonly dueAt: Instant }

export const headOf = ([{ event, attempts, dueAt }]: ClaimedLine): Head => ({
  sequence: event.sequence,
  attempts,
  dueAt,
})

/** Limit on the deliveries behind the heads, over all lines of one claim. */
const MOST_FOLLOWING = 100

/** The number of attempts in the log of one delivery. Older ones are dropped. */
const MOST_ATTEMPTS_LOGGED = 20

const listening = sql`w.enabled and w.suspended_at is null`
const oldestDue = sql`(select min(due_at) from ${deliveries} where webhook_locator = w.locator and state = 'pending')`

const WEBHOOKS_DUE = statement(build =>
  build.all<{ locator: Uuid }>(sql`
    select locator from (select w.locator, ${oldestDue} as due from ${webhooks} w where ${listening})
    where due <= ${sql.placeholder('at')} order by due`),
)

/** Returns the webhooks with due deliveries, the longest waiting first. */
export async function webhooksDue(database: Database, at: Instant): Promise<Uuid[]> {
  const [rows] = await database.batch([database.bind(WEBHOOKS_DUE, { at })])
  return rows.map(row => row.locator)
}

/** SQL for one value: the earliest due time, or null. */
export const earliestDelivery = sql`(select min(due) from (select ${oldestDue} as due from ${webhooks} w where ${listening}))`

const webhookOfClaim = sql.placeholder('webhook')

/** Excludes heads that are under way, a JSON list of their sequences. */
const isFree = sql`event_sequence not in (select value from json_each(${sql.placeholder('underWay')}))`

const NEXT_DUE = statement(build =>
  build.all<{ due: Instant }>(
    sql`select due_at as due from ${deliveries}
      where webhook_locator = ${webhookOfClaim} and state = 'pending' and ${isFree}
        and exists (select 1 from ${webhooks} w where w.locator = ${webhookOfClaim} and ${listening})
      order by due_at limit 1`,
  ),
)

/** Returns when the next delivery that is not under way is due, or undefined when none waits. */
export async function nextDue(
  database: Database,
  webhookLocator: string,
  underWay: readonly number[],
): Promise<Instant | undefined> {
  const values = { webhook: webhookLocator, underWay: JSON.stringify(underWay) }
  const [rows] = await database.batch([database.bind(NEXT_DUE, values)])
  return rows[0]?.due
}

const CLAIMED_COLUMNS = {
  event: eventNumbered('"delivery"."event_sequence"'),
  line: deliveries.line,
  attempts: deliveries.attempts,
  asked: deliveries.asked,
  dueAt: sql<Instant>`${deliveries.dueAt}`,
}

/** Row ids of the due heads that are not under way. */
const DUE_HEADS = sql`(select rowid from ${deliveries}
  where webhook_locator = ${webhookOfClaim} and state = 'pending' and due_at <= ${sql.placeholder('at')} and ${isFree}
    and exists (select 1 from ${webhooks} w where w.locator = ${webhookOfClaim} and ${listening})
  order by due_at, event_sequence limit ${sql.placeholder('most')})`

const WEBHOOK = statement(build => build.select().from(webhooks).where(eq(webhooks.locator, webhookOfClaim)))

const HEADS = statement(build =>
  build
    .select(CLAIMED_COLUMNS)
    .from(deliveries)
    .crossJoin(storedRow)
    .where(sql`${deliveries}.rowid in ${DUE_HEADS} and ${rowOfNumber(sql`${deliveries.eventSequence}`)}`)
    .orderBy(deliveries.eventSequence),
)

const headRows = alias(deliveries, 'head')

// Cross joins make SQLite begin with the heads. Otherwise it scans everything that the webhook was ever sent.
const FOLLOWING = statement(build =>
  build
    .select(CLAIMED_COLUMNS)
    .from(headRows)
    .crossJoin(deliveries)
    .crossJoin(storedRow)
    .where(
      sql`${headRows}.rowid in ${DUE_HEADS}
        and ${deliveries.webhookLocator} = ${headRows.webhookLocator} and ${deliveries.line} = ${headRows.line}
        and ${deliveries.finishedAt} is null and ${deliveries.state} = 'waiting'
        and ${rowOfNumber(sql`${deliveries.eventSequence}`)}`,
    )
    .orderBy(deliveries.eventSequence)
    .limit(MOST_FOLLOWING),
)

/**
 * Reads at most `most` due deliveries of the webhook that are not under way, together with those behind them in their lines. If
 * none is due, returns when the next one will be. `before` runs first, in the same round trip.
 */
export async function readDue(
  database: Database,
  webhookLocator: string,
  at: Instant,
  underWay: readonly number[],
  most: number,
  before: readonly Query[] = [],
): Promise<Claim | NothingDue> {
  const values = { webhook: webhookLocator, at, underWay: JSON.stringify(underWay), most }
  const queries = [
    database.bind(WEBHOOK, values),
    database.bind(HEADS, values),
    database.bind(FOLLOWING, values),
    database.bind(NEXT_DUE, values),
  ] as const
  const sent = [...before, ...queries] as unknown as typeof queries
  const answers: readonly unknown[] = await database.batch(sent)
  const [found, heads, following, next] = answers.slice(before.length) as unknown as BatchResponse<
    typeof queries
  >
  const webhook = found[0]
  if (!webhook || heads.length === 0) return { nextDue: next[0]?.due }
  const behind = Map.groupBy(following, ({ line }) => line)
  const lines = heads.map(
    (head): ClaimedLine => [head, ...deliveriesBeforeLater(behind.get(head.line) ?? [], at)],
  )
  return { webhook, lines }
}

/** Returns the deliveries that may follow a head immediately: those before the first that is due later. A line keeps its order. */
function deliveriesBeforeLater<D extends { dueAt: number }>(
  deliveries: readonly D[],
  at: Instant,
): readonly D[] {
  const later = deliveries.findIndex(({ dueAt }) => dueAt > at)
  return later < 0 ? deliveries : deliveries.slice(0, later)
}

/** The number of results in one statement. Even with the longest excerpts they stay below the 2 MB of a parameter. */
const MOST_RECORDED = 50

const log = sql.raw('"delivery".log')
const divertedAt = sql.raw('"delivery".diverted_at')
const state = sql.raw('"delivery".state')
const finishedAt = sql.raw('"delivery".finished_at')

/** Redelivery was requested since the claim, so the delivery waits for another attempt however this one ended. */
const isRedeliveryRequested = sql`${sql.raw('"delivery".asked')} <> r.asked`

// Each row names its webhook. With a separate condition SQLite scans everything that the webhook was ever sent.
const RECORD = statement(build =>
  build.run(sql`
    update ${deliveries} set attempts = iif(${isRedeliveryRequested} and r.finished_at is not null, 0, r.attempts),
      due_at = iif(${isRedeliveryRequested}, ${sql.raw('"delivery".due_at')}, r.due_at),
      finished_at = iif(${isRedeliveryRequested}, null, r.finished_at),
      state = case when ${isRedeliveryRequested} then ${state}
        when r.state = 'failed' and ${divertedAt} is not null then 'diverted' else r.state end,
      diverted_at = case r.state when 'sent' then null when 'diverted' then r.finished_at else ${divertedAt} end,
      outcome = coalesce(r.outcome, ${sql.raw('"delivery".outcome')}),
      log = iif(r.made is null, ${log}, json_insert(
        iif(json_array_length(${log}) < ${MOST_ATTEMPTS_LOGGED}, ${log}, json_remove(${log}, '$[0]')), '$[#]', json(r.made)))
    from (
      select value ->> 0 as webhook, value ->> 1 as sequence, value ->> 3 as state, value ->> 4 as attempts,
        value ->> 5 as due_at, value ->> 6 as outcome, value ->> 7 as made, value ->> 8 as finished_at,
        value ->> 9 as asked,
        exists (select 1 from ${deliveries} h where h.webhook_locator = value ->> 0
          and h.event_sequence = value ->> 2 and h.state = 'pending' and h.attempts = value ->> 10
          and h.due_at = value ->> 11) as ours
      from json_each(${sql.placeholder('results')})
    ) r
    where webhook_locator = r.webhook and event_sequence = r.sequence
      and ((r.state = 'sent' and ${state} <> 'sent' and (${finishedAt} is null or not ${isRedeliveryRequested}))
        or (r.ours and ${finishedAt} is null))`),
)

/**
 * Records results. A 2xx always counts, unless redelivery was requested since the claim. Other results count only while the line's
 * first delivery is as it was read; otherwise another attempt was recorded in the meantime. Recording twice changes nothing.
 */
export function recordResults(
  database: Database,
  webhook: string,
  results: readonly DeliveryResult[],
): Query[] {
  if (results.length === 0) return []
  const rows = results.map(({ head, event, asked, state, attempts, dueAt, made }) => [
    webhook,
    event.sequence,
    head.sequence,
    state,
    attempts,
    dueAt,
    made?.outcome ?? null,
    made ? JSON.stringify(made) : null,
    state === 'pending' ? null : dueAt,
    asked,
    head.attempts,
    head.dueAt,
  ])
  const lines = new Set(results.flatMap(({ line }) => line ?? []))
  // In reverse order, because the result of a line's head changes the row with which the others are compared.
  return [
    ...parts(rows.toReversed(), MOST_RECORDED).map(some =>
      database.bind(RECORD, { results: JSON.stringify(some) }),
    ),
    makeFirstsPending(database, webhook, [...lines]),
  ]
}

const parts = <T>(all: readonly T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most))

const NEXT_UP = statement(build =>
  build.run(sql`
    update ${deliveries} set state = 'pending'
    where webhook_locator = ${sql.placeholder('webhook')} and state = 'waiting' and event_sequence in (
      select min(event_sequence) from ${deliveries}
      where webhook_locator = ${sql.placeholder('webhook')} and finished_at is null
        and line in (select value from json_each(${sql.placeholder('lines')}))
      group by line)`),
)

/** Makes the first unfinished delivery of each line pending. */
const makeFirstsPending = (database: Database, webhook: string, lines: readonly string[]): Query =>
  database.bind(NEXT_UP, { webhook, lines: JSON.stringify(lines) })
