// The contents of data tables and range tables, as rows of the home shard.
import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Guard, NewTimer } from '../../platform/commit.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { Timer } from '../../platform/events/timers.ts'
import { timers } from '../../platform/tables.ts'
import { HOME_SHARD } from '../../platform/tenancy.ts'
import type { ColumnType } from '../../product/resources.ts'
import { resources, tableContents, tableRows } from '../tables.ts'
import type { TableLayout } from './layout.ts'

/** Loaded contents, identified by the number in their rows. */
export type TableContents = {
  readonly number: number
  readonly revision: Uuid
  readonly layout: TableLayout
  readonly keyTypes: readonly ColumnType[]
  readonly rowCount: number
}

const keyTypesOf = ({ columns, keys }: TableLayout): ColumnType[] => keys.map(at => columns[at]!.type)

/** Begins contents, to which rows are added. The timer removes them if they stay incomplete. */
export async function beginContents(
  database: Database,
  { revision, layout }: Pick<TableContents, 'revision' | 'layout'>,
  timer: NewTimer,
): Promise<number> {
  const [rows] = await database.batch([
    database.build
      .insert(tableContents)
      .values({
        revision,
        layout,
        keyTypes: keyTypesOf(layout),
        rowCount: 0,
        state: 'loading',
        startedAt: now(),
      })
      .returning({ number: tableContents.number }),
    ...putRows(database, timers, [{ locator: newUuid(HOME_SHARD), ...timer }]),
  ])
  return (rows as { number: number }[])[0]!.number
}

/** A row that repeats a key: its line, and the line of the row that is kept. */
export type RepeatedKey = { readonly line: number; readonly firstLine: number }

/**
 * Adds rows, given as JSON lists of key, start, end, line and cells. Keeps the first row of each key and returns the others. Takes
 * one round trip, and another if keys are repeated. Adds nothing once the contents are dropped.
 */
export async function addRows(
  database: Database,
  contents: number,
  json: string,
  count: number,
  most: number,
): Promise<RepeatedKey[]> {
  const [added] = await database.batch([
    database.build.run(sql`
      insert into ${tableRows} (contents, "key", "start", "end", line, cells)
      select ${contents}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value -> 4 from json_each(${json})
      where exists (select 1 from ${tableContents} where number = ${contents} and state = 'loading')
      on conflict do nothing`),
  ])
  if ((added as unknown as D1Result).meta.changes === count) return []
  // `cross join` fixes the join order. Otherwise SQLite might read all of the JSON again for each stored row.
  const [repeated] = await database.batch([
    database.build.all<RepeatedKey>(sql`
      select new.value ->> 3 as "line", old.line as "firstLine"
      from json_each(${json}) as new
      cross join ${tableRows} as old
        on old.contents = ${contents} and old."key" = new.value ->> 0 and old."start" = new.value ->> 1
      where old.line <> new.value ->> 3
      order by 1 limit ${most}`),
  ])
  return repeated as unknown as RepeatedKey[]
}

/** Finds ranges that start before the previous one ends. They may share an edge (resources brief 1.5). */
export async function findOverlaps(
  database: Database,
  contents: number,
  hasEnd: boolean,
  most: number,
): Promise<RepeatedKey[]> {
  if (!hasEnd) return []
  const [rows] = await database.batch([
    database.build.all<RepeatedKey>(sql`
      select "line", "firstLine" from (
        select line as "line", "start", lag(line) over each_key as "firstLine",
          lag("start") over each_key as earlier, lag("end") over each_key as "until"
        from ${tableRows} where contents = ${contents}
        window each_key as (partition by "key" order by "start"))
      where earlier is not null and ("until" is null or "until" > "start")
      order by 1 limit ${most}`),
  ])
  return rows as unknown as RepeatedKey[]
}

/** Marks the contents as loaded, if the guards of the batch hold. */
export const loadedRows = (database: Database, contents: number, rowCount: number): Query[] => [
  database.build
    .update(tableContents)
    .set({ state: 'loaded', rowCount })
    .where(eq(tableContents.number, contents)),
]

/** Holds unless the contents have been dropped. */
export const loadingGuard = (contents: number): Guard => ({
  name: 'guard_resource',
  holds: sql`exists (select 1 from ${tableContents} where ${tableContents.number} = ${contents} and ${tableContents.state} = 'loading')`,
})

/** Returns the loaded contents of the revision; undefined if its rows are gone. */
export async function findContents(database: Database, revision: Uuid): Promise<TableContents | undefined> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(tableContents)
      .where(and(eq(tableContents.revision, revision), eq(tableContents.state, 'loaded')))
      .orderBy(desc(tableContents.number))
      .limit(1),
  ])
  return rows[0] as TableContents | undefined
}

