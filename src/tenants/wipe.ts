// The scheduled handler empties the databases of removed tenants, some at a time, deletes their files and returns the databases
// to the pool. There is no lock and no lease: a run may be interrupted anywhere, and two may overlap.
//
// A run that finds rows or files deletes them. Only a run that finds none frees the database, and only when no isolate can still
// trust the tenant: isolates trust what they read for some seconds, and a request may write a moment later. Each step is bound to
// the return that the run read, identified by its time: if another run freed the database, and a tenant claimed it and gave it
// back, that is another return. Deleting rows is also bound to the record of writes as it was before the pool said `returned`.
// Every write of a tenant adds a row to it, so the batch fails when a new tenant has written meanwhile. And it is bound to the
// fence: a control database that was restored to an earlier time may list a database as returned although another tenant has
// claimed it since.
import { sql } from 'drizzle-orm'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, hasRoomForMore, noCalls } from '../platform/calls.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'
import { fences, guards, writes } from '../platform/tables.ts'
import { closeFence, removeFence } from '../platform/tenancy/fence.ts'
import {
  boundBucket,
  boundDatabase,
  controlDatabase,
  filesPrefix,
  sendFence,
  TENANT_TRUST_MS,
  type TenantScope,
} from '../platform/tenancy.ts'
import { freeQuery, isReturnedQuery, readReturned, returnedQuery } from './store.ts'

const DATABASES_A_RUN = 8
/** For one database. */
const BATCHES_A_RUN = 10
/** For each table. */
const ROWS_A_BATCH = 5_000
/** Isolates read the tenant again and their running requests end within this time. */
const MAY_BE_WRITTEN_MS = 6 * TENANT_TRUST_MS

type WipeResult = {
  freed: string[]
  /** Databases of which rows or files were deleted. */
  emptied: string[]
}

/** Wipes and frees returned databases, and never touches a database that a tenant has. */
export async function wipeReturned(
  env: Env,
  calls: Calls = noCalls(),
  at: Instant = now(),
): Promise<WipeResult> {
  const control = controlDatabase(env, calls)
  const [rows] = await control.batch([returnedQuery(control, DATABASES_A_RUN)])
  const result: WipeResult = { freed: [], emptied: [] }
  for (const returned of rows.map(readReturned)) {
    // One takes a hundred statements or two.
    if (!hasRoomForMore(calls)) break
    const { binding, place, returnedAt, former } = returned
    const client = boundDatabase(env, binding)
    const bucket = boundBucket(env, place)
    if (!client || !bucket) continue
    const hadFiles = await deleteFormerFiles(bucket, former, calls)
    const database = openDatabase(client, calls)
    const contents = await inspect(database, former)
    if (contents.isOfAnother) {
      console.error(
        JSON.stringify({ at: 'wipe', binding, problem: 'This database belongs to another tenant.' }),
      )
      continue
    }
    const hasRows = contents.tablesWithRows.length > 0
    if (!hasRows && !hadFiles) {
      if (at - returnedAt < MAY_BE_WRITTEN_MS) continue
      await sendFence(database, removeFence(former))
      await control.batch([freeQuery(control, returned)])
      result.freed.push(binding)
      continue
    }
    if (hasRows) {
      const [[isStill]] = await control.batch([isReturnedQuery(control, returned)])
      if (!isStill) continue
      await deleteAllRows(database, contents, former)
    }
    result.emptied.push(binding)
  }
  return result
}

type Contents = {
  tablesWithRows: FilledTable[]
  /** The newest row of the record of writes, and the number of rows. */
  record: string
  /** By the fence. A database without one belongs to nobody. */
  isOfAnother: boolean
}

/** `key`: the columns that identify its rows, as SQL. */
type FilledTable = { name: string; key: string }

const recordOfWrites = sql`(select count(*) || '/' || coalesce(max(${writes.key}), '') || '/' || coalesce(max(${writes.at}), 0) from ${writes})`

const isOfAnother = ({ locator, generation }: TenantScope) =>
  sql`exists (select 1 from ${fences} where tenant_locator <> ${locator} or generation <> ${generation})`

const quoted = (table: string) => sql.raw(`"${table.replaceAll('"', '""')}"`)

/**
 * Closes the fence, and lists the tables with rows. Leaves out `migration`, since the schema stays, `fence`, which stays until
 * the database is free, and `migration_move`, which records how far a migration has come. Names that begin with an underscore
 * belong to D1.
 */
async function inspect(database: Database, former: TenantScope): Promise<Contents> {
  const { sql: text, params } = closeFence(former)
  const [, tables] = (await database.batch([
    database.rawQuery(text, ...params),
    database.build.all(
      sql`select m.name, iif(l.wr, (select group_concat('"' || name || '"', ', ' order by pk) from pragma_table_info(m.name) where pk > 0), 'rowid') as key
        from sqlite_master m join pragma_table_list l on l.name = m.name and l.schema = 'main'
        where m.type = 'table' and m.name not in ('migration', 'migration_move', 'fence') and substr(m.name, 1, 1) <> '_'
          and (m.name not like 'sqlite%' or m.name = 'sqlite_sequence')`,
    ),
  ])) as [unknown, FilledTable[]]
  const [record, ...found] = (await database.batch([
    database.build.all(sql`select ${recordOfWrites} as record, ${isOfAnother(former)} as other`),
    ...tables.map(({ name, key }) =>
      database.build.all(
        sql`select ${name} as name, ${key} as key where exists (select 1 from ${quoted(name)})`,
      ),
    ),
  ])) as [{ record: string; other: number }[], ...FilledTable[][]]
  return { tablesWithRows: found.flat(), record: record[0]!.record, isOfAnother: record[0]!.other === 1 }
}

async function deleteAllRows(database: Database, contents: Contents, former: TenantScope): Promise<void> {
  let { tablesWithRows, record } = contents
  for (let batch = 0; batch < BATCHES_A_RUN && tablesWithRows.length > 0; batch += 1) {
    const deletions = tablesWithRows.map(({ name, key }) =>
      database.build.run(
        sql`delete from ${quoted(name)} where (${sql.raw(key)}) in (select ${sql.raw(key)} from ${quoted(name)} limit ${ROWS_A_BATCH})`,
      ),
    )
    const queries: Query[] = [
      // No guard has this name, and the column is not null, so the batch fails when the record or the fence has changed.
      database.build.run(
        sql`insert into ${guards} (name) select null where ${recordOfWrites} is not ${record} or ${isOfAnother(former)}`,
      ),
      ...deletions,
      database.build.all(sql`select ${recordOfWrites} as record`),
    ]
    const results = (await database.batch(queries as [Query, ...Query[]])) as unknown[]
    record = (results.at(-1) as { record: string }[])[0]!.record
    const deleted = results.slice(1, -1) as D1Result[]
    tablesWithRows = tablesWithRows.filter((_, at) => deleted[at]!.meta.changes >= ROWS_A_BATCH)
  }
}

// File names contain the tenant's generation, which is never used again, so any number of runs may delete files at any time.
/** Lists of at most 1,000 names each. */
const LISTS_A_RUN = 10

/** Deletes a bounded number of files. Returns whether it found any. */
async function deleteFormerFiles(bucket: R2Bucket, former: TenantScope, calls: Calls): Promise<boolean> {
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
