import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Text under a locator (of any record or none) and a key. Not versioned or deleted with the record (brief 7). In the locator's shard;
 * without one, in shard 0.
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
  // Without row ids, which drizzle cannot say (migrations/tenant/0007_keys_of_policies.sql).
  table => [primaryKey({ columns: [table.locator, table.key] })],
)
