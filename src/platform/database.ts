import { Column, fillPlaceholders, is, noopDecoder, SQL } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { getTableConfig, SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { memoByObject } from '../kernel/maps.ts'
import { type Calls, noteBookmark } from './calls.ts'
import {
  type Fence,
  type FenceRow,
  holdFence,
  isAsBelieved,
  isFenceTripped,
  READ_FENCE,
} from './tenancy/fence.ts'

export type Query = BatchItem<'sqlite'>

/** One D1 database within one request. `build` makes queries; only `batch` sends them, and counts. */
export type Database = {
  readonly build: DrizzleD1Database
  /** The query of the statement, with these values at its placeholders. */
  bind<Q extends Query>(statement: Statement<Q>, values: Readonly<Record<string, unknown>>): Q
  /** A query of SQL as it stands, for its effect: its result is D1's own. */
  effect(text: string, ...params: unknown[]): Query
  /** What the database held when this isolate last had an answer of it; 0 before. */
  bytes(): number
  /** Sends the queries as one atomic batch: one round trip. */
  batch<Q extends Query, T extends Readonly<[Q, ...Q[]]>>(queries: T): Promise<BatchResponse<T>>
}

/**
 * Makes queries for every database, and sends none: drizzle works out the names of a table's columns once for each
 * of its instances, so an isolate has one.
 */
const build = drizzle({ prepare: () => undefined } as unknown as D1Database, { casing: 'snake_case' })

/** A query with an `sql.placeholder` for each value that changes; `prepared` by its first use. */
export type Statement<Q extends Query> = {
  readonly make: (build: DrizzleD1Database) => Q
  prepared?: Prepared
  /** Its text: drizzle makes that of a query in SQL anew each time. */
  query?: ReturnType<Prepared['getQuery']>
}

/** A statement, to be made once for an isolate: to build a query takes far more work than to send it. */
export const statement = <Q extends Query>(make: (build: DrizzleD1Database) => Q): Statement<Q> => ({ make })

/** What drizzle knows of a query before it is sent: its text, its parameters, and what to make of the rows. */
type Prepared = {
  getQuery(): { sql: string; params: unknown[] }
  mapResult(result: D1Result, isFromBatch: true): unknown
  /** Known once it has had rows; drizzle reads what no reader of ours does. */
  reader?: ReadRows | 'drizzle'
}

/** Drizzle's own way to this is not in its types. */
const prepare = (query: Query): Prepared => (query as unknown as { _prepare(): Prepared })._prepare()

/** What the query makes of its result. */
function resultOf(prepared: Prepared, result: D1Result): unknown {
  prepared.reader ??= rowReader(prepared) ?? 'drizzle'
  return prepared.reader === 'drizzle'
    ? prepared.mapResult(result, true)
    : prepared.reader(result.results as Record<string, unknown>[])
}

/** As drizzle's queries are, to who sends them. */
const queryOf = (prepared: Prepared): Query => ({ _prepare: () => prepared }) as unknown as Query

/** SQL with its parameters, as D1 takes it. */
type Sent = { readonly sql: string; readonly params: readonly unknown[] }

const isReading = ({ sql: text }: Sent): boolean => /^[\s(]*select\b/i.test(text)

const sizes = new WeakMap<D1Database, number>()

/**
 * `binding` is what bookmarks of the database are noted under. A session from the start, so that read replicas can be switched
 * on: what is read for a client that brings a bookmark may be a copy's that has come so far, all else is the primary's. `fence`: of a
 * tenant's database.
 */
export function openDatabase(client: D1Database, calls: Calls, binding?: string, fence?: Fence): Database {
  let from = binding !== undefined && calls.isRead ? calls.clientBookmarks?.[binding] : undefined
  let session = client.withSession(from ?? 'first-primary')
  const send = async (statements: readonly Sent[]): Promise<D1Result[]> => {
    calls.d1 += 1
    const results = await session.batch(
      statements.map(({ sql: text, params }) => session.prepare(text).bind(...params)),
    )
    const bookmark = session.getBookmark()
    if (binding !== undefined && bookmark) noteBookmark(calls, binding, bookmark)
    return results
  }
  /** A bookmark may be of a time that a restored database never had: then the primary is asked. */
  const sent = (statements: readonly Sent[]): Promise<D1Result[]> =>
    send(statements).catch(problem => {
      if (from === undefined) throw problem
      from = undefined
      session = client.withSession('first-primary')
      return send(statements)
    })
  /** The results behind the fence, or the fence's row where the database is not as the caller believes. */
  const tryBehind = async (
    { tenant }: Fence,
    statements: readonly Sent[],
  ): Promise<{ results: D1Result[] } | { row: FenceRow | undefined }> => {
    if (statements.every(isReading)) {
      const [read, ...results] = await sent([READ_FENCE, ...statements])
      const [row] = read!.results as FenceRow[]
      return isAsBelieved(row, tenant) ? { results } : { row }
    }
    try {
      const [, ...results] = await sent([holdFence(tenant), ...statements])
      return { results }
    } catch (problem) {
      if (!isFenceTripped(problem)) throw problem
      const [read] = await sent([READ_FENCE])
      return { row: read!.results[0] as FenceRow | undefined }
    }
  }
  const behind = async (own: Fence, statements: readonly Sent[]): Promise<D1Result[]> => {
    for (;;) {
      const tried = await tryBehind(own, statements)
      if ('results' in tried) return tried.results
      await own.settle(tried.row)
    }
  }
  return {
    build,
    bytes: () => sizes.get(client) ?? 0,
    bind<Q extends Query>(made: Statement<Q>, values: Readonly<Record<string, unknown>>) {
      made.prepared ??= prepare(made.make(build))
      const { prepared } = made
      made.query ??= prepared.getQuery()
      const { sql: text, params } = made.query
      const bound: Prepared = {
        getQuery: () => ({ sql: text, params: fillPlaceholders(params, values) }),
        mapResult: result => resultOf(prepared, result),
        reader: 'drizzle',
      }
      return queryOf(bound) as Q
    },
    effect: (text, ...params) =>
      queryOf({ getQuery: () => ({ sql: text, params }), mapResult: result => result, reader: 'drizzle' }),
    async batch<T extends readonly Query[]>(queries: T) {
      const prepared = queries.map(prepare)
      const statements = prepared.map(query => query.getQuery())
      const results = fence ? await behind(fence, statements) : await sent(statements)
      for (const { meta } of results) {
        calls.rowsRead += meta.rows_read
        calls.rowsWritten += meta.rows_written
        sizes.set(client, meta.size_after)
      }
      // What was written was done: only who reads is held up.
      if (calls.heavy && statements.every(isReading))
        await calls.heavy.read(results.reduce((rows, { results: more }) => rows + more.length, 0))
      return results.map((result, at) => resultOf(prepared[at]!, result)) as BatchResponse<T>
    },
  }
}

/** The column's name in SQL, by drizzle's own `snake_case` casing. */
const snakeCase = (key: string): string => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Bytes of JSON in one bound parameter; D1 takes 2 MB. */
const LARGEST_PARAMETER_BYTES = 900_000

/** JSON texts as lists, as many of them in each as one bound parameter takes in UTF-8. */
export function jsonLists(texts: readonly string[]): string[] {
  const lists: string[][] = []
  let room = 0
  for (const text of texts) {
    // One more for the comma.
    const bytes = Buffer.byteLength(text) + 1
    if (bytes > room) {
      lists.push([])
      room = LARGEST_PARAMETER_BYTES
    }
    lists.at(-1)!.push(text)
    room -= bytes
  }
  return lists.map(list => `[${list.join(',')}]`)
}

type TableTexts = {
  /** By the names of their properties; `column` of those whose values are stored as others, as JSON is. */
  columns: { name: string; column: SQLiteColumn | undefined }[]
  /** With the rows, as a JSON list of lists, as its parameter. */
  put: string
  /** The same for rows that must be new. */
  insert: string
  /** As `put`; of a row that is there the columns of indexes stay as they are. */
  change: string
  /** With the locators, as a JSON list, as its parameter. */
  remove: string
}

/** The texts of statements, worked out once for each table. */
const textsOf = memoByObject((table: SQLiteTable): TableTexts => {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table)
  const keyed = primaryKeys[0]?.columns ?? columns.filter(column => column.primary)
  const names = columns.map(column => snakeCase(column.name))
  const keys = keyed.map(column => snakeCase(column.name))
  const rest = names.filter(column => !keys.includes(column))
  const quoted = (list: string[]): string => list.map(column => `"${column}"`).join(', ')
  const values = names.map((_, at) => `cells ->> ${at}`).join(', ')
  const taking = (changing: string[]): string => {
    if (keys.length === 0) return ''
    const set = changing.map(column => `"${column}" = excluded."${column}"`).join(', ')
    return ` on conflict (${quoted(keys)}) do ${set === '' ? 'nothing' : `update set ${set}`}`
  }
  const indexed = indexes.flatMap(({ config }) =>
    config.columns.flatMap(column => (is(column, Column) ? snakeCase(column.name) : [])),
  )
  // Each row is cut out of the list once for all of its columns: of `value` itself each of them would do so again, as it would where
  // SQLite made one query of the two, which the limit keeps it from.
  const insert = `insert into "${name}" (${quoted(names)}) select ${values} from (select value as cells from json_each(?) limit -1)`
  return {
    columns: columns.map(column => ({ name: column.name, column: isAsItIs(column) ? undefined : column })),
    put: `${insert} where true${taking(rest)}`,
    insert,
    change: `${insert} where true${taking(rest.filter(column => !indexed.includes(column)))}`,
    remove: `delete from "${name}" where locator in (select value from json_each(?))`,
  }
})

/** Whether values go to the database as they are. */
const isAsItIs = (column: SQLiteColumn): boolean =>
  column.mapToDriverValue === SQLiteColumn.prototype.mapToDriverValue

/** Rows of the table as the JSON texts that they travel as. */
export function rowTexts<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): string[] {
  const { columns } = textsOf(table)
  return rows.map(row => {
    const cells: unknown[] = []
    for (const { name, column } of columns) {
      const value = (row as Record<string, unknown>)[name]
      cells.push(
        value === undefined || value === null ? null : column ? column.mapToDriverValue(value) : value,
      )
    }
    return JSON.stringify(cells)
  })
}

