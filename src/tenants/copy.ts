// Copies a suspended tenant's rows and files to another environment. Rows are copied in the order of their row ids, or of their
// keys in a table without row ids, one page per batch. An interrupted copy continues after the last row that arrived.
import { type SQL, sql } from 'drizzle-orm'
import { noCalls } from '../platform/calls.ts'
import { SHARED_EVENT_ROWS } from '../platform/database/migrations.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'

/** Limits of a page. A parameter takes 2 MB, and JSON is longer than the rows. */
const MOST_ROWS = 2_000
const MOST_BYTES = 500_000

type Table = {
  readonly name: string
  /** Includes `rowid` unless a column is the row id, or the table has none. */
  readonly columns: readonly string[]
  /** The columns that order its rows. */
  readonly key: readonly string[]
}

/** A row's values of the key columns. */
type Place = readonly unknown[]

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const listed = (names: readonly string[]): string => names.map(quoted).join(', ')

/** Requires that both databases have the same tables with the same keys. Returns the number of rows. */
export async function copyDatabase(from: D1Database, to: D1Database): Promise<number> {
  const [source, target] = [openDatabase(from, noCalls()), openDatabase(to, noCalls())]
  const [tables, others] = await Promise.all([tablesOf(from), tablesOf(to)])
  const keys = new Map(others.map(({ name, key }) => [name, key.join()]))
  const unlike = tables.find(({ name, key }) => keys.get(name) !== key.join())
  if (unlike)
    throw new Error(
      `The table ${unlike.name} is not the same in both databases. Run this again when both have the same migrations.`,
    )
  if ((await hasSharedRows(from)) && !(await hasMigration(to, SHARED_EVENT_ROWS)))
    throw new Error(
      `event has rows that the other environment may not be able to read. Run this again when that environment has ${SHARED_EVENT_ROWS}.`,
    )
  let rows = 0
  for (const table of tables) {
    await copyTable(source, target, table)
    const [sourceRows, targetRows] = await Promise.all([countOf(source, table), countOf(target, table)])
    if (sourceRows !== targetRows)
      throw new Error(`${table.name} has ${targetRows} rows instead of ${sourceRows}. Run this again.`)
    rows += sourceRows
  }
  return rows
}

const hasSharedRows = async (client: D1Database): Promise<boolean> =>
  (await client
    .prepare(`select exists (select 1 from event where type > '["' and type < '[#') as found`)
    .first('found')) === 1

const hasMigration = async (client: D1Database, name: string): Promise<boolean> =>
  (await client.prepare('select 1 as found from migration where name = ?').bind(name).first('found')) === 1

/**
 * Returns the tables with a tenant's rows. Leaves out `migration` and `fence`, which belong to the database itself, the tables of
 * a move (platform/database/moves.ts), `number_sequence`, which `continueAfter` raises, and names that begin with an underscore,
 * which belong to the provider.
 */
async function tablesOf(client: D1Database): Promise<Table[]> {
  const { results } = await client
    .prepare(
      `select m.name, l.wr from sqlite_master m join pragma_table_list l on l.name = m.name and l.schema = 'main'
       where m.type = 'table' and m.name not in ('migration', 'migration_move', 'fence', 'number_sequence')
         and m.name not like '%\\_moved' escape '\\' and m.name not like '%\\_left' escape '\\'
         and substr(m.name, 1, 1) <> '_' and m.name not like 'sqlite%' order by m.name`,
    )
    .all<{ name: string; wr: number }>()
  const shapes = await client.batch<{ name: string; type: string; pk: number }>(
    results.map(({ name }) => client.prepare(`pragma table_info(${quoted(name)})`)),
  )
  return results.map(({ name, wr }, at) => {
    const columns = shapes[at]!.results
    const names = columns.map(column => column.name)
    const keys = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    const key = keys.map(column => column.name)
    const isRowId = keys.length === 1 && keys[0]!.type.toLowerCase() === 'integer'
    return wr || isRowId
      ? { name, columns: names, key }
      : { name, columns: ['rowid', ...names], key: ['rowid'] }
  })
}

