// Tables of the books (docs/reports.md): the journal, the closed periods, and summaries made from the journal.
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { JournalKind } from '../journal/rows.ts'

/** Rows are only ever added. Reports read them by policy; summaries and exports by `id`, the order of recording. */
export const journalRows = sqliteTable(
  'journal',
  {
    id: integer().primaryKey(),
    policyLocator: integer(),
    policyholderLocator: text().notNull(),
    productName: text(),
    currency: text().notNull(),
    kind: text().$type<JournalKind>().notNull(),
    at: integer().notNull(),
    effectiveAt: integer().notNull(),
    modificationLocator: text(),
    segmentLocator: text(),
    closedUntil: integer().notNull(),
    /** JSON in the form that `entriesText` (policy/journal/entries.ts) returns. */
    entries: text().notNull(),
  },
  table => [index('journal_policy').on(table.policyLocator)],
)

/** One row in each shard. Missing until something is closed, brought in or summarized. */
export const books = sqliteTable('books', {
  /** Always 1. */
  id: integer().primaryKey(),
  /** Nothing is booked before this time. */
  closedUntil: integer().notNull(),
  /** Journal rows up to this id are in the summaries. */
  summarizedTo: integer().notNull(),
  /** Policies up to this locator that were made before there was a journal have been brought in. */
  broughtInTo: integer().notNull(),
  /** When all of them had been brought in. */
  broughtInAt: integer(),
})

/** The closed periods, in the home shard. */
export const bookClosings = sqliteTable('book_closing', {
  /** The end of the period, exclusive. */
  until: integer().primaryKey(),
  closedAt: integer().notNull(),
  username: text().notNull(),
})

/** Sums of the journal by the day to which entries are booked, in minor units. Made from the journal, so they can be made again. */
export const bookSummaries = sqliteTable(
  'book_summary',
  {
    /** The start of the day in the tenant's time zone. */
    day: integer().notNull(),
    /** Empty for disbursements. */
    productName: text().notNull(),
    currency: text().notNull(),
    account: text().notNull(),
    debit: integer().notNull(),
    credit: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.day, table.productName, table.currency, table.account] })],
)
