// Which rows of two contents differ, in the order of their keys.
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../platform/database.ts'
import { tableContents, tableRows } from '../tables.ts'
import type { TableLayout } from './layout.ts'
import type { TableContents } from './store.ts'

/** Cells of a row before and after; null where there is no row. */
export type RowDifference = {
  readonly key: string
  readonly start: string
  readonly from: readonly string[] | null
  readonly to: readonly string[] | null
}

export type Position = { readonly key: string; readonly start: string }

type Row = { key: string; start: string; from: string | null; to: string | null }

/**
 * The first differences after the position, one more than `count` when there are more. One round trip. Undefined when
 * the rows of one are gone meanwhile.
 */
export async function findDifferences(
  database: Database,
  from: TableContents,
  to: TableContents,
  after: Position | undefined,
  count: number,
): Promise<RowDifference[] | undefined> {
  const beyond = (alias: string): SQL =>
    after
      ? sql`and (${sql.raw(alias)}."key", ${sql.raw(alias)}."start") > (${after.key}, ${after.start})`
      : sql``
  const [loaded, changed, removed] = await database.batch([
    database.build
      .select({ number: tableContents.number })
      .from(tableContents)
      .where(and(inArray(tableContents.number, [from.number, to.number]), eq(tableContents.state, 'loaded'))),
    database.build.all<Row>(sql`
      select b."key" as "key", b."start" as "start", a.cells as "from", b.cells as "to"
      from ${tableRows} as b left join ${tableRows} as a
        on a.contents = ${from.number} and a."key" = b."key" and a."start" = b."start"
      where b.contents = ${to.number} ${beyond('b')} and (a.cells is null or ${differ(from.layout, to.layout)})
      order by b."key", b."start" limit ${count + 1}`),
    database.build.all<Row>(sql`
      select a."key" as "key", a."start" as "start", a.cells as "from", null as "to"
      from ${tableRows} as a
      where a.contents = ${from.number} ${beyond('a')} and not exists (
        select 1 from ${tableRows} as b
        where b.contents = ${to.number} and b."key" = a."key" and b."start" = a."start")
      order by a."key", a."start" limit ${count + 1}`),
  ])
  if (loaded.length < new Set([from.number, to.number]).size) return undefined
  return ([...changed, ...removed] as unknown as Row[])
    .sort(byPosition)
    .slice(0, count + 1)
    .map(row => ({ ...row, from: cellsOf(row.from), to: cellsOf(row.to) }))
}

const cellsOf = (text: string | null): string[] | null =>
  text === null ? null : (JSON.parse(text) as string[])

/** As the database compares them, byte by byte. */
const byPosition = (a: Row, b: Row): number =>
  Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) ||
  Buffer.compare(Buffer.from(a.start), Buffer.from(b.start))

/** With the same columns in another order cells are compared by column; with others every row is another. */
function differ(from: TableLayout, to: TableLayout): SQL {
  const [before, after] = [from, to].map(({ columns }) => columns.map(({ name }) => name)) as [
    string[],
    string[],
  ]
  if (JSON.stringify(before) === JSON.stringify(after)) return sql`a.cells <> b.cells`
  if (before.length !== after.length || before.some(name => !after.includes(name))) return sql`1`
  const inOrder = before.map(name => sql`json_extract(b.cells, ${`$[${after.indexOf(name)}]`})`)
  return sql`a.cells <> json_array(${sql.join(inOrder, sql`, `)})`
}
