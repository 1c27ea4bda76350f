import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const NOTED_RECORDS = ['policy', 'quote', 'endorsement', 'renewal', 'policyholder'] as const
export type NotedRecord = (typeof NOTED_RECORDS)[number]

/** What staff wrote on a record, in the shard of the policyholder. Never changed; gone with an erasure of the policyholder. */
export const notes = sqliteTable(
  'note',
  {
    locator: text().notNull(),
    policyholderLocator: text().notNull(),
    /** Null on a policyholder. */
    policyLocator: integer(),
    recordType: text().$type<NotedRecord>().notNull(),
    recordLocator: text().notNull(),
    text: text().notNull(),
    accountLocator: text().notNull(),
    username: text().notNull(),
    createdAt: integer().notNull(),
  },
  table => [
    // Without row ids, which drizzle cannot say (migrations/tenant/0012_notes.sql): notes of a policyholder lie together.
    primaryKey({ columns: [table.policyholderLocator, table.locator] }),
    index('note_locator').on(table.locator),
  ],
)

/** Of one text, in characters. */
export const LONGEST_NOTE = 4_000

/** Of a policyholder with all its policies. */
export const MOST_NOTES = 1_000
