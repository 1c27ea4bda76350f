import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AttemptMade } from './call/exchange.ts'
import { INTEGRATION_TYPES } from './integration.ts'

/** In the home shard, so that they are deleted with the tenant and the shard's guards and record of writes apply. */
export const integrations = sqliteTable(
  'integration',
  {
    locator: text().primaryKey(),
    name: text().notNull(),
    type: text({ enum: INTEGRATION_TYPES }).notNull(),
    /** The `Connection` as JSON, sealed (platform/sealed): headers, addresses and the secret may be confidential. */
    connection: text().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [uniqueIndex('integration_name').on(table.name)],
)

/** Every call, kept for 30 days in the shard of its record. The bodies are in R2 under the call's locator. */
export const integrationCalls = sqliteTable(
  'integration_call',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    /** Real time, for purging. */
    at: integer().notNull(),
    integrationName: text().notNull(),
    type: text({ enum: INTEGRATION_TYPES }).notNull(),
    operation: text().notNull(),
    policyLocator: text(),
    requestId: text().notNull(),
    username: text().notNull(),
    /** Without query parameters that look secret. */
    url: text().notNull(),
    attempts: text({ mode: 'json' }).$type<readonly AttemptMade[]>().notNull(),
    /** HTTP status of the last attempt; null if no answer came. */
    status: integer(),
    durationMs: integer().notNull(),
    requestBytes: integer().notNull(),
    /** SHA-256 of the body that was sent, in hexadecimal. */
    requestHash: text().notNull(),
    responseBytes: integer(),
    responseHash: text(),
    /** Why the answer was unusable; null if it was used. */
    failure: text(),
    warnings: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    replayOf: text(),
  },
  table => [
    index('integration_call_name').on(table.integrationName, table.createdAt, table.locator),
    index('integration_call_at').on(table.at),
  ],
)
