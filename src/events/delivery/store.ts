// Deliveries as rows: claim what is due, record what came of it. Written without `commit`: an attempt is nobody's
// request, and its result only moves its own rows.
import { eq, sql } from 'drizzle-orm'
import type { Database, Query } from '../../platform/database.ts'
import type { Uuid } from '../../platform/locators.ts'
import type { Instant } from '../../platform/time.ts'
import { type AttemptMade, deliveries, events, webhooks } from '../tables.ts'
import type { WebhookRow } from '../webhooks/store.ts'
import { nextUp } from './lines.ts'

export type StoredEvent = typeof events.$inferSelect

export type ClaimedDelivery = {
  readonly event: StoredEvent
  /** Attempts that ended before. */
  readonly attempts: number
}

/** Deliveries of one line, in order: the first is claimed, and the others wait for it. */
export type ClaimedLine = readonly [ClaimedDelivery, ...ClaimedDelivery[]]

/** Deliveries of one webhook that nobody else attempts before `leaseUntil`. */
export type Claim = {
  readonly webhook: WebhookRow
  readonly leaseUntil: Instant
  readonly lines: readonly ClaimedLine[]
}

/** Nothing is due; `nextDue` is undefined when nothing waits, or the webhook takes nothing. */
export type NothingDue = { readonly nextDue: Instant | undefined }

/** What became of a delivery. `pending` is due again at `dueAt`. */
export type DeliveryResult = {
  /** Sequence of the first of its line, whose lease it was. */
  readonly head: number
  readonly event: StoredEvent
  readonly state: 'pending' | 'sent' | 'failed' | 'diverted' | 'skipped'
  readonly attempts: number
  readonly dueAt: Instant
  /** The attempt that led to it; undefined: there was none, it is given back. */
  readonly made: AttemptMade | undefined
}

/** What is due in a line is claimed with the first of it, up to so many in all lines of a claim. */
const MOST_FOLLOWING = 100

/** Attempts kept of a delivery. */
const MOST_LOGGED = 20

const listening = sql`w.enabled and w.suspended_at is null`
const oldestDue = sql`(select min(due_at) from ${deliveries} where webhook_locator = w.locator and state = 'pending')`

/** Locators of webhooks with deliveries due at `at`, those that wait longest first. */
export async function webhooksDue(database: Database, at: Instant): Promise<Uuid[]> {
  const [rows] = await database.batch([
    database.build.all<{ locator: Uuid }>(sql`
      select locator from (select w.locator, ${oldestDue} as due from ${webhooks} w where ${listening})
      where due <= ${at} order by due`),
  ])
  return rows.map(row => row.locator)
}

/** Earliest time at which a delivery is due, as SQL for one value; null when none waits. */
export const earliestDelivery = sql`(select min(due) from (select ${oldestDue} as due from ${webhooks} w where ${listening}))`

const dueOf = (database: Database, webhookLocator: string) =>
  database.build.all<{ due: Instant | null }>(
    sql`select ${oldestDue} as due from ${webhooks} w where w.locator = ${webhookLocator} and ${listening}`,
  )

/** The same for one webhook. */
export async function nextDue(database: Database, webhookLocator: string): Promise<Instant | undefined> {
  const [rows] = await database.batch([dueOf(database, webhookLocator)])
  return rows[0]?.due ?? undefined
}

/** What both queries of a claim tell of a delivery. */
type Found = { readonly attempts: number; readonly line: string | null; readonly event: StoredEvent }

/**
 * Claims at most `most` deliveries of the webhook that are due at `at`, with what follows in their lines. Where none is, it
 * answers when the next is due.
 */
