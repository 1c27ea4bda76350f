import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What was uploaded; in shard 0, since a medium belongs to no policy before one names it. */
export const media = sqliteTable('medium', {
  locator: text().primaryKey(),
  fileName: text().notNull(),
  mimeType: text().notNull(),
  sizeBytes: integer().notNull(),
  createdAt: integer().notNull(),
})

/** What a policy shows of the media that its fields name, beside its other rows. */
export const policyMedia = sqliteTable(
  'policy_medium',
  {
    locator: text().notNull(),
    policyLocator: integer().notNull(),
    fileName: text().notNull(),
    mimeType: text().notNull(),
  },
  table => [primaryKey({ columns: [table.policyLocator, table.locator] })],
)
