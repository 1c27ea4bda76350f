import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The audit trail: who did what, when, to what; written in the batch of what it tells of, and never changed. It lies in the
 * shard of that batch. Values are not in it: they may be personal data, which erasure must reach.
 */
export const audits = sqliteTable(
  'audit',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    /** `group.action`, e.g. `auxdata.write`. */
    action: text().notNull(),
    /** What it was done to: a record's locator, or any other name. */
    subject: text().notNull(),
    details: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
    accountLocator: text().notNull(),
    username: text().notNull(),
    requestId: text().notNull(),
  },
  table => [
    index('audit_created').on(table.createdAt, table.locator),
    index('audit_subject').on(table.subject, table.createdAt, table.locator),
  ],
)
