import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const NOTED_RECORDS = ['policy', 'quote', 'endorsement', 'renewal', 'policyholder'] as const
export type NotedRecord = (typeof NOTED_RECORDS)[number]

/** Notes of staff on a record, in the shard of the policyholder. They never change. An erasure of the policyholder deletes them. */
export const notes = sqliteTable(
  'note',
  {
    locator: text().notNull(),
    policyholderLocator: text().notNull(),
    /** Null for a note on a policyholder. */
    policyLocator: integer(),
    recordType: text().$type<NotedRecord>().notNull(),
    recordLocator: text().notNull(),
    text: text().notNull(),
    accountLocator: text().notNull(),
    username: text().notNull(),
    createdAt: integer().notNull(),
  },
  table => [
    // No row ids, so that a policyholder's notes are stored together. Drizzle cannot say this (migrations/tenant/0012_notes.sql).
    primaryKey({ columns: [table.policyholderLocator, table.locator] }),
    index('note_locator').on(table.locator),
  ],
)

/** The length of one text, in characters. */
export const LONGEST_NOTE = 4_000

/** The number of notes of a policyholder, including those of all its policies. */
export const MOST_NOTES = 1_000
