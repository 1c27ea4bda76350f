// The local databases: the SQLite files that the local runtime serves as D1 databases. They are opened as files, without the
// runtime, so that they are ready in a second even on a busy machine.
import { createHash, createHmac } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { migrate } from '../src/platform/database/migrations.ts'
import type { MigrationTarget } from '../src/platform/database/target.ts'
import type { Statement, StatementTarget } from './administrator.ts'
import { prepareDataFolder } from './data-folder.ts'
import { controlId } from './deployment/needs.ts'
import { checkFormerUnits } from './former-units.ts'
import { migrationFiles } from './migration-files.ts'
import { type PoolDatabase, readPool } from './pool-file.ts'
import { prepareControl, prepareTenantDatabases } from './prepare-databases.ts'
import type { Progress } from './progress.ts'

/** The local runtime's name for the objects that implement its D1 databases. */
const NAMESPACE = 'miniflare-D1DatabaseObject'

/** How long a statement waits for another process that writes to the same file. */
export const BUSY_MS = 30_000

/**
 * Databases that a start keeps free for new tenants, as many as one run may need. None can be added while the service runs,
 * because the runtime does not wait for another process that writes to the control database.
 */
const FREE_AT_START = 64

type LocalDatabase = MigrationTarget & StatementTarget & { close(): void }

/** Returns the file of the D1 database with that id. The local runtime derives the file name from the id. */
export function databaseFile(dataFolder: string, id: string): string {
  const key = createHash('sha256').update(NAMESPACE).digest()
  const digest = (bytes: string | Buffer): Buffer =>
    createHmac('sha256', key).update(bytes).digest().subarray(0, 16)
  const name = digest(id)
  return join(
    dataFolder,
    'v3',
    'd1',
    NAMESPACE,
    `${Buffer.concat([name, digest(name)]).toString('hex')}.sqlite`,
  )
}

export const controlFile = (dataFolder: string): string =>
  databaseFile(dataFolder, controlId(readFileSync('wrangler.toml', 'utf8')))

const BRING_BACK = 'Restore the whole data folder from a copy (docs/local.md)'

/**
 * Throws if the control database is missing and tenant databases exist. With an empty one in its place, their owners would be
 * unknown.
 */
function requireControl(dataFolder: string): void {
  const file = controlFile(dataFolder)
  if (existsSync(file)) return
  const others = readdirSync(dirname(file)).filter(name => /^[0-9a-f]{64}\.sqlite$/.test(name))
  if (others.length > 0)
    throw new Error(
      `The control database is missing, but there are databases of tenants: ${file}. ${BRING_BACK}, or set BINDERY_DATA to another folder to start over.`,
    )
}

/**
 * Throws if a database of a tenant is missing. With an empty one in its place, the tenant's data would seem never to have
 * existed.
 */
async function requireClaimed(dataFolder: string, control: MigrationTarget): Promise<void> {
  const claimed = await control.query(
    `select tenant.name, shard.binding from shard join tenant on tenant.locator = shard.tenant_locator order by shard.binding`,
  )
  const ids = new Map(readPool().map(({ binding, databaseId }) => [binding, databaseId]))
  for (const { name, binding } of claimed) {
    const id = ids.get(String(binding))
    if (id === undefined || existsSync(databaseFile(dataFolder, id))) continue
    throw new Error(
      `The database ${binding} of the tenant '${name}' is missing: ${databaseFile(dataFolder, id)}. ${BRING_BACK}, or delete the tenant: npm run tenant -- delete ${name}`,
    )
  }
}

/** Writes everything that `work` writes, or nothing. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('begin immediate')
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (problem) {
    if (database.isTransaction) database.exec('rollback')
    throw problem
  }
}

/** Opens a file as a database, and creates it if it does not exist. */
export function openDatabaseFile(name: string, file: string): LocalDatabase {
  const database = new DatabaseSync(file, { timeout: BUSY_MS })
  const batch = (statements: readonly Statement[]): void =>
    inTransaction(database, () => {
      for (const { sql, values } of statements)
        database.prepare(sql).run(...(values as readonly SQLInputValue[]))
    })
  return {
    name,
    execute: async statements => batch(statements.map(sql => ({ sql, values: [] }))),
    query: async statement => database.prepare(statement).all(),
    first: async ({ sql, values }) => database.prepare(sql).get(...(values as readonly SQLInputValue[])),
    batch: async statements => batch(statements),
    close: () => database.close(),
  }
}

