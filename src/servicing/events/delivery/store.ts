// Deliveries as rows: claim what is due, record what came of it. Written without `commit`: an attempt is nobody's
// request, and its result only moves its own rows.
import { eq, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { type Database, type Query, statement } from '../../../platform/database.ts'
import {
  type AttemptMade,
  deliveries,
  events,
  OWN_FAILURE_HANDLING,
  type WebhookEndpoint,
  type WebhookFailureHandling,
  webhooks,
} from '../../../platform/events/tables.ts'
import { referencesIn } from '../../../platform/outbound/masking.ts'
import { seal, unseal } from '../../../platform/sealed.ts'
import { sealedPlace, type Tenant } from '../../../platform/tenancy.ts'

export type ClaimedDelivery = {
  readonly event: typeof events.$inferSelect
  readonly line: string | null
  /** Attempts that ended before. */
  readonly attempts: number
  /** How often it had been asked for again when it was claimed. */
  readonly asked: number
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

/** What became of a delivery as it was claimed, with `attempts` as they are now. `pending` is due again at `dueAt`. */
export type DeliveryResult = ClaimedDelivery & {
  /** Sequence of the first of its line, whose lease it was. */
  readonly head: number
  readonly state: 'pending' | 'sent' | 'failed' | 'diverted' | 'skipped'
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

const WEBHOOKS_DUE = statement(build =>
  build.all<{ locator: Uuid }>(sql`
    select locator from (select w.locator, ${oldestDue} as due from ${webhooks} w where ${listening})
    where due <= ${sql.placeholder('at')} order by due`),
)

/** Locators of webhooks with deliveries due at `at`, those that wait longest first. */
export async function webhooksDue(database: Database, at: Instant): Promise<Uuid[]> {
  const [rows] = await database.batch([database.bind(WEBHOOKS_DUE, { at })])
  return rows.map(row => row.locator)
}

/** Earliest time at which a delivery is due, as SQL for one value; null when none waits. */
export const earliestDelivery = sql`(select min(due) from (select ${oldestDue} as due from ${webhooks} w where ${listening}))`

const NEXT_DUE = statement(build =>
  build.all<{ due: Instant | null }>(
    sql`select ${oldestDue} as due from ${webhooks} w where w.locator = ${sql.placeholder('webhook')} and ${listening}`,
  ),
)

/** The same for one webhook. */
export async function nextDue(database: Database, webhookLocator: string): Promise<Instant | undefined> {
  const [rows] = await database.batch([database.bind(NEXT_DUE, { webhook: webhookLocator })])
  return rows[0]?.due ?? undefined
}

/** The columns of a `ClaimedDelivery`. */
const CLAIMED = {
  event: events,
  line: deliveries.line,
  attempts: deliveries.attempts,
  asked: deliveries.asked,
}

const webhookOfClaim = sql.placeholder('webhook')
const leaseOfClaim = sql.placeholder('leaseUntil')

const CLAIM = statement(build =>
  build
    .update(deliveries)
    .set({ dueAt: sql`${leaseOfClaim}` })
    .where(
      sql`rowid in (select rowid from ${deliveries}
        where webhook_locator = ${webhookOfClaim} and state = 'pending' and due_at <= ${sql.placeholder('at')}
          and exists (select 1 from ${webhooks} w where w.locator = webhook_locator and ${listening})
        order by due_at, event_sequence limit ${sql.placeholder('most')})`,
    )
    .returning({ eventSequence: deliveries.eventSequence }),
)

const WEBHOOK = statement(build => build.select().from(webhooks).where(eq(webhooks.locator, webhookOfClaim)))

const HEADS = statement(build =>
  build
    .select(CLAIMED)
    .from(deliveries)
    .innerJoin(events, eq(events.sequence, deliveries.eventSequence))
    .where(
      sql`${deliveries.webhookLocator} = ${webhookOfClaim} and ${deliveries.state} = 'pending'
        and ${deliveries.dueAt} = ${leaseOfClaim}`,
    )
    .orderBy(deliveries.eventSequence),
)

const headRows = alias(deliveries, 'head')

// Joined crosswise, which has SQLite begin with the heads: by itself it would go through all that the webhook was ever sent.
const FOLLOWING = statement(build =>
  build
    .select({ ...CLAIMED, dueAt: deliveries.dueAt })
    .from(headRows)
    .crossJoin(deliveries)
    .crossJoin(events)
    .where(
      sql`${headRows.webhookLocator} = ${webhookOfClaim} and ${headRows.state} = 'pending' and ${headRows.dueAt} = ${leaseOfClaim}
        and ${deliveries.webhookLocator} = ${headRows.webhookLocator} and ${deliveries.line} = ${headRows.line}
        and ${deliveries.finishedAt} is null and ${deliveries.state} = 'waiting'
        and ${events.sequence} = ${deliveries.eventSequence}`,
    )
    .orderBy(deliveries.eventSequence)
    .limit(MOST_FOLLOWING),
)

/**
 * Claims at most `most` due deliveries of the webhook, with what follows in their lines. If none is due, returns when the next
 * will be. `before` is executed first, in the same round trip.
 */
export async function claimDue(
  database: Database,
  webhookLocator: string,
  at: Instant,
  leaseUntil: Instant,
  most: number,
  before: readonly Query[] = [],
): Promise<Claim | NothingDue> {
  const values = { webhook: webhookLocator, at, leaseUntil, most }
  const queries = [
    database.bind(CLAIM, values),
    database.bind(WEBHOOK, values),
    database.bind(HEADS, values),
    database.bind(FOLLOWING, values),
    database.bind(NEXT_DUE, values),
  ] as const
  const sent = [...before, ...queries] as unknown as typeof queries
  const answers: readonly unknown[] = await database.batch(sent)
  const [claimed, found, first, following, next] = answers.slice(before.length) as unknown as BatchResponse<
    typeof queries
  >
  const webhook = found[0]
  // Another's claim of the same millisecond may be among them; `claimed` names ours.
  const ours = new Set(claimed.map(row => row.eventSequence))
  const heads = first.filter(({ event }) => ours.has(event.sequence))
  if (!webhook || heads.length === 0) return { nextDue: next[0]?.due ?? undefined }
  const behind = Map.groupBy(following, ({ line }) => line)
  const lines = heads.map((head): ClaimedLine => [head, ...untilLater(behind.get(head.line) ?? [], at)])
  return { webhook, leaseUntil, lines }
}

/** What may follow a line's head at once: not beyond a delivery that is to wait longer. */
function untilLater<D extends { dueAt: number }>(deliveries: readonly D[], at: Instant): readonly D[] {
  const later = deliveries.findIndex(({ dueAt }) => dueAt > at)
  return later < 0 ? deliveries : deliveries.slice(0, later)
}

/** Results that one statement records: with the longest answers their text stays below a parameter's 2 MB. */
const MOST_RECORDED = 50

const log = sql.raw('"delivery".log')
const divertedAt = sql.raw('"delivery".diverted_at')
const state = sql.raw('"delivery".state')
const finishedAt = sql.raw('"delivery".finished_at')

/** It was asked for again since it was claimed: whatever came of this attempt, it goes on waiting for another. */
const askedSince = sql`${sql.raw('"delivery".asked')} <> r.asked`

// Each row names the webhook, which is not one condition beside them: so SQLite begins with the results, and looks each delivery up. By
// a condition of its own it would go through all that the webhook was ever sent.
const RECORD = statement(build =>
  build.run(sql`
    update ${deliveries} set attempts = iif(${askedSince} and r.finished_at is not null, 0, r.attempts),
      due_at = iif(${askedSince}, ${sql.raw('"delivery".due_at')}, r.due_at),
      finished_at = iif(${askedSince}, null, r.finished_at),
      state = case when ${askedSince} then ${state}
        when r.state = 'failed' and ${divertedAt} is not null then 'diverted' else r.state end,
      diverted_at = case r.state when 'sent' then null when 'diverted' then r.finished_at else ${divertedAt} end,
      outcome = coalesce(r.outcome, ${sql.raw('"delivery".outcome')}),
      log = iif(r.made is null, ${log}, json_insert(
        iif(json_array_length(${log}) < ${MOST_LOGGED}, ${log}, json_remove(${log}, '$[0]')), '$[#]', json(r.made)))
    from (
      select value ->> 0 as webhook, value ->> 1 as sequence, value ->> 3 as state, value ->> 4 as attempts,
        value ->> 5 as due_at, value ->> 6 as outcome, value ->> 7 as made, value ->> 8 as finished_at,
        value ->> 9 as asked,
        exists (select 1 from ${deliveries} h where h.webhook_locator = value ->> 0
          and h.event_sequence = value ->> 2 and h.state = 'pending' and h.due_at = ${leaseOfClaim}) as ours
      from json_each(${sql.placeholder('results')})
    ) r
    where webhook_locator = r.webhook and event_sequence = r.sequence
      and ((r.state = 'sent' and ${state} <> 'sent' and (${finishedAt} is null or not ${askedSince}))
        or (r.ours and ${finishedAt} is null))`),
)

/**
 * Records results of a claim. A 2xx counts whoever holds the line by now, unless the event was asked for again since. Any other
 * result counts only while the lease is ours: another attempt may be under way. Recording twice changes nothing.
 */
export function recordResults(database: Database, claim: Claim, results: readonly DeliveryResult[]): Query[] {
  const webhook = claim.webhook.locator
  const rows = results.map(({ head, event, asked, state, attempts, dueAt, made }) => [
    webhook,
    event.sequence,
    head,
    state,
    attempts,
    dueAt,
    made?.outcome ?? null,
    made ? JSON.stringify(made) : null,
    state === 'pending' ? null : dueAt,
    asked,
  ])
  const lines = new Set(results.flatMap(({ line }) => line ?? []))
  // Backwards, so that no statement finds the lease gone that was its own: it ends with the result of the line's first.
  return [
    ...parts(rows.toReversed(), MOST_RECORDED).map(some =>
      database.bind(RECORD, { leaseUntil: claim.leaseUntil, results: JSON.stringify(some) }),
    ),
    nextUp(database, webhook, [...lines]),
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

/** A query that lets the next of each of the lines come up, after those before it have ended. */
const nextUp = (database: Database, webhook: string, lines: readonly string[]): Query =>
  database.bind(NEXT_UP, { webhook, lines: JSON.stringify(lines) })

// Webhooks as rows of the home shard. Where they send, and what with, is sealed.
/** Whose webhooks they are, and the keys that open them. */
export type WebhookPlace = { readonly env: Env; readonly tenant: Tenant }

export type WebhookRow = typeof webhooks.$inferSelect

type Connections = { readonly endpoint: WebhookEndpoint; readonly alertEndpoint?: WebhookEndpoint }

/** The same for every shard, so that copies are rows as they are. */
const placeOf = (tenant: Tenant, locator: string): string => sealedPlace(tenant, 'webhook', locator)

export async function webhookOf({ env, tenant }: WebhookPlace, row: WebhookRow): Promise<Webhook> {
  const { connections, secretNames, failureHandling, ...plain } = row
  const opened = await unseal(env, placeOf(tenant, row.locator), connections)
  const { endpoint, alertEndpoint } = JSON.parse(opened) as Connections
  return {
    ...plain,
    locator: row.locator as Uuid,
    suspendedAt: row.suspendedAt as Instant | null,
    createdAt: row.createdAt as Instant,
    endpoint,
    failureHandling: failureHandling
      ? { ...failureHandling, ...(alertEndpoint && { alertEndpoint }) }
      : undefined,
  }
}

export async function rowOf({ env, tenant }: WebhookPlace, webhook: Webhook): Promise<WebhookRow> {
  const { endpoint, failureHandling, ...plain } = webhook
  const { alertEndpoint, ...handling } = failureHandling ?? {}
  const connections: Connections = { endpoint, ...(alertEndpoint && { alertEndpoint }) }
  const headers = [endpoint, alertEndpoint].flatMap(one => Object.values(one?.headers ?? {}).flat())
  return {
    ...plain,
    connections: await seal(env, placeOf(tenant, webhook.locator), JSON.stringify(connections)),
    secretNames: [...new Set(headers.flatMap(referencesIn).map(one => one.staticName))],
    failureHandling: failureHandling ? (handling as WebhookRow['failureHandling']) : null,
  }
}

export async function findWebhook(
  place: WebhookPlace,
  database: Database,
  locator: Uuid,
): Promise<Webhook | undefined> {
  const [rows] = await database.batch([
    database.build.select().from(webhooks).where(eq(webhooks.locator, locator)),
  ])
  return rows[0] && (await webhookOf(place, rows[0]))
}

// A webhook, and how failures of its deliveries are handled (resources brief 7).
export type Webhook = {
  locator: Uuid
  name: string
  /** A disabled webhook collects nothing; what waited for it waits on. */
  enabled: boolean
  /** In real time. */
  suspendedAt: Instant | null
  endpoint: WebhookEndpoint
  /** Undefined: the client gave none, and `OWN_FAILURE_HANDLING` holds. */
  failureHandling: WebhookFailureHandling | undefined
  /** Types, or beginnings of types with `.*`. */
  eventTypes: string[]
  createdAt: Instant
  /** 1, and one more with every change. */
  version: number
  /** The version that came with the wish to send what was missed; 0 when none ever did. */
  replayVersion: number
}

export const handlingOf = ({ failureHandling }: Pick<Webhook, 'failureHandling'>): WebhookFailureHandling =>
  failureHandling ?? OWN_FAILURE_HANDLING