/** Returns the layout with which the revision was read, even if its rows are gone. */
export async function findLayout(database: Database, revision: Uuid): Promise<TableLayout | undefined> {
  const [rows] = await database.batch([
    database.build
      .select({ layout: tableContents.layout })
      .from(tableContents)
      .where(eq(tableContents.revision, revision))
      .limit(1),
  ])
  return rows[0]?.layout
}

/**
 * Drops contents of the revision that are no longer needed, and returns when the first of those still loading began. Loaded
 * contents stay while the revision is current.
 */
export async function dropUnread(
  database: Database,
  revision: string,
  loadingSince: number,
): Promise<{ dropped: number[]; loadingFrom: number | null }> {
  const ofRevision = eq(tableContents.revision, revision)
  const isCurrent = sql`exists (select 1 from ${resources} where ${resources.revision} = ${revision})`
  const [, dropped, loading] = await database.batch([
    database.build
      .update(tableContents)
      .set({ state: 'dropped' })
      .where(
        and(
          ofRevision,
          sql`((${tableContents.state} = 'loading' and ${tableContents.startedAt} <= ${loadingSince}) or (${tableContents.state} = 'loaded' and not ${isCurrent}))`,
        ),
      ),
    database.build
      .select({ number: tableContents.number })
      .from(tableContents)
      .where(and(ofRevision, eq(tableContents.state, 'dropped'))),
    database.build
      .select({ startedAt: tableContents.startedAt })
      .from(tableContents)
      .where(and(ofRevision, eq(tableContents.state, 'loading')))
      .orderBy(tableContents.startedAt)
      .limit(1),
  ])
  return { dropped: dropped.map(({ number }) => number), loadingFrom: loading[0]?.startedAt ?? null }
}

/** Drops contents that must not be read. A load in progress then fails. */
export async function dropContents(database: Database, contents: number): Promise<void> {
  await database.batch([
    database.build
      .update(tableContents)
      .set({ state: 'dropped' })
      .where(and(eq(tableContents.number, contents), eq(tableContents.state, 'loading'))),
  ])
}

const ROWS_A_DELETE = 10_000

/** Removes the rows of dropped contents in parts: a single statement for a million rows would delay all others. */
export async function removeRows(database: Database, contents: number): Promise<void> {
  for (;;) {
    const [removed] = await database.batch([
      database.build.run(sql`
        delete from ${tableRows} where rowid in (
          select rowid from ${tableRows} where contents = ${contents} limit ${ROWS_A_DELETE})`),
    ])
    if ((removed as unknown as D1Result).meta.changes === 0) return
  }
}

/** Makes a timer that is firing fire again at `dueAt`. */
export async function postponeTimer(
  database: Database,
  { subject, locator }: Pick<Timer, 'subject' | 'locator'>,
  dueAt: Instant,
): Promise<void> {
  await database.batch([
    database.build
      .update(timers)
      .set({ dueAt })
      .where(and(eq(timers.subject, subject), eq(timers.locator, locator))),
  ])
}

/** The cells of a row before and after; null if there is no row. */
export type RowDifference = {
  readonly key: string
  readonly start: string
  readonly from: readonly string[] | null
  readonly to: readonly string[] | null
}

export type Position = { readonly key: string; readonly start: string }

type Row = { key: string; start: string; from: string | null; to: string | null }

/**
 * Returns the first differences after the position, one more than `count` if there are more, in one round trip. Returns undefined
 * if the rows of one side are gone.
 */
export async function findDifferences(
  database: Database,
  from: TableContents,
  to: TableContents,
  after: Position | undefined,
  count: number,
): Promise<RowDifference[] | undefined> {
  const afterCondition = (alias: string): SQL =>
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
      where b.contents = ${to.number} ${afterCondition('b')} and (a.cells is null or ${differ(from.layout, to.layout)})
      order by b."key", b."start" limit ${count + 1}`),
    database.build.all<Row>(sql`
      select a."key" as "key", a."start" as "start", a.cells as "from", null as "to"
      from ${tableRows} as a
      where a.contents = ${from.number} ${afterCondition('a')} and not exists (
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

/** Compares bytes, as the database does. */
const byPosition = (a: Row, b: Row): number =>
  Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) ||
  Buffer.compare(Buffer.from(a.start), Buffer.from(b.start))

/** Compares cells by column if both sides have the same columns, in any order. If the columns differ, every row differs. */
function differ(from: TableLayout, to: TableLayout): SQL {
  const [before, after] = [from, to].map(({ columns }) => columns.map(({ name }) => name)) as [
    string[],
    string[],
  ]
  if (JSON.stringify(before) === JSON.stringify(after)) return sql`a.cells <> b.cells`
  if (before.length !== after.length || before.some(name => !after.includes(name))) return sql`1`
  // A single parameter, because a table may have 200 columns, and D1 accepts 100 parameters and 32 arguments of a function.
  const places = JSON.stringify(before.map(name => after.indexOf(name)))
  return sql`exists (with place as materialized (select key, value from json_each(${places}))
    select 1 from place where a.cells ->> place.key is not b.cells ->> place.value)`
}
