// Brings databases up to the code's migrations, and records that in the control database. Run again after a failure, it continues
// where it stopped.
import { migrate, migrateAll, newestMigration } from '../src/platform/database/migrations.ts'
import type { MigrationTarget } from '../src/platform/database/target.ts'
import { migrationFiles } from './migration-files.ts'
import type { PoolDatabase } from './pool-file.ts'
import type { Progress } from './progress.ts'

/** Exit code of `npm run migrate` if some databases could not be migrated and all others are up to date. */
export const SOME_ARE_BEHIND = 3

/** Databases migrated at the same time: enough to hide the waiting, few enough for the provider's limits. */
const AT_ONCE = 8

/** Migrates the control database. Returns the names of the migrations applied now. */
export const prepareControl = async (control: MigrationTarget): Promise<string[]> =>
  migrate(control, await migrationFiles('control'))

/**
 * Migrates the tenant databases and registers each in the control database with its newest migration, as free if it is new there.
 * Skips a database that is registered with the newest migration. After a failure, the databases that were finished are still
 * registered.
 */
export async function prepareTenantDatabases(
  control: MigrationTarget,
  databases: readonly PoolDatabase[],
  target: (binding: string) => MigrationTarget,
  progress: Progress,
): Promise<void> {
  const migrations = await migrationFiles('tenant')
  const newest = newestMigration(migrations)
  const upToDate = await bindingsAtMigration(control, newest)
  const targets = databases
    .filter(({ binding }) => !upToDate.has(binding))
    .map(({ binding }) => target(binding))
  const finished = new Set<string>()
  let changed = 0
  const showProgress = (): void =>
    progress(
      databases.length - targets.length + finished.size,
      databases.length,
      `tenant databases at ${newest}, ${changed} migrated now`,
    )
  if (targets.length === 0) return showProgress()
  try {
    await migrateAll(targets, migrations, AT_ONCE, {
      done({ name }, applied) {
        finished.add(name)
        if (applied.length > 0) changed += 1
        showProgress()
      },
    })
  } finally {
    const registered = databases.filter(({ binding }) => finished.has(binding))
    if (registered.length > 0) await control.execute(registerQueries(registered, newest))
  }
}

async function bindingsAtMigration(control: MigrationTarget, migration: string): Promise<Set<string>> {
  const rows = await control.query(`select binding from pool_database where migration = '${migration}'`)
  return new Set(rows.map(({ binding }) => String(binding)))
}

/** Databases that one statement registers. Its text may have 100 KB. */
const REGISTERED_AT_ONCE = 1_000

/** Returns statements that register the databases as free, with their newest migration. Empty if there are no databases. */
export function registerQueries(databases: readonly PoolDatabase[], migration: string): string[] {
  const rows = databases.map(({ binding, place }) => `('${binding}', 'free', '${migration}', '${place}')`)
  return Array.from(
    { length: Math.ceil(rows.length / REGISTERED_AT_ONCE) },
    (_, part) =>
      `insert into pool_database (binding, state, migration, place)
       values ${rows.slice(part * REGISTERED_AT_ONCE, (part + 1) * REGISTERED_AT_ONCE).join(', ')}
       on conflict (binding) do update set migration = max(migration, excluded.migration)`,
  )
}
