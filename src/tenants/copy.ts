// Copies a suspended tenant's rows and files to another environment. Rows go in row id order, one page a batch: an interrupted copy
// continues after the last row that arrived.
import { sql } from 'drizzle-orm'
import { noCalls } from '../platform/calls.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'

/** Limits of a page: a parameter takes 2 MB, and JSON is longer than the rows. */
const MOST_ROWS = 2_000
const MOST_BYTES = 500_000

type Table = {
  readonly name: string
  /** Includes `rowid` unless a column is the row id. */
  readonly columns: readonly string[]
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const listed = (names: readonly string[]): string => names.map(quoted).join(', ')

/** Both databases have the same tables. Returns the number of rows. */
export async function copyDatabase(from: D1Database, to: D1Database): Promise<number> {
  const [source, target] = [openDatabase(from, noCalls()), openDatabase(to, noCalls())]
  let rows = 0
  for (const table of await tablesOf(from)) {
    await copyTable(source, target, table)
    const [sourceRows, targetRows] = await Promise.all([countOf(source, table), countOf(target, table)])
    if (sourceRows !== targetRows)
      throw new Error(
        `${table.name} has ${targetRows} rows where ${sourceRows} were to come; run this again.`,
      )
    rows += sourceRows
  }
  return rows
}

/**
 * The tables with a tenant's rows. `migration` and `fence` belong to the database itself, `goOnBehind` raises `number_sequence`,
 * and names that begin with an underscore belong to the provider.
 */
async function tablesOf(client: D1Database): Promise<Table[]> {
  const { results } = await client
    .prepare(
      `select name from sqlite_master where type = 'table' and name not in ('migration', 'fence', 'number_sequence')
         and substr(name, 1, 1) <> '_' and name not like 'sqlite%' order by name`,
    )
    .all<{ name: string }>()
  const shapes = await client.batch<{ name: string; type: string; pk: number }>(
    results.map(({ name }) => client.prepare(`pragma table_info(${quoted(name)})`)),
  )
  return results.map(({ name }, at) => {
    const columns = shapes[at]!.results
    const keys = columns.filter(({ pk }) => pk > 0)
    const isRowId = keys.length === 1 && keys[0]!.type.toLowerCase() === 'integer'
    const names = columns.map(column => column.name)
    return { name, columns: isRowId ? names : ['rowid', ...names] }
  })
}

async function countOf(database: Database, { name }: Table): Promise<number> {
  const [[row]] = await database.batch([
    database.build.all<{ rows: number }>(sql.raw(`select count(*) as rows from ${quoted(name)}`)),
  ])
  return row!.rows
}

async function copyTable(source: Database, target: Database, table: Table): Promise<void> {
  const name = quoted(table.name)
  const [[last]] = await target.batch([
    target.build.all<{ id: number }>(sql.raw(`select coalesce(max(rowid), 0) as id from ${name}`)),
  ])
  for (let after = last!.id; ; ) {
    const until = await pageEnd(source, table, after)
    if (until === undefined) return
    const [rows] = await source.batch([
      source.build.all<Record<string, unknown>>(
        sql`select ${sql.raw(listed(table.columns))} from ${sql.raw(name)} where rowid > ${after} and rowid <= ${until} order by rowid`,
      ),
    ])
    await target.batch(insertQueries(target, table, rows) as [Query, ...Query[]])
    after = until
  }
}

/** Row id of the page's last row; undefined after the last page. */
async function pageEnd(
  source: Database,
  { name, columns }: Table,
  after: number,
): Promise<number | undefined> {
  const size = columns.map(column => `coalesce(length(cast(${quoted(column)} as blob)), 4)`).join(' + ')
  const [rows] = await source.batch([
    source.build.all<{ id: number; size: number }>(
      sql`select rowid as id, ${sql.raw(size)} as size from ${sql.raw(quoted(name))} where rowid > ${after} order by rowid limit ${MOST_ROWS}`,
    ),
  ])
  let bytes = 0
  let end: number | undefined
  for (const { id, size } of rows) {
    bytes += size
    if (end !== undefined && bytes > MOST_BYTES) break
    end = id
  }
  return end
}

/** A page is one JSON parameter. A row that fills a page is passed by column: its JSON might be too long. */
function insertQueries(
  target: Database,
  { name, columns }: Table,
  rows: readonly Record<string, unknown>[],
): Query[] {
  const into = `insert into ${quoted(name)} (${listed(columns)})`
  const values = rows.map(row => columns.map(column => row[column] ?? null))
  if (values.length === 1)
    return [target.effect(`${into} values (${columns.map(() => '?').join(', ')})`, ...values[0]!)]
  const read = columns.map((_, at) => `value ->> ${at}`).join(', ')
  return [target.effect(`${into} select ${read} from json_each(?)`, JSON.stringify(values))]
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
      if (!file) throw new Error(`The file ${key} is gone; run this again.`)
      await to.put(key, await file.arrayBuffer(), {
        ...(file.httpMetadata && { httpMetadata: file.httpMetadata }),
        ...(file.customMetadata && { customMetadata: file.customMetadata }),
      })
    }
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor !== undefined)
  return files
}