type WriteRows = <T extends SQLiteTable>(
  database: Database,
  table: T,
  rows: readonly T['$inferInsert'][],
) => Query[]

const writeRows =
  (kind: 'put' | 'insert' | 'change'): WriteRows =>
  (database, table, rows) =>
    writeTexts(database, textsOf(table)[kind], rowTexts(table, rows))

const writeTexts = (database: Database, statement: string, texts: readonly string[]): Query[] =>
  jsonLists(texts).map(list => database.effect(statement, list))

/**
 * Queries that insert the rows, or put them in the place of rows with the same key. Rows travel as JSON in one
 * parameter each chunk (D1 binds at most 100), so that their number does not matter.
 */
export const putRows = writeRows('put')

/** Queries that insert the rows. The batch fails where a row with one of their keys is there. */
export const insertRows = writeRows('insert')

/**
 * As `putRows`, for tables whose rows keep the columns of their indexes for life, as records of a policy do: of a row that is there these
 * are left out, so that a change of it writes no index.
 */
export const changeRows = writeRows('change')

/** As `putRows`, of rows that `rowTexts` has made of them. */
export const putTexts = (database: Database, table: SQLiteTable, texts: readonly string[]): Query[] =>
  writeTexts(database, textsOf(table).put, texts)

/** A query that deletes the rows with these keys (tables with a single-column key named `locator`). */
export const deleteRows = (
  database: Database,
  table: SQLiteTable,
  locators: readonly (string | number)[],
): Query[] =>
  locators.length === 0 ? [] : [database.effect(textsOf(table).remove, JSON.stringify(locators))]

