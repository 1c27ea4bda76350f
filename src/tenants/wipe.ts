// Databases of tenants that are gone are emptied and given back to the pool with their files deleted, some at a
// time, by the scheduled handler. No lock and no lease: a run may be cut off anywhere, and two may overlap.
//
// A run that finds rows or files deletes them. Only one that finds none gives the database back, and only when
// nobody can believe in the tenant any more: isolates trust what they read of a tenant for some seconds, and a
// request may write a moment after. What a run may do is bound to the return that it saw, by its time: had
// another run freed the database, a tenant claimed it and given it back, it would be another return. Deleting
// rows is bound to what was seen before the pool said `returned` too, the record of writes, to which every write
// of a tenant adds a row: had a new tenant written meanwhile, the batch would fail.
import { sql } from 'drizzle-orm'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from '../platform/calls.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'
import { guards, writes } from '../platform/tables.ts'
import {
  boundBucket,
  controlDatabase,
  filesPrefix,
  TENANT_TRUST_MS,
  type TenantScope,
} from '../platform/tenancy.ts'
import { freeQuery, isReturnedQuery, readReturned, returnedQuery } from './store.ts'

/** Databases looked at in one run. */
const DATABASES_A_RUN = 8
/** Batches of deletions in one database in one run. */
const BATCHES_A_RUN = 10
/** Rows of each table that one batch deletes. */
const ROWS_A_BATCH = 5_000
/** Ample for an isolate to read the tenant again, and for the requests that it had begun to end. */
const MAY_BE_WRITTEN_MS = 6 * TENANT_TRUST_MS

export type WipeResult = {
  /** Bindings of databases that are free again. */
  freed: string[]
  /** Bindings of databases of which rows or files were deleted. */
  emptied: string[]
}

/** One run, at the time `at`, over databases that were returned. Never touches one that a tenant has. */
export async function wipeReturned(
  env: Env,
  calls: Calls = noCalls(),
  at: Instant = now(),
): Promise<WipeResult> {
  const control = controlDatabase(env, calls)
  const [rows] = await control.batch([returnedQuery(control, DATABASES_A_RUN)])
  const result: WipeResult = { freed: [], emptied: [] }
  for (const returned of rows.map(readReturned)) {
    const { binding, place, returnedAt, former } = returned
    const client = (env as unknown as Record<string, D1Database | undefined>)[binding]
    const bucket = boundBucket(env, place)
    if (!client || !bucket) continue
    const hadFiles = await deleteFormerFiles(bucket, former, calls)
    const database = openDatabase(client, calls)
    const seen = await look(database)
    const hasRows = seen.tablesWithRows.length > 0
    if (!hasRows && !hadFiles) {
      if (at - returnedAt < MAY_BE_WRITTEN_MS) continue
      await control.batch([freeQuery(control, returned)])
      result.freed.push(binding)
      continue
    }
    if (hasRows) {
      const [[isStill]] = await control.batch([isReturnedQuery(control, returned)])
      if (!isStill) continue
      await empty(database, seen)
    }
    result.emptied.push(binding)
  }
  return result
}

type Seen = {
  tablesWithRows: string[]
  /** Newest and number of the rows in the record of writes. */
  record: string
}

const recordOfWrites = sql`(select count(*) || '/' || coalesce(max(${writes.key}), '') || '/' || coalesce(max(${writes.at}), 0) from ${writes})`

const quoted = (table: string) => sql.raw(`"${table.replaceAll('"', '""')}"`)

/** `migration` stays: the schema does. Names with an underscore first are the platform's own. */
async function look(database: Database): Promise<Seen> {
  const [tables] = (await database.batch([
    database.build.all(
      sql`select name from sqlite_master where type = 'table' and name <> 'migration' and substr(name, 1, 1) <> '_' and (name not like 'sqlite%' or name = 'sqlite_sequence')`,
    ),
  ])) as [{ name: string }[]]
  const [record, ...found] = (await database.batch([
    database.build.all(sql`select ${recordOfWrites} as record`),
    ...tables.map(({ name }) =>
      database.build.all(sql`select ${name} as name where exists (select 1 from ${quoted(name)})`),
    ),
  ])) as [{ record: string }[], ...{ name: string }[][]]
  return { tablesWithRows: found.flat().map(({ name }) => name), record: record[0]!.record }
}

async function empty(database: Database, seen: Seen): Promise<void> {
  let { tablesWithRows, record } = seen
  for (let batch = 0; batch < BATCHES_A_RUN && tablesWithRows.length > 0; batch += 1) {
    const deletions = tablesWithRows.map(name =>
      database.build.run(
        sql`delete from ${quoted(name)} where rowid in (select rowid from ${quoted(name)} limit ${ROWS_A_BATCH})`,
      ),
    )
    const queries: Query[] = [
      // No guard has this name: the column is not null, so the batch fails when the record is another.
      database.build.run(
        sql`insert into ${guards} (name) select null where ${recordOfWrites} is not ${record}`,
      ),
      ...deletions,
      database.build.all(sql`select ${recordOfWrites} as record`),
    ]
    const results = (await database.batch(queries as [Query, ...Query[]])) as unknown[]
    record = (results.at(-1) as { record: string }[])[0]!.record
    const deleted = results.slice(1, -1) as D1Result[]
    tablesWithRows = tablesWithRows.filter((_, at) => deleted[at]!.meta.changes === ROWS_A_BATCH)
  }
}

// Files of tenants that are gone. Names of files hold the tenant's generation, and none is ever used again: so
// whatever lies there may be deleted at any time, by any number of runs at once.
/** Lists of at most 1,000 names that one run works off for a tenant. */
const LISTS_A_RUN = 10

/** Deletes files of the former tenant, a bounded number; whether it found any. */
export async function deleteFormerFiles(
  bucket: R2Bucket,
  former: TenantScope,
  calls: Calls,
): Promise<boolean> {
  const prefix = filesPrefix(former)
  for (let lists = 0; lists < LISTS_A_RUN; lists += 1) {
    calls.r2 += 1
    const { objects, truncated } = await bucket.list({ prefix })
    if (objects.length === 0) return lists > 0
    calls.r2 += 1
    await bucket.delete(objects.map(({ key }) => key))
    if (!truncated) return true
  }
  return true
}
