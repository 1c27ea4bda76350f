import { fillPlaceholders } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { type Calls, noteSize, sizeOf } from './calls.ts'
import { connectionTo, isReading } from './database/connection.ts'
import { assertFits } from './database/parameters.ts'
import { type ReadRows, rowReader } from './database/row-reader.ts'
import type { Fence } from './tenancy/fence.ts'

export type Query = BatchItem<'sqlite'>

/** One D1 database within one request. Only `batch` and `sharedBatch` send queries, and both count. */
export type Database = {
  readonly build: DrizzleD1Database
  bind<Q extends Query>(statement: Statement<Q>, values: Readonly<Record<string, unknown>>): Q
  /** Builds a query of raw SQL. Its result is D1's own. */
  rawQuery(text: string, ...params: unknown[]): Query
  /** Size of a tenant's database at its last response to this isolate; 0 before the first. */
  bytes(): number
  /** Sends one atomic batch in one round trip. */
  batch<Q extends Query, T extends Readonly<[Q, ...Q[]]>>(queries: T): Promise<BatchResponse<T>>
  /** Like `batch`, for reads: reads of one request from the same database at the same moment share one round trip. */
  sharedBatch<Q extends Query, T extends Readonly<[Q, ...Q[]]>>(queries: T): Promise<BatchResponse<T>>
}

/**
 * Builds queries for every database and sends none. An isolate has one, because each drizzle instance computes the column names of
 * tables again.
 */
const build = drizzle({ prepare: () => undefined } as unknown as D1Database, { casing: 'snake_case' })

/** A query with an `sql.placeholder` for each variable value. */
export type Statement<Q extends Query> = {
  readonly make: (build: DrizzleD1Database) => Q
  prepared?: Prepared
  /** The SQL text. Without it, drizzle would build the text of raw SQL again each time. */
  query?: ReturnType<Prepared['getQuery']>
}

/** Declares a statement. Declare it once per isolate: building a query takes far more work than sending it. */
export const statement = <Q extends Query>(make: (build: DrizzleD1Database) => Q): Statement<Q> => ({ make })

/** Drizzle's internal form of a query. */
type Prepared = {
  getQuery(): { sql: string; params: unknown[] }
  mapResult(result: D1Result, isFromBatch: true): unknown
  /** Set after the first rows; `drizzle` where Bindery's own reader does not apply. */
  reader?: ReadRows | 'drizzle'
}

/** Calls a method that is missing from drizzle's types. */
const prepare = (query: Query): Prepared => (query as unknown as { _prepare(): Prepared })._prepare()

function resultOf(prepared: Prepared, result: D1Result): unknown {
  prepared.reader ??= rowReader(prepared) ?? 'drizzle'
  return prepared.reader === 'drizzle'
    ? prepared.mapResult(result, true)
    : prepared.reader(result.results as Record<string, unknown>[])
}

/** The inverse of `prepare`. */
const queryOf = (prepared: Prepared): Query => ({ _prepare: () => prepared }) as unknown as Query

/** Opens a database. `binding` is the name for its bookmarks and size; `fence` is for a tenant's database. */
export function openDatabase(client: D1Database, calls: Calls, binding?: string, fence?: Fence): Database {
  const send = connectionTo(client, calls, binding, fence)
  const batch = async <T extends readonly Query[]>(queries: T): Promise<BatchResponse<T>> => {
    const prepared = queries.map(prepare)
    const statements = prepared.map(query => query.getQuery())
    for (const { params } of statements) params.forEach(assertFits)
    const isRead = statements.every(isReading)
    const results = await send(statements)
    for (const { meta } of results) {
      calls.rowsRead += meta.rows_read
      calls.rowsWritten += meta.rows_written
    }
    // Only commits change a tenant's visible data, and they set hasChanged. No response shows the other writes to its databases.
    if (binding === undefined && !isRead) calls.hasChanged = true
    if (binding !== undefined) noteSize(calls, binding, results.at(-1)!.meta.size_after)
    // Only reads wait: a write is already committed.
    if (calls.heavy && isRead)
      await calls.heavy.read(results.reduce((rows, { results: more }) => rows + more.length, 0))
    return results.map((result, at) => resultOf(prepared[at]!, result)) as BatchResponse<T>
  }
  return {
    build,
    bytes: () => sizeOf(binding ?? ''),
    bind: bindStatement,
    rawQuery: (text, ...params) =>
      queryOf({ getQuery: () => ({ sql: text, params }), mapResult: result => result, reader: 'drizzle' }),
    batch,
    sharedBatch: queries => joinBatch(calls, binding ?? '', queries, batch),
  }
}

function bindStatement<Q extends Query>(
  template: Statement<Q>,
  values: Readonly<Record<string, unknown>>,
): Q {
  template.prepared ??= prepare(template.make(build))
  const { prepared } = template
  template.query ??= prepared.getQuery()
  const { sql: text, params } = template.query
  return queryOf({
    getQuery: () => ({ sql: text, params: fillPlaceholders(params, values) }),
    mapResult: result => resultOf(prepared, result),
    reader: 'drizzle',
  }) as Q
}

/** Reads that are about to be sent, by request and binding. */
const joining = new WeakMap<Calls, Map<string, { queries: Query[]; results: Promise<readonly unknown[]> }>>()

async function joinBatch<T extends readonly Query[]>(
  calls: Calls,
  binding: string,
  queries: T,
  batch: (all: readonly Query[]) => Promise<readonly unknown[]>,
): Promise<BatchResponse<T>> {
  const waiting = joining.get(calls) ?? new Map()
  joining.set(calls, waiting)
  if (!waiting.has(binding)) {
    const all: Query[] = []
    const results = Promise.resolve().then(() => {
      waiting.delete(binding)
      return batch(all)
    })
    waiting.set(binding, { queries: all, results })
  }
  const { queries: all, results } = waiting.get(binding)!
  const first = all.push(...queries) - queries.length
  return (await results).slice(first, first + queries.length) as BatchResponse<T>
}