// Drizzle looks at every value of every row for the kind of its column. Looking at each column once for all rows takes half the
// time, 2.5 ms less for a thousand rows of twelve columns, and a large policy has thousands.

type Decoder = { mapFromDriverValue(value: unknown): unknown }

/** A column of the result: its name in the row, and what makes its value of the database's where that is another one. */
type Cell = { readonly name: string; readonly decoder: Decoder | undefined }

type Selected = { readonly path: readonly string[]; readonly field: unknown }

type Row = Readonly<Record<string, unknown>>

/** Makes rows of the rows of a result. */
type ReadRows = (rows: readonly Row[]) => object[]

/** The reader for a query that selects columns and expressions side by side; undefined for all others, as for rows of a join. */
function rowReader(prepared: object): ReadRows | undefined {
  const { fields, executeMethod, customResultMapper } = prepared as {
    readonly fields?: readonly Selected[]
    readonly executeMethod?: string
    readonly customResultMapper?: unknown
  }
  if (!fields || executeMethod !== 'all' || customResultMapper) return undefined
  const cells: Cell[] = []
  for (const { path, field } of fields) {
    const decoder = decoderOf(field)
    if (path.length !== 1 || !decoder) return undefined
    cells.push({ name: path[0]!, decoder: isIdentity(decoder) ? undefined : decoder })
  }
  return rows => readRows(rows, cells)
}

function decoderOf(field: unknown): Decoder | undefined {
  if (is(field, Column)) return field
  if (is(field, SQL.Aliased)) return decoderOf(field.sql)
  return is(field, SQL) ? (field as unknown as { readonly decoder: Decoder }).decoder : undefined
}

const isIdentity = ({ mapFromDriverValue }: Decoder): boolean =>
  mapFromDriverValue === Column.prototype.mapFromDriverValue ||
  mapFromDriverValue === noopDecoder.mapFromDriverValue

/** Columns of a row are in the order of the query, and the same in every row. */
function readRows(rows: readonly Row[], cells: readonly Cell[]): object[] {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  return rows.map(row => {
    const made: Record<string, unknown> = {}
    for (let at = 0; at < cells.length; at += 1) {
      const { name, decoder } = cells[at]!
      const value = row[columns[at]!]
      made[name] = decoder === undefined || value === null ? value : decoder.mapFromDriverValue(value)
    }
    return made
  })
}
