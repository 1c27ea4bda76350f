import journal from '../../../migrations/tenant/meta/_journal.json' with { type: 'json' }
import { hexOf } from '../../kernel/text.ts'
import { carryOutMove, moveOf, type Steps, withMarks } from './moves.ts'
import type { MigrationTarget } from './target.ts'

// Runs migrations of local files, tests and production alike. A migration is one atomic batch that also records itself, or a move
// of tables in many batches (moves.ts). An interrupted run can be repeated.

/** One file of migrations/ as drizzle-kit wrote it, split into statements. */
export type Migration = {
  /** File name without `.sql`, e.g. `0000_first`. Names sort in the order of application. */
  name: string
  statements: readonly string[]
  /** SHA-256 of the statements, hex. Detects edits after application. */
  hash: string
}

/** The table in which every database records its migrations. */
const RECORD = `create table if not exists migration (
  name text primary key not null, hash text not null, applied_at integer not null
)`

const BREAKPOINT = '--> statement-breakpoint'

const NAME = /^\d{4}_[a-z0-9_]+$/

/** Reads migrations and sorts them in the order of application. */
export async function readMigrations(files: Record<string, string>): Promise<Migration[]> {
  const read = Object.entries(files).map(async ([path, text]) => {
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.sql$/, '')
    if (!NAME.test(name))
      throw new Error(`A migration must be named like 0001_what_it_does.sql, not ${path}.`)
    const statements = withMarks(text, BREAKPOINT)
      .split(BREAKPOINT)
      .map(statement => statement.trim().replace(/;$/, ''))
      .filter(statement => statement !== '')
    const hash = hexOf(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(statements.join('\n'))))
    return { name, statements, hash }
  })
  return (await Promise.all(read)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the name of the last migration. Throws an Error if there are none. */
export function newestMigration(migrations: readonly Migration[]): string {
  const newest = migrations.at(-1)
  if (!newest) throw new Error('There are no migrations.')
  return newest.name
}

export type Migrated = {
  /** Names of the migrations that this run applied. */
  readonly applied: string[]
  /** The newest migration that the database has. */
  readonly newest: string
  /** False while a move is under way. */
  readonly isDone: boolean
}

/** Applies missing migrations, oldest first, and returns their names. */
export const migrate = async (target: MigrationTarget, migrations: readonly Migration[]): Promise<string[]> =>
  (await migrateInSteps(target, migrations, { left: Number.POSITIVE_INFINITY })).applied

/** Like `migrate`, but stops when the steps for moves are used up. */
export async function migrateInSteps(
  target: MigrationTarget,
  migrations: readonly Migration[],
  steps: Steps,
): Promise<Migrated> {
  const present = await appliedMigrations(target)
  const missing = migrations.filter(migration => !present.has(migration.name))
  refuseRewrittenHistory(target, migrations, missing, present)
  const applied: string[] = []
  for (const migration of missing) {
    const { name, statements, hash } = migration
    const record = `insert into migration (name, hash, applied_at) values ('${name}', '${hash}', unixepoch() * 1000)`
    const move = moveOf(migration)
    if (!move) await target.execute([RECORD, ...statements, record])
    else if (!(await carryOutMove(target, name, move, record, steps)))
      return { applied, newest: migrations[migrations.indexOf(migration) - 1]?.name ?? '', isDone: false }
    applied.push(name)
  }
  return { applied, newest: newestMigration(migrations), isDone: true }
}

/** Returns hashes by name. Empty for a new database, which has no such table yet. */
async function appliedMigrations(target: MigrationTarget): Promise<Map<string, string>> {
  try {
    const rows = await target.query('select name, hash from migration')
    return new Map(rows.map(row => [String(row.name), String(row.hash)]))
  } catch (error) {
    if (String(error).includes('no such table: migration')) return new Map()
    throw error
  }
}

/** Rejects a migration that was edited, or inserted before an applied one: it cannot lead to the schema of the code. */
function refuseRewrittenHistory(
  target: MigrationTarget,
  migrations: readonly Migration[],
  missing: readonly Migration[],
  applied: ReadonlyMap<string, string>,
): void {
  const edited = migrations.find(({ name, hash }) => applied.has(name) && applied.get(name) !== hash)
  if (edited)
    throw new Error(
      `${target.name} has a different ${edited.name} than the code. Never edit an applied migration: add a new one.`,
    )
  const late = missing.find(({ name }) => [...applied.keys()].some(other => other > name))
  if (late)
    throw new Error(
      `${target.name} lacks ${late.name} but has later migrations. Name the migration so that it sorts last.`,
    )
}

/** `done` is called for each database that is up to date. `applied` is empty if it already was. */
type MigrationProgress = {
  done(target: MigrationTarget, applied: readonly string[]): void | Promise<void>
}

/** The failures of a run over many databases. All other databases are up to date, unless the run `isCutShort`. */
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

/** This many failures mean that the migration is at fault, not the databases. */
export const MOST_FAILURES = 10

/**
 * Migrates at most `atOnce` databases at a time. A failure does not delay other databases, but after `MOST_FAILURES` no further
 * one starts. Throws `MigrationFailures` at the end. The same call again migrates the remaining databases.
 */
export async function migrateAll(
  targets: readonly MigrationTarget[],
  migrations: readonly Migration[],
  atOnce: number,
  progress: MigrationProgress,
): Promise<void> {
  const remaining = targets.values()
  const failures: { target: MigrationTarget; problem: unknown }[] = []
  let startedCount = 0
  const work = async (): Promise<void> => {
    for (const target of remaining) {
      startedCount += 1
      try {
        await progress.done(target, await migrate(target, migrations))
      } catch (problem) {
        failures.push({ target, problem })
      }
      if (failures.length >= MOST_FAILURES) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, targets.length) }, work))
  if (failures.length > 0) throw new MigrationFailures(failures, startedCount < targets.length)
}

