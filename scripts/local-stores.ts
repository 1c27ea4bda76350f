// The stores of the service, as the files that the local runtime serves. Databases are opened as files, because starting a
// runtime takes ten times as long as most commands do. Buckets have the runtime's own format, so the runtime is started when one
// is first used.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { BUSY_MS, databaseFile, inTransaction } from './local-databases.ts'

export type OpenStores = { env: Env; dispose(): Promise<void> }

type Bound = { readonly text: string; readonly values: readonly SQLInputValue[] }

/** Converts a value as D1 does: a list of numbers becomes bytes, a boolean becomes a number. */
function inputOf(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  if (Array.isArray(value)) return Uint8Array.from(value as number[])
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (value === undefined) throw new TypeError("D1_TYPE_ERROR: Type 'undefined' not supported for value")
  return value as SQLInputValue
}

/** Converts a value as D1 does: bytes become a list of numbers. */
const outputOf = (value: unknown): unknown => (value instanceof Uint8Array ? [...value] : value)

const rowOf = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, outputOf(value)]))

/** Throws in the wording of D1, in which callers search for messages. */
function fail(problem: unknown): never {
  throw new Error(`D1_ERROR: ${(problem as Error).message}`, { cause: problem })
}

/** A database file with the part of D1 that commands use. The file is opened at the first statement. */
export function fileAsD1(open: () => DatabaseSync): D1Database {
  const perform = <Result>(work: (statement: StatementSync) => Result, text: string): Result => {
    try {
      return work(open().prepare(text))
    } catch (problem) {
      fail(problem)
    }
  }
  const resultOf = ({ text, values }: Bound) =>
    perform(statement => {
      const readsRows = statement.columns().length > 0
      const results = readsRows ? statement.all(...values).map(rowOf) : []
      const changes = readsRows ? 0 : Number(statement.run(...values).changes)
      return {
        success: true as const,
        results,
        meta: { changes, duration: 0, rows_read: 0, rows_written: 0, size_after: 0 },
      }
    }, text)
  const prepare = (text: string, values: readonly SQLInputValue[] = []) => ({
    text,
    values,
    bind: (...given: unknown[]) => prepare(text, given.map(inputOf)),
    all: async () => resultOf({ text, values }),
    run: async () => resultOf({ text, values }),
    async first(column?: string) {
      const [row] = resultOf({ text, values }).results
      if (row === undefined) return null
      return column === undefined ? row : row[column]
    },
    raw: async () =>
      perform(statement => {
        statement.setReturnArrays(true)
        return (statement.all(...values) as unknown as unknown[][]).map(row => row.map(outputOf))
      }, text),
  })
  const batch = async (statements: readonly Bound[]) => inTransaction(open(), () => statements.map(resultOf))
  const session = { prepare, batch, getBookmark: () => null }
  return { ...session, withSession: () => session } as unknown as D1Database
}

/** A bucket that is opened at its first call. */
const lazyBucket = (open: () => Promise<R2Bucket>): R2Bucket =>
  Object.fromEntries(
    (['head', 'get', 'put', 'delete', 'list'] as const).map(name => [
      name,
      async (...given: unknown[]) => {
        const bucket = await open()
        return await (bucket[name] as (...given: unknown[]) => Promise<unknown>).apply(bucket, given)
      },
    ]),
  ) as unknown as R2Bucket

/** Starts the runtime with these buckets. */
async function startBuckets(folder: string, r2Buckets: Record<string, { id: string }>) {
  const { convertV4MiniflareOptions, Miniflare } = await import('miniflare')
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: resolve(folder),
      cf: false,
      telemetry: { enabled: false },
      workers: [{ name: 'stores', modules: true, script: 'export default {}', r2Buckets }],
    }),
  )
  return { buckets: await runtime.getBindings<Record<string, R2Bucket>>(), close: () => runtime.dispose() }
}

/** Opens the files in the data folder as the stores that the configuration binds. */
export function openLocalStores(config: string, dataFolder: string): OpenStores {
  const sections = config.split(/^(?=\[)/m).map(section => ({
    header: /^\[+(\w+)/.exec(section)?.[1],
    values: Object.fromEntries(
      [...section.matchAll(/^(\w+) = "([^"]*)"/gm)].map(([, key, value]) => [key!, value!]),
    ),
  }))
  /** Names at the provider, by binding. */
  const stores = (header: string, id: string): [binding: string, id: string][] =>
    sections.filter(section => section.header === header).map(({ values }) => [values.binding!, values[id]!])
  const opened = new Map<string, DatabaseSync>()
  // A missing file is not bound. Opening it would create an empty database without tables, which a start would take for an
  // existing one.
  const present = stores('d1_databases', 'database_id').filter(([, id]) =>
    existsSync(databaseFile(dataFolder, id)),
  )
  const databases = present.map(([binding, id]) => [
    binding,
    fileAsD1(() => {
      const before = opened.get(id)
      if (before) return before
      const database = new DatabaseSync(databaseFile(dataFolder, id), { timeout: BUSY_MS })
      opened.set(id, database)
      return database
    }),
  ])
  const named = stores('r2_buckets', 'bucket_name')
  let started: ReturnType<typeof startBuckets> | undefined
  const start = () => {
    started ??= startBuckets(
      resolve(dataFolder, 'v3'),
      Object.fromEntries(named.map(([binding, id]) => [binding, { id }])),
    )
    return started
  }
  const buckets = named.map(([binding]) => [
    binding,
    lazyBucket(async () => (await start()).buckets[binding]!),
  ])
  const vars = sections.find(({ header }) => header === 'vars')?.values ?? {}
  return {
    env: { ...vars, ...Object.fromEntries([...databases, ...buckets]) } as unknown as Env,
    async dispose() {
      for (const database of opened.values()) database.close()
      await (await started)?.close()
    },
  }
}
