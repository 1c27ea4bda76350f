import { is, sql } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { SQLiteRaw } from 'drizzle-orm/sqlite-core/query-builders/raw'
import type { Calls } from './calls.ts'

export type Query = BatchItem<'sqlite'>

/** One D1 database within one request. `build` makes queries; only `batch` sends them, and counts. */
export type Database = {
  readonly build: DrizzleD1Database
  /** Sends the queries as one atomic batch: one round trip. */
  batch<Q extends Query, T extends Readonly<[Q, ...Q[]]>>(queries: T): Promise<BatchResponse<T>>
}

export function openDatabase(client: D1Database, calls: Calls): Database {
  // A session from the start, so that read replicas can be switched on; until then every read is the primary's.
  const session = client.withSession('first-primary') as unknown as D1Database
  const build = drizzle(session, { casing: 'snake_case' })
  return {
    build,
    batch(queries) {
      calls.d1 += 1
      for (const query of queries) prepareRaw(session, query)
      return build.batch(queries)
    },
  }
}

/** drizzle prepares the statements of its builders, but not those of `run(sql)` and `all(sql)`, which it then binds. */
function prepareRaw(session: D1Database, query: Query): void {
  if (is(query, SQLiteRaw)) Object.assign(query, { stmt: session.prepare(query.getQuery().sql) })
}

/** The column's name in SQL, by drizzle's own `snake_case` casing. */
const snakeCase = (key: string): string => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Characters of JSON in one bound parameter; D1 takes 2 MB. */
const LARGEST_PARAMETER = 900_000

/**
 * Queries that insert the rows, or put them in the place of rows with the same key. Rows travel as JSON in one
 * parameter each chunk (D1 binds at most 100), so that their number does not matter.
 */
export function putRows<T extends SQLiteTable>(
  database: Database,
  table: T,
  rows: readonly T['$inferInsert'][],
): Query[] {
  if (rows.length === 0) return []
  const { name, columns, primaryKeys } = getTableConfig(table)
  const keyed = primaryKeys[0]?.columns ?? columns.filter(column => column.primary)
  const names = columns.map(column => snakeCase(column.name))
  const keys = keyed.map(column => snakeCase(column.name))
  const rest = names.filter(column => !keys.includes(column))
  const quoted = (list: string[]): string => list.map(column => `"${column}"`).join(', ')
  const into = sql.raw(
    `insert into "${name}" (${quoted(names)}) select ${names.map((_, at) => `value ->> ${at}`).join(', ')} from json_each(`,
  )
  const update =
    keys.length === 0 || rest.length === 0
      ? 'nothing'
      : `update set ${rest.map(c => `"${c}" = excluded."${c}"`).join(', ')}`
  const conflict = sql.raw(
    keys.length === 0 ? ') where true' : `) where true on conflict (${quoted(keys)}) do ${update}`,
  )
  const chunks: string[] = []
  let chunk = ''
  for (const row of rows) {
    const values = columns.map(column => {
      const value = (row as Record<string, unknown>)[column.name]
      return value === undefined || value === null ? null : column.mapToDriverValue(value)
    })
    const text = JSON.stringify(values)
    if (chunk !== '' && chunk.length + text.length > LARGEST_PARAMETER) {
      chunks.push(chunk)
      chunk = ''
    }
    chunk += chunk === '' ? text : `,${text}`
  }
  chunks.push(chunk)
  return chunks.map(rowsJson => database.build.run(sql`${into}${`[${rowsJson}]`}${conflict}`))
}

/** A query that deletes the rows with these keys (tables with a single-column key named `locator`). */
export function deleteRows(
  database: Database,
  table: SQLiteTable,
  locators: readonly (string | number)[],
): Query[] {
  if (locators.length === 0) return []
  return [
    database.build.run(
      sql`delete from ${table} where locator in (select value from json_each(${JSON.stringify(locators)}))`,
    ),
  ]
}
