// The queries of a look-up: what may be meant, and the row, in one round trip.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Database } from '../../platform/database.ts'
import type { Resource } from '../resource.ts'
import { candidateQueries, candidatesOf } from '../store.ts'
import { resources, tableContents, tableRows } from '../tables.ts'
import type { Candidates, FoundRow } from './cache.ts'
import type { TableKind } from './layout.ts'
import type { TableContents } from './store.ts'
import { COLUMN_TYPES, KEY_SEPARATOR, TYPE_RULES } from './values.ts'

/** Which rows: of the tables of a kind with this name of their own, or this static name. */
export type WantedRows = {
  readonly kind: TableKind
  readonly name: string
  readonly byStaticName: boolean
  /** Key values in order, as they came. */
  readonly keys: readonly string[]
  /** Sortable bound of a range table; else empty. */
  readonly bound: string
}

type Row = { contents: number; start: string; end: string | null; line: number; cells: string }

const foundRow = ({ start, end, line, cells }: Row): FoundRow => ({
  start,
  end,
  line,
  cells: JSON.parse(cells) as string[],
})

/**
 * All tables of the name with their groups, and of each the row of the keys: of a range table the one with the greatest
 * start up to the bound. What a key's column takes is known to the database alone before it answers, so that it gets
 * every form that the value has.
 */
export async function findTablesAndRows(
  database: Database,
  { kind, name, byStaticName, keys, bound }: WantedRows,
): Promise<{ candidates: Candidates; rows: ReadonlyMap<number, FoundRow> }> {
  const which = and(eq(byStaticName ? resources.staticName : resources.name, name), eq(resources.type, kind))
  const forms = JSON.stringify(
    keys.map(text => Object.fromEntries(COLUMN_TYPES.map(type => [type, TYPE_RULES[type].canonical(text)]))),
  )
  const separator = KEY_SEPARATOR.charCodeAt(0)
  const [, groups, members, found, contents, rows] = await database.batch([
    ...candidateQueries(database, byStaticName ? [name] : []),
    database.build.select().from(resources).where(which),
    database.build
      .select()
      .from(tableContents)
      .where(
        and(
          inArray(
            tableContents.revision,
            database.build.select({ revision: resources.revision }).from(resources).where(which),
          ),
          eq(tableContents.state, 'loaded'),
        ),
      ),
    database.build.all<Row>(sql`
      with wanted as (
        select ${tableContents.number} as number, coalesce((
          select group_concat(json_extract(${forms}, '$[' || part.key || '].' || part.value), char(${separator}) order by part.key)
          from json_each(${tableContents.keyTypes}) as part), '') as key
        from ${resources}
        join ${tableContents} on ${tableContents.revision} = ${resources.revision} and ${tableContents.state} = 'loaded'
        where ${which})
      select found.contents as "contents", found."start" as "start", found."end" as "end", found.line as "line", found.cells as "cells"
      from wanted join ${tableRows} as found
        on found.contents = wanted.number and found."key" = wanted.key and found."start" = (
          select max("start") from ${tableRows} where contents = wanted.number and "key" = wanted.key and "start" <= ${bound})`),
  ])
  const byRevision = new Map(contents.map(one => [one.revision, one as unknown as TableContents]))
  const tables = (found as Resource[]).flatMap(one => {
    const own = byRevision.get(one.revision)
    return own ? [{ ...one, contents: own }] : []
  })
  return {
    candidates: { tables, groups: candidatesOf([[], groups, members]).groups },
    rows: new Map((rows as unknown as Row[]).map(row => [row.contents, foundRow(row)])),
  }
}

/** The row of contents that are known; 'gone' when they are not loaded any more. */
export async function findRow(
  database: Database,
  contents: number,
  key: string,
  bound: string,
): Promise<FoundRow | null | 'gone'> {
  const [loaded, rows] = await database.batch([
    database.build
      .select({ number: tableContents.number })
      .from(tableContents)
      .where(and(eq(tableContents.number, contents), eq(tableContents.state, 'loaded'))),
    database.build.all<Row>(sql`
      select contents as "contents", "start", "end", line as "line", cells as "cells" from ${tableRows}
      where contents = ${contents} and "key" = ${key} and "start" <= ${bound} order by "start" desc limit 1`),
  ])
  if (loaded.length === 0) return 'gone'
  const [row] = rows as unknown as Row[]
  return row ? foundRow(row) : null
}