export async function claimDue(
  database: Database,
  webhookLocator: string,
  at: Instant,
  leaseUntil: Instant,
  most: number,
): Promise<Claim | NothingDue> {
  const { build } = database
  const due = sql`webhook_locator = ${webhookLocator} and state = 'pending' and due_at <= ${at}`
  const told = { attempts: deliveries.attempts, line: deliveries.line, event: events }
  const ofWebhook = sql`${deliveries.webhookLocator} = ${webhookLocator}`
  const isClaimed = sql`webhook_locator = ${webhookLocator} and state = 'pending' and due_at = ${leaseUntil}`
  const [claimed, found, heads, following, next] = await database.batch([
    build
      .update(deliveries)
      .set({ dueAt: leaseUntil })
      .where(
        sql`rowid in (select rowid from ${deliveries}
          where ${due}
            and exists (select 1 from ${webhooks} w where w.locator = webhook_locator and ${listening})
          order by due_at, event_sequence limit ${most})`,
      )
      .returning({ eventSequence: deliveries.eventSequence }),
    build.select().from(webhooks).where(eq(webhooks.locator, webhookLocator)),
    build
      .select(told)
      .from(deliveries)
      .innerJoin(events, eq(events.sequence, deliveries.eventSequence))
      .where(sql`${ofWebhook} and ${deliveries.state} = 'pending' and ${deliveries.dueAt} = ${leaseUntil}`)
      .orderBy(deliveries.eventSequence),
    build
      .select({ ...told, dueAt: deliveries.dueAt })
      .from(deliveries)
      .innerJoin(events, eq(events.sequence, deliveries.eventSequence))
      .where(
        sql`${ofWebhook} and ${deliveries.finishedAt} is null and ${deliveries.state} = 'waiting'
          and ${deliveries.line} in (select line from ${deliveries} where ${isClaimed})`,
      )
      .orderBy(deliveries.eventSequence)
      .limit(MOST_FOLLOWING),
    dueOf(database, webhookLocator),
  ])
  const webhook = found[0]
  // Another's claim of the same millisecond may be among `heads`; `claimed` tells which are ours.
  const ours = new Set(claimed.map(row => row.eventSequence))
  const first = heads.filter(one => ours.has(one.event.sequence))
  if (!webhook || first.length === 0) return { nextDue: next[0]?.due ?? undefined }
  const behind = Map.groupBy(following, one => one.line)
  return { webhook, leaseUntil, lines: first.map(head => lineOf(head, behind.get(head.line) ?? [], at)) }
}

/** The head and what may follow it at once: not beyond one that is to wait longer. */
function lineOf(head: Found, behind: readonly (Found & { dueAt: number })[], at: Instant): ClaimedLine {
  const late = behind.findIndex(one => one.dueAt > at)
  const due = late < 0 ? behind : behind.slice(0, late)
  return [delivery(head), ...(head.line === null ? [] : due).map(delivery)]
}

const delivery = ({ event, attempts }: Found): ClaimedDelivery => ({ event, attempts })

/**
 * Records results of a claim. A 2xx counts whoever holds the line by now; any other result only while the lease is
 * ours, for after it another attempt may be under way.
 */
export function recordResults(
  database: Database,
  claim: Claim,
  results: readonly DeliveryResult[],
): [Query, ...Query[]] {
  const webhook = claim.webhook.locator
  const rows = results.map(({ head, event, state, attempts, dueAt, made }) => [
    event.sequence,
    head,
    state,
    attempts,
    dueAt,
    made?.outcome ?? null,
    made ? JSON.stringify(made) : null,
    state === 'pending' ? null : dueAt,
  ])
  const log = sql.raw('"delivery".log')
  const record = database.build.run(sql`
    update ${deliveries} set attempts = r.attempts, due_at = r.due_at, finished_at = r.finished_at,
      state = iif(r.state = 'failed' and ${sql.raw('"delivery".diverted_at')} is not null, 'diverted', r.state),
      diverted_at = case r.state when 'sent' then null when 'diverted' then r.finished_at
        else ${sql.raw('"delivery".diverted_at')} end,
      outcome = coalesce(r.outcome, ${sql.raw('"delivery".outcome')}),
      log = iif(r.made is null, ${log}, json_insert(
        iif(json_array_length(${log}) < ${MOST_LOGGED}, ${log}, json_remove(${log}, '$[0]')), '$[#]', json(r.made)))
    from (
      select value ->> 0 as sequence, value ->> 2 as state, value ->> 3 as attempts, value ->> 4 as due_at,
        value ->> 5 as outcome, value ->> 6 as made, value ->> 7 as finished_at,
        exists (select 1 from ${deliveries} h where h.webhook_locator = ${webhook}
          and h.event_sequence = value ->> 1 and h.state = 'pending' and h.due_at = ${claim.leaseUntil}) as ours
      from json_each(${JSON.stringify(rows)})
    ) r
    where webhook_locator = ${webhook} and event_sequence = r.sequence
      and ((r.state = 'sent' and ${sql.raw('"delivery".state')} <> 'sent')
        or (r.ours and ${sql.raw('"delivery".finished_at')} is null))`)
  const lines = new Set(results.flatMap(({ event }) => lineName(event) ?? []))
  return [record, nextUp(database, webhook, [...lines])]
}

/** The line that deliveries of the event are in; undefined for none. Written by `deliveriesOf` (outbox.ts). */
const lineName = ({ policyLocator, policyholderLocator }: StoredEvent): string | undefined =>
  policyLocator === null ? (policyholderLocator ?? undefined) : String(policyLocator)