async function countOf(database: Database, { name }: Table): Promise<number> {
  const [[row]] = await database.batch([
    database.build.all<{ rows: number }>(sql.raw(`select count(*) as rows from ${quoted(name)}`)),
  ])
  return row!.rows
}

async function copyTable(source: Database, target: Database, table: Table): Promise<void> {
  const name = sql.raw(quoted(table.name))
  const key = sql.raw(listed(table.key))
  const descending = sql.raw(table.key.map(column => `${quoted(column)} desc`).join(', '))
  const [[last]] = await target.batch([
    target.build.all<Row>(sql`select ${key} from ${name} order by ${descending} limit 1`),
  ])
  for (let after = last && placeOf(table, last); ; ) {
    const until = await pageEnd(source, table, after)
    if (until === undefined) return
    const [rows] = await source.batch([
      source.build.all<Row>(
        sql`select ${sql.raw(listed(table.columns))} from ${name}
          where ${isBehind(table, after)} and (${key}) <= (${listOf(until)}) order by ${key}`,
      ),
    ])
    await target.batch(insertQueries(target, table, rows) as [Query, ...Query[]])
    after = until
  }
}

type Row = Readonly<Record<string, unknown>>

const placeOf = ({ key }: Table, row: Row): Place => key.map(column => row[column])

const listOf = (place: Place): SQL =>
  sql.join(
    place.map(value => sql`${value}`),
    sql`, `,
  )

const isBehind = ({ key }: Table, after: Place | undefined): SQL =>
  after ? sql`(${sql.raw(listed(key))}) > (${listOf(after)})` : sql`true`

/** Returns the place of the page's last row, or undefined after the last page. */
async function pageEnd(source: Database, table: Table, after: Place | undefined): Promise<Place | undefined> {
  const size = table.columns.map(column => `coalesce(length(cast(${quoted(column)} as blob)), 4)`).join(' + ')
  const key = sql.raw(listed(table.key))
  const [rows] = await source.batch([
    source.build.all<Row & { bytes_of_row: number }>(
      sql`select ${key}, ${sql.raw(size)} as bytes_of_row from ${sql.raw(quoted(table.name))} where ${isBehind(table, after)} order by ${key} limit ${MOST_ROWS}`,
    ),
  ])
  let bytes = 0
  let end: Place | undefined
  for (const row of rows) {
    bytes += row.bytes_of_row
    if (end !== undefined && bytes > MOST_BYTES) break
    end = placeOf(table, row)
  }
  return end
}

/** Inserts a page as one JSON parameter. A row that fills a page is passed by column, since its JSON might be too long. */
function insertQueries(target: Database, { name, columns }: Table, rows: readonly Row[]): Query[] {
  const into = `insert into ${quoted(name)} (${listed(columns)})`
  const values = rows.map(row => columns.map(column => row[column] ?? null))
  if (values.length === 1)
    return [target.rawQuery(`${into} values (${columns.map(() => '?').join(', ')})`, ...values[0]!)]
  const read = columns.map((_, at) => `value ->> ${at}`).join(', ')
  return [target.rawQuery(`${into} select ${read} from json_each(?)`, JSON.stringify(values))]
}

/** Skips files that have arrived. Returns the number of files. */
export async function copyFiles(from: R2Bucket, to: R2Bucket, prefix: string): Promise<number> {
  let files = 0
  let cursor: string | undefined
  do {
    const page = await from.list({ prefix, ...(cursor !== undefined && { cursor }) })
    for (const { key, size } of page.objects) {
      files += 1
      if ((await to.head(key))?.size === size) continue
      const file = await from.get(key)
      if (!file) throw new Error(`The file ${key} is gone. Run this again.`)
      await to.put(key, await file.arrayBuffer(), {
        ...(file.httpMetadata && { httpMetadata: file.httpMetadata }),
        ...(file.customMetadata && { customMetadata: file.customMetadata }),
      })
    }
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor !== undefined)
  return files
}
