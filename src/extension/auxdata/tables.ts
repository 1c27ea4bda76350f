import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Auxiliary data: text under a locator and a key, whatever the locator names, or nothing at all. Not versioned, and
 * not deleted with what the locator names (brief 7). It lies in the shard that the locator tells; where it tells
 * none, in shard 0.
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
  table => [primaryKey({ columns: [table.locator, table.key] })],
)

/** Characters of a locator or a key, and of a value. */
export const LONGEST_AUX_NAME = 256
export const LONGEST_AUX_VALUE = 100_000
