// Where the databases are that a command works on: this machine's, or the provider's through its tool.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MigrationTarget } from '../src/platform/database/migrations.ts'
import { bookmarked, bookmarkReader } from './bookmarks.ts'
import { prepareDataFolder } from './data-folder.ts'
import { type Environment, environmentFolder } from './environments.ts'
import { openLocalDatabases } from './local-databases.ts'
import { isMade, type PoolDatabase, readPool } from './pool-file.ts'
import { prepareControl, prepareTenantDatabases } from './prepare-databases.ts'
import { type Progress, progressBar } from './progress.ts'
import { readSecrets, readSettings } from './settings.ts'
import { remoteTarget, toolFor } from './wrangler.ts'

export type DatabasePlace = {
  target(binding: string): MigrationTarget
  /** Databases of pool.toml that are there. */
  registered(): Promise<PoolDatabase[]>
  /** Makes what is missing on this machine, then migrates and registers the databases. */
  prepare(databases: readonly PoolDatabase[], progress: Progress, mayBeOlder?: boolean): Promise<void>
  close(): Promise<void>
}

/**
 * The environment's databases, with a Time Travel bookmark of each noted in the data folder before it is first changed; or
 * those of the data folder.
 */
export async function openDatabasePlace(environment: Environment | undefined): Promise<DatabasePlace> {
  const { dataFolder } = readSettings(process.env, readSecrets())
  prepareDataFolder(dataFolder)
  if (!environment) return openLocalDatabases(dataFolder)
  if (!environment.controlId)
    throw new Error(`${environment.name} has no control database yet: npm run deploy makes it.`)
  const tool = toolFor(environment)
  const notes: Record<string, string> = {}
  const folder = join(dataFolder, 'bookmarks')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${environment.name}-${new Date().toISOString().replaceAll(':', '-')}.json`)
  const note = (name: string, bookmark: string): void => {
    notes[name] = bookmark
    writeFileSync(file, `${JSON.stringify(notes, null, 2)}\n`)
  }
  const target = (binding: string): MigrationTarget =>
    bookmarked(remoteTarget(tool, binding), note, bookmarkReader(tool))
  return {
    target,
    registered: async () => readPool(environmentFolder(environment.name)).filter(isMade),
    prepare: (databases, progress, mayBeOlder) =>
      prepareTenantDatabases(target('CONTROL'), databases, target, progress, mayBeOlder),
    close: async () => {},
  }
}

/** Migrates the control database and these of the pool, and registers them. `mayBeOlder`: than they are registered to be. */
export async function prepareDatabases(
  place: DatabasePlace,
  databases: readonly PoolDatabase[],
  say: (line: string) => void,
  mayBeOlder = false,
): Promise<void> {
  const applied = await prepareControl(place.target('CONTROL'))
  if (applied.length > 0) say(`control database: ${applied.join(', ')}`)
  await place.prepare(databases, progressBar(say), mayBeOlder)
}
