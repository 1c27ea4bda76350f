import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { WebhookEndpoint, WebhookFailureHandling } from './webhook.ts'

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
    index('event_newer_type').on(table.newerType, table.sequence),
    index('event_at').on(table.at),
    index('event_policyholder').on(table.policyholderLocator),
  ],
)

/**
 * Shard 0 has the truth; every other shard has a copy of each row (webhooks/copies.ts), because deliveries are
 * made by a statement inside the batch of the shard where the event happens.
 */
export const webhooks = sqliteTable(
  'webhook',
  {
    locator: text().primaryKey(),
    name: text().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    suspendedAt: integer(),
    endpoint: text({ mode: 'json' }).$type<WebhookEndpoint>().notNull(),
    failureHandling: text({ mode: 'json' }).$type<WebhookFailureHandling>().notNull(),
    eventTypes: text({ mode: 'json' }).$type<string[]>().notNull(),
    createdAt: integer().notNull(),
  },
  table => [uniqueIndex('webhook_name').on(table.name)],
)

/** One event for one webhook; written in the batch of the event. `sent` means that a 2xx came. */
export const deliveries = sqliteTable(
  'delivery',
  {
    webhookLocator: text().notNull(),
    eventSequence: integer().notNull(),
    state: text({ enum: ['pending', 'sent', 'failed'] }).notNull(),
    /** Attempts that ended; one that a crash cut off does not count. */
    attempts: integer().notNull(),
    /** When it may be tried (again); a try that is under way pushes it ahead as its lease. */
    dueAt: integer().notNull(),
    /** Outcome of the last attempt: an HTTP status, or a word of delivery/judge.ts such as `timeout`. */
    outcome: text(),
    finishedAt: integer(),
  },
  table => [
    primaryKey({ columns: [table.webhookLocator, table.eventSequence] }),
    // Partial: queries must write `state = 'pending'` literally, since SQLite does not look into parameters.
    index('delivery_due')
      .on(table.webhookLocator, table.dueAt, table.eventSequence)
      .where(sql`${table.state} = 'pending'`),
  ],
)
