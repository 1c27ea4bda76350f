import journal from '../../../migrations/tenant/meta/_journal.json' with { type: 'json' }
import { type Calls, noCalls } from '../calls.ts'

// The migrations runner: the same code for a local file, a test and a database in production, where only the
// target differs. A migration is one atomic batch with its own record in it, so a run that was cut off anywhere
// is simply run again.

/** One file of migrations/: what drizzle-kit wrote, cut into statements. */
export type Migration = {
  /** File name without `.sql`; names sort in the order they apply: `0000_first`. */
  name: string
  statements: readonly string[]
  /** SHA-256 of the statements, hex: tells when a file was edited after it was applied. */
  hash: string
}

/** A database that migrations are applied to. */
export type MigrationTarget = {
  /** What people call it: its binding. */
  name: string
  /** Runs the statements in order, all or none. */
  execute(statements: readonly string[]): Promise<void>
  /** Rows of one reading statement. */
  query(statement: string): Promise<Record<string, unknown>[]>
}

/** The table, in every database, of the migrations that it has. */
const RECORD = `create table if not exists migration (
  name text primary key not null, hash text not null, applied_at integer not null
)`

const NAME = /^\d{4}_[a-z0-9_]+$/

const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** Migrations from file names and texts, in the order they apply. */
export async function readMigrations(files: Record<string, string>): Promise<Migration[]> {
  const read = Object.entries(files).map(async ([path, text]) => {
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.sql$/, '')
    if (!NAME.test(name)) throw new Error(`A migration is named like 0001_what_it_does.sql, not ${path}.`)
    const statements = text
      .split('--> statement-breakpoint')
      .map(statement => statement.trim().replace(/;$/, ''))
      .filter(statement => statement !== '')
    const hash = hexOf(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(statements.join('\n'))))
    return { name, statements, hash }
  })
  return (await Promise.all(read)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Name of the newest migration: what a database that has them all is at. */
export function newestMigration(migrations: readonly Migration[]): string {
  const newest = migrations.at(-1)
  if (!newest) throw new Error('There are no migrations.')
  return newest.name
}

/** Applies the migrations that the target lacks, oldest first; names of those applied now. */
export async function migrate(target: MigrationTarget, migrations: readonly Migration[]): Promise<string[]> {
  const applied = await appliedMigrations(target)
  const missing = migrations.filter(migration => !applied.has(migration.name))
  refuseRewrittenHistory(target, migrations, missing, applied)
  for (const { name, statements, hash } of missing) {
    const record = `insert into migration (name, hash, applied_at) values ('${name}', '${hash}', unixepoch() * 1000)`
    await target.execute([RECORD, ...statements, record])
  }
  return missing.map(migration => migration.name)
}

/** Hashes by name; none in a database that is new and has no record yet. */
async function appliedMigrations(target: MigrationTarget): Promise<Map<string, string>> {
  try {
    const rows = await target.query('select name, hash from migration')
    return new Map(rows.map(row => [String(row.name), String(row.hash)]))
  } catch (error) {
    if (String(error).includes('no such table: migration')) return new Map()
    throw error
  }
}

/** Neither an edited migration nor one that slips in behind an applied one can give the schema of the code. */
function refuseRewrittenHistory(
  target: MigrationTarget,
  migrations: readonly Migration[],
  missing: readonly Migration[],
  applied: ReadonlyMap<string, string>,
): void {
  const edited = migrations.find(({ name, hash }) => applied.has(name) && applied.get(name) !== hash)
  if (edited)
    throw new Error(
      `${target.name} has another ${edited.name} than the code: a migration that was applied is never edited; add a new one.`,
    )
  const late = missing.find(({ name }) => [...applied.keys()].some(other => other > name))
  if (late)
    throw new Error(
      `${target.name} lacks ${late.name} but has later ones: name the migration so that it sorts last.`,
    )
}

/** A run over many databases calls `done` for each that is up to date; `applied` is empty when it was so before. */
type MigrationProgress = {
  done(target: MigrationTarget, applied: readonly string[]): void | Promise<void>
}

/** What could not be migrated in a run over many databases; all others are up to date, unless it `isCutShort`. */
export class MigrationFailures extends Error {
  readonly isCutShort: boolean

  constructor(
    failures: readonly { readonly target: MigrationTarget; readonly problem: unknown }[],
    isCutShort: boolean,
  ) {
    const lines = failures.map(
      ({ target, problem }) =>
        `${target.name} could not be migrated: ${problem instanceof Error ? problem.message : String(problem)}`,
    )
    super(lines.join('\n'), { cause: failures[0]?.problem })
    this.name = 'MigrationFailures'
    this.isCutShort = isCutShort
  }
}

/** After so many failures it is the migration that is wrong, and no database. */
export const MOST_FAILURES = 10

/**
 * Migrates many databases, at most `atOnce` together. One that fails holds no other up; after `MOST_FAILURES` no further one is begun.
 * Throws `MigrationFailures` in the end; the same call again tries those that are missing.
 */
export async function migrateAll(
  targets: readonly MigrationTarget[],
  migrations: readonly Migration[],
  atOnce: number,
  progress: MigrationProgress,
): Promise<void> {
  const waiting = targets.values()
  const failures: { target: MigrationTarget; problem: unknown }[] = []
  let begun = 0
  const work = async (): Promise<void> => {
    for (const target of waiting) {
      begun += 1
      try {
        await progress.done(target, await migrate(target, migrations))
      } catch (problem) {
        failures.push({ target, problem })
      }
      if (failures.length >= MOST_FAILURES) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, targets.length) }, work))
  if (failures.length > 0) throw new MigrationFailures(failures, begun < targets.length)
}

/** A D1 binding as a target; round trips are counted. */
export function bindingTarget(name: string, client: D1Database, calls: Calls = noCalls()): MigrationTarget {
  return {
    name,
    async execute(statements) {
      calls.d1 += 1
      await client.batch(statements.map(statement => client.prepare(statement)))
    },
    async query(statement) {
      calls.d1 += 1
      const { results } = await client.prepare(statement).all<Record<string, unknown>>()
      return results
    },
  }
}

// drizzle-kit's own list of the migrations, so that nobody has to repeat the name of the newest.
/** Newest migration of tenant databases that this code knows; names sort in the order they apply. */
export const NEWEST_TENANT_MIGRATION: string = journal.entries.at(-1)!.tag
