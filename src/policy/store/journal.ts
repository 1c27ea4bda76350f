// Rows of the journal: added in the batch of the change that they describe, read by policy or in the order of recording.
import { and, asc, gt, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { CurrencyCode } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { jsonLists } from '../../platform/database/parameters.ts'
import { type Database, type Query, statement } from '../../platform/database.ts'
import { entriesText, readEntries } from '../journal/entries.ts'
import type { JournalRow, StoredJournalRow } from '../journal/rows.ts'
import { journalRows } from '../tables/journal.ts'

/**
 * Reads the time up to which the books are closed in the same batch, so that no commit books before it. Ids continue after the
 * highest, in the order of the list.
 */
const INSERT = `insert into journal (policy_locator, policyholder_locator, product_name, currency, kind, at, effective_at,
    modification_locator, segment_locator, closed_until, entries)
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
    coalesce((select closed_until from books where id = 1), 0), value ->> 9
  from json_each(?) order by key`

/** Returns the queries that add the rows. Empty if there are no rows. */
export const journalQueries = (database: Database, rows: readonly JournalRow[]): Query[] =>
  rows.length === 0
    ? []
    : jsonLists(rows.map(row => JSON.stringify(cellsOf(row)))).map(list => database.rawQuery(INSERT, list))

const cellsOf = (row: JournalRow): unknown[] => [
  row.policyLocator ?? null,
  row.policyholderLocator,
  row.productName ?? null,
  row.currency,
  row.kind,
  row.at,
  row.effectiveAt,
  row.modificationLocator ?? null,
  row.segmentLocator ?? null,
  entriesText(row.entries),
]

/** Rows of the policies (a JSON list of locators) that were known at a time. */
const ROWS_OF_POLICIES = statement(build =>
  build
    .select()
    .from(journalRows)
    .where(
      and(
        inArray(
          journalRows.policyLocator,
          sql`(select value from json_each(${sql.placeholder('locators')}))`,
        ),
        lte(journalRows.at, sql.placeholder('knownAt')),
      ),
    )
    .orderBy(asc(journalRows.policyLocator), asc(journalRows.at), asc(journalRows.id)),
)

/** Selects the rows that were recorded up to and including `knownAt`, sorted by policy, then by time. */
export const rowsOfPoliciesQuery = (database: Database, locators: readonly number[], knownAt: Instant) =>
  database.bind(ROWS_OF_POLICIES, { locators: JSON.stringify(locators), knownAt })

/** Rows without a policy that were known at a time. */
export const rowsWithoutPolicyQuery = ({ build }: Database, knownAt: Instant) =>
  build
    .select()
    .from(journalRows)
    .where(and(isNull(journalRows.policyLocator), lte(journalRows.at, knownAt)))
    .orderBy(asc(journalRows.at), asc(journalRows.id))

/** Rows after an id, in the order of recording. */
export const rowsAfterQuery = ({ build }: Database, id: number, most: number) =>
  build.select().from(journalRows).where(gt(journalRows.id, id)).orderBy(asc(journalRows.id)).limit(most)

/** Converts a row. Properties whose column is null are absent. */
export const readJournalRow = (row: typeof journalRows.$inferSelect): StoredJournalRow => ({
  id: row.id,
  ...(row.policyLocator !== null && { policyLocator: row.policyLocator as PolicyLocator }),
  policyholderLocator: row.policyholderLocator as Uuid,
  ...(row.productName !== null && { productName: row.productName }),
  currency: row.currency as CurrencyCode,
  kind: row.kind,
  at: row.at as Instant,
  effectiveAt: row.effectiveAt as Instant,
  ...(row.modificationLocator !== null && { modificationLocator: row.modificationLocator as Uuid }),
  ...(row.segmentLocator !== null && { segmentLocator: row.segmentLocator as Uuid }),
  closedUntil: row.closedUntil as Instant,
  entries: readEntries(row.entries),
})
