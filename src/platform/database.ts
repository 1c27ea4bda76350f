import { Column, fillPlaceholders, is, noopDecoder, SQL } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { getTableConfig, SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { memoByObject } from '../kernel/maps.ts'
import { type Calls, noteBookmark, noteSize, sizeOf } from './calls.ts'
import { assertFits, jsonLists } from './database/parameters.ts'
import {
  type Fence,
  type FenceRow,
  holdFence,
  isAsBelieved,
  isFenceTripped,
  readFence,
} from './tenancy/fence.ts'

export type Query = BatchItem<'sqlite'>

/** One D1 database within one request. Only `batch` sends, and counts. */
export type Database = {
  readonly build: DrizzleD1Database
  bind<Q extends Query>(statement: Statement<Q>, values: Readonly<Record<string, unknown>>): Q
  /** A query of raw SQL; its result is D1's own. */
  effect(text: string, ...params: unknown[]): Query
  /** Of a tenant's database, as this isolate last heard; 0 before. */
  bytes(): number
  /** One atomic batch in one round trip. */
  batch<Q extends Query, T extends Readonly<[Q, ...Q[]]>>(queries: T): Promise<BatchResponse<T>>
  /** As `batch`, for reads: those of the same moment and request travel together to the same database. */
  joined<Q extends Query, T extends Readonly<[Q, ...Q[]]>>(queries: T): Promise<BatchResponse<T>>
}

/** Reads that are about to be sent, by request and binding. */
const joining = new WeakMap<Calls, Map<string, { queries: Query[]; results: Promise<unknown[]> }>>()

/**
 * Builds queries for every database and sends none. An isolate has one, because each instance of drizzle works out the
 * names of a table's columns again.
 */
const build = drizzle({ prepare: () => undefined } as unknown as D1Database, { casing: 'snake_case' })

/** A query with an `sql.placeholder` for each value that changes. */
export type Statement<Q extends Query> = {
  readonly make: (build: DrizzleD1Database) => Q
  prepared?: Prepared
  /** Its text; drizzle would rebuild that of raw SQL each time. */
  query?: ReturnType<Prepared['getQuery']>
}

/** Create it once for an isolate: building a query takes far more work than sending it. */
export const statement = <Q extends Query>(make: (build: DrizzleD1Database) => Q): Statement<Q> => ({ make })

/** Drizzle's internal form of a query. */
type Prepared = {
  getQuery(): { sql: string; params: unknown[] }
  mapResult(result: D1Result, isFromBatch: true): unknown
  /** Set after the first rows; `drizzle` where our reader does not apply. */
  reader?: ReadRows | 'drizzle'
}

/** Not in drizzle's types. */
const prepare = (query: Query): Prepared => (query as unknown as { _prepare(): Prepared })._prepare()

function resultOf(prepared: Prepared, result: D1Result): unknown {
  prepared.reader ??= rowReader(prepared) ?? 'drizzle'
  return prepared.reader === 'drizzle'
    ? prepared.mapResult(result, true)
    : prepared.reader(result.results as Record<string, unknown>[])
}

/** The inverse of `prepare`. */
const queryOf = (prepared: Prepared): Query => ({ _prepare: () => prepared }) as unknown as Query

type SqlText = { readonly sql: string; readonly params: readonly unknown[] }

const isReading = ({ sql: text }: SqlText): boolean => /^[\s(]*select\b/i.test(text)

/**
 * `binding` is the name of the database's bookmarks and size. `fence`: for a tenant's database.
 *
 * Uses a session, so that read replicas can be enabled: reads with a client's bookmark may go to a copy that has reached it,
 * everything else goes to the primary.
 */
export function openDatabase(client: D1Database, calls: Calls, binding?: string, fence?: Fence): Database {
  let from = binding !== undefined && calls.isRead ? calls.clientBookmarks?.[binding] : undefined
  let session = client.withSession(from ?? 'first-primary')
  const send = async (statements: readonly SqlText[]): Promise<D1Result[]> => {
    calls.d1 += 1
    calls.statements = (calls.statements ?? 0) + statements.length
    const results = await session.batch(
      statements.map(({ sql: text, params }) => session.prepare(text).bind(...params)),
    )
    const bookmark = session.getBookmark()
    if (binding !== undefined && bookmark) noteBookmark(calls, binding, bookmark)
    return results
  }
  /** A restored database may never have had the bookmark: then the primary is asked. */
  const sendOrFallBack = (statements: readonly SqlText[]): Promise<D1Result[]> =>
    send(statements).catch(problem => {
      if (from === undefined) throw problem
      from = undefined
      session = client.withSession('first-primary')
      return send(statements)
    })
  /** The results, or the fence's row if the database is not as the caller believes. */
  const tryFenced = async (
    { tenant }: Fence,
    statements: readonly SqlText[],
  ): Promise<{ results: D1Result[] } | { row: FenceRow | undefined }> => {
    if (statements.every(isReading)) {
      const [read, ...results] = await sendOrFallBack([readFence(calls.token), ...statements])
      const [row] = read!.results as FenceRow[]
      return isAsBelieved(row, tenant) ? { results } : { row }
    }
    try {
      const [, ...results] = await sendOrFallBack([holdFence(tenant, calls.token), ...statements])
      return { results }
    } catch (problem) {
      if (!isFenceTripped(problem)) throw problem
      const [read] = await sendOrFallBack([readFence(calls.token)])
      return { row: read!.results[0] as FenceRow | undefined }
    }
  }
  const sendFenced = async (tenantFence: Fence, statements: readonly SqlText[]): Promise<D1Result[]> => {
    for (;;) {
      const attempt = await tryFenced(tenantFence, statements)
      if ('results' in attempt) return attempt.results
      await tenantFence.settle(attempt.row)
    }
  }
  const database: Database = {
    build,
    bytes: () => sizeOf(binding ?? ''),
    bind<Q extends Query>(template: Statement<Q>, values: Readonly<Record<string, unknown>>) {
      template.prepared ??= prepare(template.make(build))
      const { prepared } = template
      template.query ??= prepared.getQuery()
      const { sql: text, params } = template.query
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
      for (const { params } of statements) params.forEach(assertFits)
      const results = fence ? await sendFenced(fence, statements) : await sendOrFallBack(statements)
      for (const { meta } of results) {
        calls.rowsRead += meta.rows_read
        calls.rowsWritten += meta.rows_written
      }
      // Tenants' databases are changed by commits, which say so; what else is written there shows in no answer.
      if (binding === undefined && !statements.every(isReading)) calls.hasChanged = true
      if (binding !== undefined) noteSize(calls, binding, results.at(-1)!.meta.size_after)
      // Only reads wait: a write is already committed.
      if (calls.heavy && statements.every(isReading))
        await calls.heavy.read(results.reduce((rows, { results: more }) => rows + more.length, 0))
      return results.map((result, at) => resultOf(prepared[at]!, result)) as BatchResponse<T>
    },
    async joined<T extends readonly Query[]>(queries: T) {
      const waiting = joining.get(calls) ?? new Map()
      joining.set(calls, waiting)
      const key = binding ?? ''
      if (!waiting.has(key)) {
        const all: Query[] = []
        const results = Promise.resolve().then(() => {
          waiting.delete(key)
          return database.batch(all as [Query, ...Query[]])
        })
        waiting.set(key, { queries: all, results })
      }
      const { queries: all, results } = waiting.get(key)!
      const first = all.push(...queries) - queries.length
      return (await results).slice(first, first + queries.length) as BatchResponse<T>
    },
  }
  return database
}

/** Drizzle's `snake_case` casing. */
export const snakeCase = (key: string): string => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

type TableTexts = {
  /** By property name; `column` where stored values differ from values in code, as JSON does. */
  columns: { name: string; column: SQLiteColumn | undefined }[]
  /** Its parameter is a JSON list of rows, each a list. */
  put: string
  /** As `put`; fails if a row exists. */
  insert: string
  /** As `put`; existing rows keep the columns of indexes of all records. */
  change: string
  /** Its parameter is a JSON list of locators. */
  remove: string
}

const textsOf = memoByObject((table: SQLiteTable): TableTexts => {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table)
  const keyed = primaryKeys[0]?.columns ?? columns.filter(column => column.primary)
  const names = columns.map(column => snakeCase(column.name))
  const keys = keyed.map(column => snakeCase(column.name))
  const rest = names.filter(column => !keys.includes(column))
  const quoted = (list: string[]): string => list.map(column => `"${column}"`).join(', ')
  const values = names.map((_, at) => `cells ->> ${at}`).join(', ')
  // A table whose key became longer may still have its former key (docs/design.md, section 5).
  const target = keys.length > 1 && !indexes.some(({ config }) => config.unique) ? '' : `(${quoted(keys)}) `
  const taking = (changing: string[]): string => {
    if (keys.length === 0) return ''
    const set = changing.map(column => `"${column}" = excluded."${column}"`).join(', ')
    return ` on conflict ${target}do ${set === '' ? 'nothing' : `update set ${set}`}`
  }
  // Indexes of some records are of open work: a record comes into them and goes as its columns change.
  const indexed = indexes
    .filter(({ config }) => config.where === undefined)
    .flatMap(({ config }) =>
      config.columns.flatMap(column => (is(column, Column) ? snakeCase(column.name) : [])),
    )
  // Cuts each row out of the list once. With `value` itself, SQLite would parse it for each column; `limit` keeps SQLite from
  // merging the two queries into that.
  const insert = `insert into "${name}" (${quoted(names)}) select ${values} from (select value as cells from json_each(?) limit -1)`
  return {
    columns: columns.map(column => ({ name: column.name, column: isUnmapped(column) ? undefined : column })),
    put: `${insert} where true${taking(rest)}`,
    insert,
    change: `${insert} where true${taking(rest.filter(column => !indexed.includes(column)))}`,
    remove: `delete from "${name}" where locator in (select value from json_each(?))`,
  }
})

const isUnmapped = (column: SQLiteColumn): boolean =>
  column.mapToDriverValue === SQLiteColumn.prototype.mapToDriverValue

/** The JSON text of each row, as queries send it. */
export function rowTexts<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): string[] {
  const { columns } = textsOf(table)
  return rows.map(row => {
    const cells: unknown[] = []
    for (const { name, column } of columns) {
      const value = (row as Record<string, unknown>)[name] ?? null
      cells.push(column && value !== null ? column.mapToDriverValue(value) : value)
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
 * Queries that insert rows or replace rows with the same key. Rows are JSON in one parameter for each chunk, because D1
 * binds at most 100 parameters; the number of rows therefore does not matter.
 */
export const putRows = writeRows('put')

/** Inserts rows. The batch fails if a row with one of the keys exists. */
export const insertRows = writeRows('insert')

/**
 * As `putRows`, for tables where columns in indexes of all records never change, as those of a policy's records. Existing rows keep
 * these columns, so a change writes no such index.
 */
export const changeRows = writeRows('change')

/** As `putRows`, with texts of `rowTexts`. */
export const putTexts = (database: Database, table: SQLiteTable, texts: readonly string[]): Query[] =>
  writeTexts(database, textsOf(table).put, texts)

/** For tables with a single-column key named `locator`. */
export const deleteRows = (
  database: Database,
  table: SQLiteTable,
  locators: readonly (string | number)[],
): Query[] =>
  locators.length === 0 ? [] : [database.effect(textsOf(table).remove, JSON.stringify(locators))]

/** For tables of a policy's records. */
export const deleteOfPolicy = (
  database: Database,
  table: SQLiteTable,
  policy: number,
  locators: readonly (string | number)[],
): Query[] =>
  locators.length === 0
    ? []
    : [database.effect(`${textsOf(table).remove} and policy_locator = ?`, JSON.stringify(locators), policy)]

// Drizzle checks the column type of every value in every row. Checking each column once takes half the time: 2.5 ms less
// for a thousand rows of twelve columns, and a large policy has thousands.

type Decoder = { mapFromDriverValue(value: unknown): unknown }

/** A column of the result; `decoder` where its values need one. */
type Cell = { readonly name: string; readonly decoder: Decoder | undefined }

type Selected = { readonly path: readonly string[]; readonly field: unknown }

type Row = Readonly<Record<string, unknown>>

type ReadRows = (rows: readonly Row[]) => object[]

/** For queries that select columns and expressions side by side; undefined for others, e.g. joins. */
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

/**
 * Every row has the same columns in the order of the query. Equal texts in a column become one object: most JSON of a large
 * policy is the same for thousands of records. So nobody may change what a row holds.
 */
function readRows(rows: readonly Row[], cells: readonly Cell[]): object[] {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  const decodedOf = cells.map(() => new Map<unknown, unknown>())
  const decode = (value: unknown, decoder: Decoder, at: number): unknown => {
    const known = decodedOf[at]!.get(value)
    if (known !== undefined) return known
    const decoded = decoder.mapFromDriverValue(value)
    decodedOf[at]!.set(value, decoded)
    return decoded
  }
  return rows.map(row => {
    const object: Record<string, unknown> = {}
    for (let at = 0; at < cells.length; at += 1) {
      const { name, decoder } = cells[at]!
      const value = row[columns[at]!]
      object[name] = decoder === undefined || value === null ? value : decode(value, decoder, at)
    }
    return object
  })
}
