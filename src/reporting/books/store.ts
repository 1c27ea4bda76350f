import { and, asc, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Guard } from '../../platform/commit.ts'
import type { Database, Query } from '../../platform/database.ts'
import { bookClosings, bookSummaries, books, journalRows } from '../../policy/tables/journal.ts'

export type BooksState = typeof books.$inferSelect

export const NO_BOOKS: BooksState = {
  id: 1,
  closedUntil: 0,
  summarizedTo: 0,
  broughtInTo: 0,
  broughtInAt: null,
}

/** Selects the state of a shard's books; no row means NO_BOOKS. */
export const booksQuery = ({ build }: Database) => build.select().from(books)

/** Selects the number of rows in the journal. Rows are numbered from 1 and never deleted, so none need to be counted. */
export const rowsQuery = ({ build }: Database) =>
  build.select({ rows: sql<number>`coalesce(max(${journalRows.id}), 0)` }).from(journalRows)

/** Selects closed periods from the home shard, newest first, at most 1,000. */
export const closingsQuery = ({ build }: Database) =>
  build.select().from(bookClosings).orderBy(desc(bookClosings.until)).limit(1_000)

/** Selects the period that ends at exactly this time; none if no period does. */
export const closingOfQuery = ({ build }: Database, until: number) =>
  build.select().from(bookClosings).where(eq(bookClosings.until, until))

/** Never moves the time back. */
export const closeQuery = (database: Database, until: number): Query =>
  database.rawQuery(
    `insert into books (id, closed_until, summarized_to, brought_in_to) values (1, ?1, 0, 0)
      on conflict (id) do update set closed_until = max(closed_until, ?1)`,
    until,
  )

/** Records a closed period. The batch fails if one with the same end exists. */
export const newClosingQuery = ({ build }: Database, closing: typeof bookClosings.$inferInsert): Query =>
  build.insert(bookClosings).values(closing)

/** Trips if this time or a later one is already closed. */
export const closingGuard = (until: number): Guard => ({
  name: 'guard_migration_state',
  holds: sql`not exists (select 1 from ${bookClosings} where ${bookClosings.until} >= ${until})`,
})

export type Sum = {
  readonly day: number
  readonly productName: string
  readonly currency: string
  readonly account: string
  readonly debit: number
  readonly credit: number
}

/** Adds the sums, and records the row up to which the journal is summarized. */
export const addSumsQueries = (database: Database, sums: readonly Sum[], to: number): Query[] => [
  database.rawQuery(
    `insert into book_summary (day, product_name, currency, account, debit, credit)
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 from json_each(?1) where true
      on conflict (day, product_name, currency, account)
      do update set debit = debit + excluded.debit, credit = credit + excluded.credit`,
    JSON.stringify(
      sums.map(({ day, productName, currency, account, debit, credit }) => [
        day,
        productName,
        currency,
        account,
        debit,
        credit,
      ]),
    ),
  ),
  database.rawQuery(
    `insert into books (id, closed_until, summarized_to, brought_in_to) values (1, 0, ?1, 0)
      on conflict (id) do update set summarized_to = ?1`,
    to,
  ),
]

/** Trips if the journal is summarized up to another row. */
export const summaryGuard = (to: number): Guard => ({
  name: 'guard_migration_state',
  holds: sql`coalesce((select summarized_to from books where id = 1), 0) = ${to}`,
})

/** Builds queries that delete all summaries of a shard, so that summarizing begins with the first row of the journal again. */
export const forgetSummariesQueries = (database: Database): Query[] => [
  database.rawQuery('delete from book_summary'),
  database.rawQuery('update books set summarized_to = 0 where id = 1'),
]

export type Asked = {
  readonly from: number | undefined
  readonly to: number | undefined
  readonly account: string | undefined
}

/** Sums by day if `byDay`, otherwise over the whole time. */
export const balancesQuery = (
  { build }: Database,
  { from, to, account }: Asked,
  byDay: boolean,
  most: number,
) => {
  const day = byDay ? sql<number>`${bookSummaries.day}` : sql<number>`(0 + 0)`
  const conditions: (SQL | undefined)[] = [
    from === undefined ? undefined : gte(bookSummaries.day, from),
    to === undefined ? undefined : lt(bookSummaries.day, to),
    account === undefined ? undefined : eq(bookSummaries.account, account),
  ]
  return build
    .select({
      day,
      productName: bookSummaries.productName,
      currency: bookSummaries.currency,
      account: bookSummaries.account,
      debit: sql<number>`sum(${bookSummaries.debit})`,
      credit: sql<number>`sum(${bookSummaries.credit})`,
    })
    .from(bookSummaries)
    .where(and(...conditions))
    .groupBy(day, bookSummaries.productName, bookSummaries.currency, bookSummaries.account)
    .orderBy(asc(day))
    .limit(most)
}
