import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Text under a key and a locator, which need not name a record. Not versioned, and not deleted with the record (brief 7). Stored in
 * the locator's shard, or in shard 0 if the locator names none.
 */
export const auxData = sqliteTable(
  'aux_data',
  {
    locator: text().notNull(),
    key: text().notNull(),
    value: text().notNull(),
    uiType: text({ enum: ['normal', 'hidden', 'readonly'] }).notNull(),
    updatedAt: integer().notNull(),
  },
  // Declared WITHOUT ROWID, which drizzle cannot express (migrations/tenant/0007_keys_of_policies.sql).
  table => [primaryKey({ columns: [table.locator, table.key] })],
)
