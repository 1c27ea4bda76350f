import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The audit trail: who did what to which record, and when. Entries are written in the batch of the action, in its shard, and
 * never change. They hold no values: those may be personal data, which erasure must reach.
 */
export const audits = sqliteTable(
  'audit',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    /** `group.action`, e.g. `auxdata.write`. */
    action: text().notNull(),
    /** The subject: a record's locator, or another name. */
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
