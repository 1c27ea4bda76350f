import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Instant } from '../../kernel/time.ts'

/** Selects events whose locators do not begin like their request's id. An index has this condition; queries must repeat it. */
export const NOT_BY_REQUEST = sql.raw('substr(locator, 1, 24) <> substr(request_id, 1, 24)')

/**
 * Outbox and stream in one table: written in the batch of the change, read in `sequence` order. A row may contain several events
 * of a commit (rows.ts), so queries for events use `eachEvent`.
 */
export const events = sqliteTable(
  'event',
  {
    /** The number of the row's last event, in commit order: a reader that has seen N never misses a smaller number. */
    sequence: integer().primaryKey({ autoIncrement: true }),
    locator: text().notNull(),
    requestId: text().notNull(),
    /** A JSON list in a row with several events. */
    type: text().notNull(),
    /** The name in the events interface (resources brief 8.1). Null where it has no separate name. */
    newerType: text(),
    /** Never smaller than that of an earlier `sequence` (outbox.ts), so a span of time is a span of the stream. */
    at: integer().notNull(),
    data: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    accountLocator: text().notNull(),
    username: text().notNull(),
    policyholderLocator: text(),
    policyLocator: integer(),
  },
  table => [
    // Also finds the events of a request.
    uniqueIndex('event_id').on(table.locator),
    index('event_older_request').on(table.requestId).where(NOT_BY_REQUEST),
    index('event_of_type').on(table.type, table.sequence),
  ],
)

/** An event, or a row with several events. */
export type StoredEvent = typeof events.$inferSelect

/**
 * Shard 0 is authoritative. Other shards have copies (servicing/events/delivery/webhook-copies.ts), because the batch of the shard
 * where an event happens also creates its deliveries.
 */
export const webhooks = sqliteTable(
  'webhook',
  {
    locator: text().primaryKey(),
    /** Unique. Copies on other shards store the locator here: when two webhooks swap names, one copy arrives before the other. */
    name: text().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    suspendedAt: integer(),
    /** Endpoints as JSON, sealed (platform/sealed), because addresses, headers and secrets may be worth stealing. */
    connections: text().notNull(),
    /** Static names of the secrets in headers, because queries cannot read sealed text. */
    secretNames: text({ mode: 'json' }).$type<string[]>().notNull(),
    /** Null when the client gave none: `OWN_FAILURE_HANDLING` applies. */
    failureHandling: text({ mode: 'json' }).$type<Omit<WebhookFailureHandling, 'alertEndpoint'>>(),
    eventTypes: text({ mode: 'json' }).$type<string[]>().notNull(),
    createdAt: integer().notNull(),
    /** Rises with every change. A copy replaces only an older one. */
    version: integer().notNull(),
    /** The version that requested missed events. 0 for none. */
    replayVersion: integer().notNull(),
  },
  table => [uniqueIndex('webhook_name').on(table.name)],
)

export type AttemptMade = {
  /** Start of the attempt, in real time. */
  readonly at: number
  /** An HTTP status, or a kind of `Outcome` (servicing/events/delivery/serve.ts) such as `timeout`. */
  readonly outcome: string
  readonly durationMs: number
  /** Start of the response body, at most 4 KiB. */
  readonly excerpt?: string
}

/**
 * One event for one webhook, written in the batch of the event. `sent` means a 2xx response. Events of one policy (or of a
 * policyholder, without a policy) form a _line_ and are delivered one after the other: the webhook's earliest unfinished delivery
 * in a line is `pending`, later ones are `waiting`.
 */
export const deliveries = sqliteTable(
  'delivery',
  {
    webhookLocator: text().notNull(),
    eventSequence: integer().notNull(),
    /** Null without policy and policyholder: the delivery blocks no other. */
    line: text(),
    /** While the webhook is suspended: `diverted` with `divert`, `skipped` without. */
    state: text({ enum: ['waiting', 'pending', 'sent', 'failed', 'diverted', 'skipped'] }).notNull(),
    /** Finished attempts since the delivery was last requested. An attempt that a crash interrupted does not count. */
    attempts: integer().notNull(),
    /** How often the delivery was requested again (`redeliver`). An attempt claimed before the last request does not end it. */
    asked: integer().notNull().default(0),
    /** Time of the next attempt. The webhook's object knows the attempts under way (servicing/events/delivery/deliver.ts). */
    dueAt: integer().notNull(),
    /** Outcome of the last attempt, or why there was none: `suspended`, `deleted`, `discarded`. */
    outcome: text(),
    finishedAt: integer(),
    /** Null again once the delivery is sent or discarded. */
    divertedAt: integer(),
    /** The latest `AttemptMade` values as JSON. */
    log: text().notNull().default('[]'),
  },
  table => [
    primaryKey({ columns: [table.webhookLocator, table.eventSequence] }),
    // Partial indexes: queries must contain the condition literally, because SQLite does not consider bound parameters.
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
    index('delivery_failed')
      .on(table.eventSequence, table.webhookLocator)
      .where(sql`${table.state} in ('failed', 'diverted')`),
    index('delivery_finished').on(table.finishedAt).where(sql`${table.state} in ('sent', 'failed')`),
  ],
)

/** Destination of a webhook's events (resources brief 7.1). The secret signs deliveries and is shown once, when it is created. */
export type WebhookEndpoint = {
  url: string
  headers: Record<string, string[]>
  secureSsl: boolean
  hmacEnabled: boolean
  secret?: string
  /** The version of the webhook whose response shows the secret, if the service created the secret for a change. */
  secretMadeIn?: number
  /** Replaced secrets. Each also signs until its time, in real time. */
  earlierSecrets?: { secret: string; until: Instant }[]
  tag?: string
}

export type RetryStrategy = {
  type: 'linear' | 'exponential'
  interval: number
  /** Total number of attempts, including the first. */
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

/** Triggers of a failure handling that names none (resources brief 7.1). */
export const DEFAULT_TRIGGERS: readonly string[] = ['4xx', '5xx', 'timeout']

/**
 * Applies where the client gave no failure handling. In this case the contract's platform never retries and loses the event.
 * Bindery retries for most of a day, after 5 s, 10 s, 20 s and so on: 81,915 s in total, each wait ±10 %.
 */
export const OWN_FAILURE_HANDLING: WebhookFailureHandling = {
  triggers: [...DEFAULT_TRIGGERS],
  retryStrategy: { type: 'exponential', interval: 5, attempts: 15 },
  divert: false,
  suspend: false,
}
