import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { LogLine } from './runners/runner.ts'

/** The output of a call, or why it failed; kept for 7 days. A call without either leaves no row. */
export const pluginLogs = sqliteTable(
  'plugin_log',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    /** Real time, for purging. */
    at: integer().notNull(),
    plugin: text().notNull(),
    path: text().notNull(),
    productName: text().notNull(),
    configVersion: integer().notNull(),
    policyLocator: text(),
    requestId: text().notNull(),
    username: text().notNull(),
    failure: text(),
    lines: text({ mode: 'json' }).$type<readonly LogLine[]>().notNull(),
  },
  table => [
    index('plugin_log_created').on(table.createdAt, table.locator),
    index('plugin_log_at').on(table.at),
    index('plugin_log_policy').on(table.policyLocator, table.createdAt, table.locator),
  ],
)
