// Where the databases are that a command works on: this machine's, or the provider's through its tool.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MigrationTarget } from '../src/platform/migrations.ts'
import { bookmarked } from './bookmarks.ts'
import { openStores } from './databases.ts'
import { isMade, type PoolDatabase, readPool } from './pool-file.ts'
import { prepareControl, prepareTenantDatabases } from './prepare-databases.ts'
import { progressBar } from './progress.ts'
import { readSecrets, readSettings } from './settings.ts'
import { wranglerTarget } from './wrangler.ts'
import { requireRemoteControl } from './write-config.ts'

export type DatabasePlace = {
  target(binding: string): MigrationTarget
  close(): Promise<void>
}

/**
 * The provider's databases, with a Time Travel bookmark of each noted in the data folder before it is first changed; or
 * those of the data folder.
 */
export async function openDatabasePlace(remote: boolean): Promise<DatabasePlace> {
  const { dataFolder } = readSettings(process.env, readSecrets())
  if (!remote) return openStores(dataFolder)
  requireRemoteControl()
  const notes: Record<string, string> = {}
  const folder = join(dataFolder, 'bookmarks')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().replaceAll(':', '-')}.json`)
  return {
    target: binding =>
      bookmarked(wranglerTarget(binding, ['--remote']), (name, bookmark) => {
        notes[name] = bookmark
        writeFileSync(file, `${JSON.stringify(notes, null, 2)}\n`)
      }),
    close: async () => {},
  }
}

/** Databases of pool.toml that are there. */
export const databasesThere = (remote: boolean): PoolDatabase[] =>
  readPool().filter(database => !remote || isMade(database))

/** Migrates the control database and these of the pool, and registers them. */
export async function prepareDatabases(
  place: DatabasePlace,
  databases: readonly PoolDatabase[],
  say: (line: string) => void,
): Promise<void> {
  const control = place.target('CONTROL')
  const applied = await prepareControl(control)
  if (applied.length > 0) say(`control database: ${applied.join(', ')}`)
  await prepareTenantDatabases(control, databases, place.target, progressBar(say))
}
