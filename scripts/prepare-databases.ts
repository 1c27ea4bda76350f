// Brings databases up to the code's migrations, and tells the control database of it. Run again after a
// failure, it goes on where it stopped.
import {
  type Migration,
  type MigrationTarget,
  migrate,
  migrateAll,
  newestMigration,
} from '../src/platform/migrations.ts'
import { migrationFiles } from './migration-files.ts'

/** Says what is being done; `step` is finished by the next one. */
export type Say = (line: string) => void

/** Databases migrated at the same time: enough to hide the waiting, few enough for the provider's limits. */
const AT_ONCE = 8

/** Migrates the control database; names of the migrations applied now. */
export const prepareControl = async (control: MigrationTarget): Promise<string[]> =>
  migrate(control, await migrationFiles('control'))

/**
 * Migrates the tenant databases and registers each in the control database: as free when it is new there, with
 * its newest migration in any case. Those finished before a failure are registered too.
 */
export async function prepareTenantDatabases(
  control: MigrationTarget,
  targets: readonly MigrationTarget[],
  say: Say,
): Promise<void> {
  const migrations = await migrationFiles('tenant')
  const finished: string[] = []
  let changed = 0
  try {
    await migrateAll(targets, migrations, AT_ONCE, {
      done({ name }, applied) {
        finished.push(name)
        if (applied.length > 0) changed += 1
        if (finished.length % 16 === 0 || finished.length === targets.length)
          say(
            `${finished.length} of ${targets.length} tenant databases at ${newestMigration(migrations)}, ${changed} migrated now`,
          )
      },
    })
  } finally {
    await register(control, finished, migrations)
  }
}

async function register(
  control: MigrationTarget,
  bindings: readonly string[],
  migrations: readonly Migration[],
): Promise<void> {
  if (bindings.length === 0) return
  const rows = bindings.map(binding => `('${binding}', 'free', '${newestMigration(migrations)}')`).join(', ')
  await control.execute([
    `insert into pool_database (binding, state, migration) values ${rows}
     on conflict (binding) do update set migration = excluded.migration`,
  ])
}
