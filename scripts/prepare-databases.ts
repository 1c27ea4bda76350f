// Brings databases up to the code's migrations, and tells the control database of it. Run again after a
// failure, it goes on where it stopped.
import {
  type Migration,
  type MigrationTarget,
  migrate,
  migrateAll,
  newestMigration,
} from '../src/platform/database/migrations.ts'
import { migrationFiles } from './migration-files.ts'
import type { PoolDatabase } from './pool-file.ts'
import type { Progress } from './progress.ts'

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
  databases: readonly PoolDatabase[],
  target: (binding: string) => MigrationTarget,
  progress: Progress,
): Promise<void> {
  const migrations = await migrationFiles('tenant')
  const targets = databases.map(({ binding }) => target(binding))
  const finished = new Set<string>()
  let changed = 0
  try {
    await migrateAll(targets, migrations, AT_ONCE, {
      done({ name }, applied) {
        finished.add(name)
        if (applied.length > 0) changed += 1
        progress(
          finished.size,
          targets.length,
          `tenant databases at ${newestMigration(migrations)}, ${changed} migrated now`,
        )
      },
    })
  } finally {
    await register(
      control,
      databases.filter(({ binding }) => finished.has(binding)),
      migrations,
    )
  }
}

async function register(
  control: MigrationTarget,
  databases: readonly PoolDatabase[],
  migrations: readonly Migration[],
): Promise<void> {
  if (databases.length === 0) return
  const newest = newestMigration(migrations)
  const rows = databases.map(({ binding, place }) => `('${binding}', 'free', '${newest}', '${place}')`)
  await control.execute([
    `insert into pool_database (binding, state, migration, place) values ${rows.join(', ')}
     on conflict (binding) do update set migration = excluded.migration`,
  ])
}