/**
 * The moves of this release. This code supports both layouts, so it does not require them. The next release removes them from this
 * list when its code needs them.
 */
export const OPTIONAL_MOVES: readonly string[] = ['0007_keys_of_policies', '0009_shared_rows_of_events']

/** Databases with it get rows of several events (platform/events/rows.ts), which Workers of earlier releases cannot read. */
export const SHARED_EVENT_ROWS = '0009_shared_rows_of_events'

/**
 * Migrations after such a move that this code does not require: each addition is used in one place, which responds with 503 until
 * the migration has run. Indexes that only make reads cheaper need nothing. The release that removes the move above also removes these.
 */
export const OPTIONAL_ADDITIONS: readonly string[] = [
  '0008_impact_runs',
  '0010_books',
  '0011_work_lists',
  '0012_notes',
  '0013_identity_providers',
  '0014_roles',
  '0015_deployment_log',
  '0016_record_lookups',
]

/** Databases with it keep a journal (policy/journal/rows.ts) and reports. Earlier transactions are added afterwards. */
export const BOOKS = '0010_books'

/** Databases with it keep notes (servicing/notes). */
export const NOTES = '0012_notes'

/** Databases with it keep identity providers (access/identity-providers). */
export const IDENTITY_PROVIDERS = '0013_identity_providers'

/** Databases with it keep roles of the interface (access/roles). */
export const ROLES = '0014_roles'

/** Databases with it keep a log of deployments (tenants/deployment/log). */
export const DEPLOYMENT_LOG = '0015_deployment_log'

/** Databases with it have indexes by which invoices are found by number, and logs and schedules by policy. All else works without. */
export const RECORD_LOOKUPS = '0016_record_lookups'

/** The newest migration that tenant databases must have for this code, from drizzle-kit's journal. */
export const REQUIRED_TENANT_MIGRATION: string = journal.entries.findLast(
  ({ tag }) => !OPTIONAL_MOVES.includes(tag) && !OPTIONAL_ADDITIONS.includes(tag),
)!.tag