export type LocalDatabases = {
  readonly control: MigrationTarget & StatementTarget
  /** Returns a database of the pool, or the control database. */
  target(binding: string): MigrationTarget
  /** Returns the databases of the pool that the control database knows. */
  registered(): Promise<PoolDatabase[]>
  /**
   * Creates missing files, then migrates and registers all of these databases of the pool. Throws before it changes any of them
   * if a database of a tenant is missing, or if tenants have amounts in former minor units, so that the earlier release can still
   * run on them.
   */
  prepare(databases: readonly PoolDatabase[], progress: Progress): Promise<void>
  close(): Promise<void>
}

/** Opens the databases of the data folder, each file when it is first used. */
export function openLocalDatabases(dataFolder: string): LocalDatabases {
  prepareDataFolder(dataFolder)
  mkdirSync(join(dataFolder, 'v3', 'd1', NAMESPACE), { recursive: true })
  const opened = new Map<string, LocalDatabase>()
  const open = (binding: string, id: string): LocalDatabase => {
    const present = opened.get(binding)
    if (present) return present
    const database = openDatabaseFile(binding, databaseFile(dataFolder, id))
    opened.set(binding, database)
    return database
  }
  requireControl(dataFolder)
  const control = open('CONTROL', controlId(readFileSync('wrangler.toml', 'utf8')))
  const target = (binding: string): MigrationTarget => {
    if (binding === 'CONTROL') return control
    const listed = readPool().find(database => database.binding === binding)
    if (!listed) throw new Error(`pool.toml has no database ${binding}.`)
    return open(binding, listed.databaseId)
  }
  return {
    control,
    target,
    async registered() {
      const known = new Set((await readRegisteredPool(control)).map(({ binding }) => binding))
      return readPool().filter(({ binding }) => known.has(binding))
    },
    async prepare(databases, progress) {
      await requireClaimed(dataFolder, control)
      await checkFormerUnits(control, () => ({ target, close: async () => {} }))
      const files = databases.map(({ databaseId }) => databaseFile(dataFolder, databaseId))
      await makeFiles(
        dataFolder,
        files.filter(file => !existsSync(file)),
      )
      await prepareTenantDatabases(control, databases, target, progress)
    },
    async close() {
      for (const database of opened.values()) database.close()
      opened.clear()
    },
  }
}

/** The control database's list of its pool. */
async function readRegisteredPool(control: MigrationTarget): Promise<{ binding: string; state: string }[]> {
  const rows = await control.query('select binding, state from pool_database')
  return rows.map(({ binding, state }) => ({ binding: String(binding), state: String(state) }))
}

/** Returns the first unregistered databases of the pool, as many as are needed to have `free` free ones. */
function databasesToRegister(
  rows: readonly { binding: string; state: string }[],
  pool: readonly PoolDatabase[],
  free: number,
): PoolDatabase[] {
  const known = new Set(rows.map(({ binding }) => binding))
  const lacking = Math.max(0, free - rows.filter(({ state }) => state === 'free').length)
  return pool.filter(({ binding, place }) => place === '' && !known.has(binding)).slice(0, lacking)
}

/**
 * Creates and migrates what a start needs: the control database, the databases of the pool that it knows, and as many more as are
 * needed to have `free` free ones. Returns the migrations that were now applied to the control database.
 */
export async function prepareLocalDatabases(
  databases: LocalDatabases,
  progress: Progress,
  free = FREE_AT_START,
): Promise<string[]> {
  const applied = await prepareControl(databases.control)
  const pool = readPool()
  const rows = await readRegisteredPool(databases.control)
  const known = new Set(rows.map(({ binding }) => binding))
  const wanted = [
    ...pool.filter(({ binding }) => known.has(binding)),
    ...databasesToRegister(rows, pool, free),
  ]
  await databases.prepare(wanted, progress)
  return applied
}

/** Creates the files as copies of one database with all migrations. Each gets its name when it is complete. */
async function makeFiles(dataFolder: string, files: readonly string[]): Promise<void> {
  if (files.length === 0) return
  const folder = mkdtempSync(join(dataFolder, 'copied-'))
  try {
    const first = join(folder, 'first.sqlite')
    const database = openDatabaseFile('a new database', first)
    try {
      await migrate(database, await migrationFiles('tenant'))
    } finally {
      database.close()
    }
    for (const file of files) {
      const copy = join(folder, 'copy.sqlite')
      copyFileSync(first, copy)
      renameSync(copy, file)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
