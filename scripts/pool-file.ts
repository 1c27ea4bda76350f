// pool.toml: the databases that are bound to the Worker for tenants, on this machine or in the folder of an environment. Only
// this module writes it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPlace, type Place } from '../src/platform/tenancy/places.ts'
import { nameAtProvider } from './environments.ts'
import { replaceFile } from './replace-file.ts'

const POOL_FILE = 'pool.toml'

export type PoolDatabase = {
  /** Such as `TENANT_001`. */
  binding: string
  /** Such as `bindery-tenant-001`. At the provider `bindery-eu1-tenant-001` or, with its place, `bindery-eu1-tenant-002-eu`. */
  databaseName: string
  /** Where it is created. Empty for anywhere. */
  place: Place
  /** On this machine the id of the file. At the provider the id that it assigned, and before that an id of the local form. */
  databaseId: string
}

const LOCAL_ID = '00000000-0000-4000-8000-'

/** Whether the id is one of ours, which no provider assigns. */
const isLocalId = (id: string): boolean => id.startsWith(LOCAL_ID)

/** Returns the n-th database of the pool, on this machine or in an environment before the provider has created it. */
export function plannedDatabase(number: number, place: Place = '', environment?: string): PoolDatabase {
  const digits = String(number).padStart(3, '0')
  const what = `tenant-${digits}${place && `-${place}`}`
  return {
    binding: `TENANT_${digits}`,
    databaseName: environment === undefined ? `bindery-${what}` : nameAtProvider(environment, what),
    place,
    databaseId: `${LOCAL_ID}${String(number).padStart(12, '0')}`,
  }
}

/** Whether the database exists at the provider. */
export const isMade = (database: PoolDatabase): boolean => !isLocalId(database.databaseId)

/** Returns the databases that pool.toml lists, in its order. */
export function parsePool(text: string): PoolDatabase[] {
  return text
    .split('[[d1_databases]]')
    .slice(1)
    .map(section => {
      const value = (key: string): string | undefined =>
        section.match(new RegExp(`^${key} = "([^"]*)"`, 'm'))?.[1]
      const [binding, databaseName, databaseId] = ['binding', 'database_name', 'database_id'].map(value)
      if (!binding || !databaseName || !databaseId)
        throw new Error(`${POOL_FILE} has an incomplete entry:\n${section.trim()}`)
      return {
        binding,
        databaseName,
        place: placeOf(databaseName),
        databaseId,
      }
    })
}

/** Reads the place from the name, so that no second list of places can disagree with it. */
function placeOf(databaseName: string): Place {
  const place = databaseName.match(/-\d+-([a-z]+)$/)?.[1] ?? ''
  if (!isPlace(place)) throw new Error(`${POOL_FILE}: '${place}' in ${databaseName} is not a place.`)
  return place
}

export function formatPool(databases: readonly PoolDatabase[]): string {
  const sections = databases.map(database =>
    [
      '[[d1_databases]]',
      `binding = "${database.binding}"`,
      `database_name = "${database.databaseName}"`,
      `database_id = "${database.databaseId}"`,
    ].join('\n'),
  )
  return `# The pool of tenant databases. Written by \`npm run pool -- grow N\`; do not edit.\n\n${sections.join('\n\n')}\n`
}

/**
 * Returns the databases to add: first databases of that place that pool.toml lists and the control database does not know (from
 * an interrupted run, or never created at the provider), then new ones.
 */
export function databasesToAdd(
  listed: readonly PoolDatabase[],
  registered: ReadonlySet<string>,
  count: number,
  place: Place = '',
  environment?: string,
): PoolDatabase[] {
  const unfinished = listed.filter(database => database.place === place && !registered.has(database.binding))
  const fresh = Array.from({ length: Math.max(0, count - unfinished.length) }, (_, at) =>
    plannedDatabase(listed.length + at + 1, place, environment),
  )
  return [...unfinished.slice(0, count), ...fresh]
}

/** Reads the pool of this machine, or the pool in an environment's folder. Empty if there is no file yet. */
export function readPool(folder = '.'): PoolDatabase[] {
  const file = join(folder, POOL_FILE)
  return existsSync(file) ? parsePool(readFileSync(file, 'utf8')) : []
}

export const writePool = (databases: readonly PoolDatabase[], folder = '.'): void =>
  replaceFile(join(folder, POOL_FILE), formatPool(databases))
