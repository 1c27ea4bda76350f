import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AttemptMade } from './call/exchange.ts'
import { INTEGRATION_TYPES } from './integration.ts'

/** In the home shard: they are deleted with the tenant, and its guards and record of writes apply. */
export const integrations = sqliteTable(
  'integration',
  {
    locator: text().primaryKey(),
    name: text().notNull(),
    type: text({ enum: INTEGRATION_TYPES }).notNull(),
    /** The `Connection` as JSON, sealed (platform/sealed), since headers, addresses and the secret may be worth stealing. */
    connection: text().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [uniqueIndex('integration_name').on(table.name)],
)

/** Every call, in the shard of its record, for 30 days. The bodies are in R2 under the call's locator. */
export const integrationCalls = sqliteTable(
  'integration_call',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    /** In real time, by which it is purged. */
    at: integer().notNull(),
    integrationName: text().notNull(),
    type: text({ enum: INTEGRATION_TYPES }).notNull(),
    operation: text().notNull(),
    policyLocator: text(),
    requestId: text().notNull(),
    username: text().notNull(),
    /** Without likely secrets in its query. */
    url: text().notNull(),
    attempts: text({ mode: 'json' }).$type<readonly AttemptMade[]>().notNull(),
    /** HTTP status of the last attempt; null when no answer came. */
    status: integer(),
    durationMs: integer().notNull(),
    requestBytes: integer().notNull(),
    /** SHA-256 of the body as it was sent, hex. */
    requestHash: text().notNull(),
    responseBytes: integer(),
    responseHash: text(),
    /** Why the answer was unusable; null when it was used. */
    failure: text(),
    warnings: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    replayOf: text(),
  },
  table => [
    index('integration_call_name').on(table.integrationName, table.createdAt, table.locator),
    index('integration_call_at').on(table.at),
  ],
)
