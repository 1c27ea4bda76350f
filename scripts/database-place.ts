// Where the databases are that a command works on: this machine's, or the provider's through its tool.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MigrationTarget } from '../src/platform/database/migrations.ts'
import { bookmarked } from './bookmarks.ts'
import { prepareDataFolder } from './data-folder.ts'
import { openLocalDatabases } from './local-databases.ts'
import { isMade, type PoolDatabase, readPool } from './pool-file.ts'
import { prepareControl, prepareTenantDatabases } from './prepare-databases.ts'
import { type Progress, progressBar } from './progress.ts'
import { readSecrets, readSettings } from './settings.ts'
import { wranglerTarget } from './wrangler.ts'
import { requireRemoteControl } from './write-config.ts'

export type DatabasePlace = {
  target(binding: string): MigrationTarget
  /** Databases of pool.toml that are there. */
  registered(): Promise<PoolDatabase[]>
  /** Makes what is missing on this machine, then migrates and registers the databases. */
  prepare(databases: readonly PoolDatabase[], progress: Progress): Promise<void>
  close(): Promise<void>
}

/**
 * The provider's databases, with a Time Travel bookmark of each noted in the data folder before it is first changed; or
 * those of the data folder.
 */
export async function openDatabasePlace(remote: boolean): Promise<DatabasePlace> {
  const { dataFolder } = readSettings(process.env, readSecrets())
  prepareDataFolder(dataFolder)
  if (!remote) return openLocalDatabases(dataFolder)
  requireRemoteControl()
  const notes: Record<string, string> = {}
  const folder = join(dataFolder, 'bookmarks')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().replaceAll(':', '-')}.json`)
  const target = (binding: string): MigrationTarget =>
    bookmarked(wranglerTarget(binding, ['--remote']), (name, bookmark) => {
      notes[name] = bookmark
      writeFileSync(file, `${JSON.stringify(notes, null, 2)}\n`)
    })
  return {
    target,
    registered: async () => readPool().filter(isMade),
    prepare: (databases, progress) => prepareTenantDatabases(target('CONTROL'), databases, target, progress),
    close: async () => {},
  }
}

/** Migrates the control database and these of the pool, and registers them. */
export async function prepareDatabases(
  place: DatabasePlace,
  databases: readonly PoolDatabase[],
  say: (line: string) => void,
): Promise<void> {
  const applied = await prepareControl(place.target('CONTROL'))
  if (applied.length > 0) say(`control database: ${applied.join(', ')}`)
  await place.prepare(databases, progressBar(say))
}
