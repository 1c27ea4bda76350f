import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Instant } from '../../kernel/time.ts'

/** The outbox and the stream in one: written in the batch of the change it tells of, read in `sequence` order. */
export const events = sqliteTable(
  'event',
  {
    /** Commit order: a reader that has seen N never misses a smaller one later. */
    sequence: integer().primaryKey({ autoIncrement: true }),
    locator: text().notNull(),
    requestId: text().notNull(),
    type: text().notNull(),
    /** What the events interface calls it (resources brief 8.1); null where it has no name of its own for it. */
    newerType: text(),
    /** Never smaller than that of an earlier `sequence` (outbox.ts): a span of time is a span of the stream. */
    at: integer().notNull(),
    data: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    accountLocator: text().notNull(),
    username: text().notNull(),
    policyholderLocator: text(),
    policyLocator: integer(),
  },
  table => [
    uniqueIndex('event_locator').on(table.locator),
    index('event_request').on(table.requestId),
    index('event_type').on(table.type, table.sequence),
    // Half of the events have no newer name.
    index('event_newer_type').on(table.newerType, table.sequence).where(sql`${table.newerType} is not null`),
    index('event_at').on(table.at),
    // Queries must write the condition as it is here.
    index('event_custom').on(table.policyLocator).where(sql`${table.type} like 'custom.%'`),
  ],
)

/**
 * Shard 0 has the truth; every other shard has a copy of each row (servicing/events/delivery/webhook-copies.ts), because deliveries are
 * made by a statement inside the batch of the shard where the event happens.
 */
export const webhooks = sqliteTable(
  'webhook',
  {
    locator: text().primaryKey(),
    /** Unique at home. Copies have the locator in its place: of two that swap names one comes first. */
    name: text().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    suspendedAt: integer(),
    /** Its endpoints as JSON, sealed (platform/sealed): addresses, headers and secrets may be worth stealing. */
    connections: text().notNull(),
    /** Static names of the secrets that headers refer to, which no query sees in what is sealed. */
    secretNames: text({ mode: 'json' }).$type<string[]>().notNull(),
    /** Null: the client gave none, and the service's own holds (`OWN_FAILURE_HANDLING`). */
    failureHandling: text({ mode: 'json' }).$type<Omit<WebhookFailureHandling, 'alertEndpoint'>>(),
    eventTypes: text({ mode: 'json' }).$type<string[]>().notNull(),
    createdAt: integer().notNull(),
    /** Rises with every change: a copy takes the place of an older one only. */
    version: integer().notNull(),
    /** The version that came with the wish to send what was missed; 0 when none ever did. */
    replayVersion: integer().notNull(),
  },
  table => [uniqueIndex('webhook_name').on(table.name)],
)

/** An attempt of a delivery as it is kept. */
export type AttemptMade = {
  /** When it began, in real time. */
  readonly at: number
  /** An HTTP status, or a kind of `Outcome` (servicing/events/delivery/serve.ts) such as `timeout`. */
  readonly outcome: string
  readonly durationMs: number
  /** Of the answer's body, at most 4 KiB. */
  readonly excerpt?: string
}

/**
 * One event for one webhook; written in the batch of the event. `sent` means that a 2xx came. Events of one policy (of
 * a policyholder, for those of no policy) are a _line_, delivered one after the other: of a webhook's deliveries in a
 * line the earliest unfinished one is `pending`, all behind it are `waiting`.
 */
export const deliveries = sqliteTable(
  'delivery',
  {
    webhookLocator: text().notNull(),
    eventSequence: integer().notNull(),
    /** Null: of no policy and policyholder, in nobody's way. */
    line: text(),
    /** `diverted` and `skipped` are put aside: by `divert`, and for want of it while the webhook is suspended. */
    state: text({ enum: ['waiting', 'pending', 'sent', 'failed', 'diverted', 'skipped'] }).notNull(),
    /** Attempts that ended since it was last asked for; one that a crash cut off does not count. */
    attempts: integer().notNull(),
    /** How often it was asked for again (`redeliver`): an attempt claimed before the last time does not end it. */
    asked: integer().notNull().default(0),
    /** When it may be tried (again); a try that is under way pushes it ahead as its lease. */
    dueAt: integer().notNull(),
    /** Outcome of the last attempt, or why there was none: `suspended`, `deleted`, `discarded`. */
    outcome: text(),
    finishedAt: integer(),
    /** When it was diverted; null again once it is sent or discarded. */
    divertedAt: integer(),
    /** `AttemptMade`s as JSON, the latest of them. */
    log: text().notNull().default('[]'),
  },
  table => [
    primaryKey({ columns: [table.webhookLocator, table.eventSequence] }),
    // Partial: queries must write the condition literally, since SQLite does not look into parameters.
    index('delivery_due')
      .on(table.webhookLocator, table.dueAt, table.eventSequence)
      .where(sql`${table.state} = 'pending'`),
    index('delivery_line')
      .on(table.webhookLocator, table.line, table.eventSequence)
      .where(sql`${table.finishedAt} is null`),
    index('delivery_diverted')
      .on(table.webhookLocator, table.eventSequence)
      .where(sql`${table.divertedAt} is not null`),
    index('delivery_skipped')
      .on(table.webhookLocator, table.eventSequence)
      .where(sql`${table.state} = 'skipped'`),
    index('delivery_finished').on(table.finishedAt).where(sql`${table.state} in ('sent', 'failed')`),
  ],
)

/** Where a webhook's events go (resources brief 7.1). The secret signs; it is shown once, when it is made. */
export type WebhookEndpoint = {
  url: string
  headers: Record<string, string[]>
  secureSsl: boolean
  hmacEnabled: boolean
  secret?: string
  /** The version of the webhook that came with the secret, where the service made it for a change: that answer tells it. */
  secretMadeIn?: number
  /** Secrets that were replaced; each signs beside the new one until then, in real time. */
  earlierSecrets?: { secret: string; until: Instant }[]
  tag?: string
}

export type RetryStrategy = {
  type: 'linear' | 'exponential'
  /** Seconds. */
  interval: number
  /** Deliveries in all, the first included. */
  attempts: number
}

export type WebhookFailureHandling = {
  /** Exact codes (`503`), `4xx`, `5xx`, or `timeout`. */
  triggers: string[]
  retryStrategy?: RetryStrategy
  divert: boolean
  suspend: boolean
  alertEndpoint?: WebhookEndpoint
}

/** Triggers of a handling that names none (resources brief 7.1). */
export const DEFAULT_TRIGGERS: readonly string[] = ['4xx', '5xx', 'timeout']

/**
 * What holds where the client gave no failure handling. The contract's platform does not try again then, and an event
 * is lost with the first hiccup; here it is tried for most of a day, after 5 s, 10 s, 20 s and so on: 81,915 s in all,
 * each wait ±10 %.
 */
export const OWN_FAILURE_HANDLING: WebhookFailureHandling = {
  triggers: [...DEFAULT_TRIGGERS],
  retryStrategy: { type: 'exponential', interval: 5, attempts: 15 },
  divert: false,
  suspend: false,
}
