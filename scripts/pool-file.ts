// pool.toml: the databases that are bound to the Worker for tenants. Only this file writes it.
import { readFileSync } from 'node:fs'
import { isPlace, type Place } from '../src/platform/tenancy/places.ts'
import { replaceFile } from './replace-file.ts'

export const POOL_FILE = 'pool.toml'

export type PoolDatabase = {
  /** `TENANT_001`. */
  binding: string
  /** Name at the provider: `bindery-tenant-001`, and with its place `bindery-tenant-002-eu`. */
  databaseName: string
  /** Where it is made; empty for anywhere. */
  place: Place
  /** Id at the provider; that of the local file until it is made there. */
  databaseId: string
  /** Id of the local file, which stays the same when the provider gives the database another. */
  localId: string
}

const LOCAL_ID = '00000000-0000-4000-8000-'

/** Whether the id is one of our own, which no provider gives. */
export const isLocalId = (id: string): boolean => id.startsWith(LOCAL_ID)

/** The n-th database of the pool as it is before the provider knows it. */
export function plannedDatabase(number: number, place: Place = ''): PoolDatabase {
  const digits = String(number).padStart(3, '0')
  const localId = `${LOCAL_ID}${String(number).padStart(12, '0')}`
  return {
    binding: `TENANT_${digits}`,
    databaseName: `bindery-tenant-${digits}${place && `-${place}`}`,
    place,
    databaseId: localId,
    localId,
  }
}

/** Whether the database exists at the provider. */
export const isMade = (database: PoolDatabase): boolean => !isLocalId(database.databaseId)

/** What pool.toml lists, in its order. */
export function parsePool(text: string): PoolDatabase[] {
  return text
    .split('[[d1_databases]]')
    .slice(1)
    .map(section => {
      const value = (key: string): string | undefined =>
        section.match(new RegExp(`^${key} = "([^"]*)"`, 'm'))?.[1]
      const [binding, databaseName, databaseId] = ['binding', 'database_name', 'database_id'].map(value)
      if (!binding || !databaseName || !databaseId)
        throw new Error(`${POOL_FILE} has an entry that is not complete:\n${section.trim()}`)
      return {
        binding,
        databaseName,
        place: placeOf(databaseName),
        databaseId,
        localId: value('preview_database_id') ?? databaseId,
      }
    })
}

/** The name tells the place, so that no second list of it can be out of step. */
function placeOf(databaseName: string): Place {
  const place = databaseName.match(/-\d+-([a-z]+)$/)?.[1] ?? ''
  if (!isPlace(place)) throw new Error(`${POOL_FILE}: '${place}' in ${databaseName} is no place.`)
  return place
}

export function formatPool(databases: readonly PoolDatabase[]): string {
  const sections = databases.map(database =>
    [
      '[[d1_databases]]',
      `binding = "${database.binding}"`,
      `database_name = "${database.databaseName}"`,
      `database_id = "${database.databaseId}"`,
      ...(isMade(database) ? [`preview_database_id = "${database.localId}"`] : []),
    ].join('\n'),
  )
  return `# The pool of tenant databases. Written by \`npm run pool -- grow N\`; do not edit.\n\n${sections.join('\n\n')}\n`
}

/**
 * The databases to add: first those that pool.toml lists and the control database does not know (of an earlier
 * run that was cut off, or never made at the provider) in that place, then new ones.
 */
export function databasesToAdd(
  listed: readonly PoolDatabase[],
  registered: ReadonlySet<string>,
  count: number,
  place: Place = '',
): PoolDatabase[] {
  const unfinished = listed.filter(database => database.place === place && !registered.has(database.binding))
  const fresh = Array.from({ length: Math.max(0, count - unfinished.length) }, (_, at) =>
    plannedDatabase(listed.length + at + 1, place),
  )
  return [...unfinished.slice(0, count), ...fresh]
}

export const readPool = (): PoolDatabase[] => parsePool(readFileSync(POOL_FILE, 'utf8'))

export const writePool = (databases: readonly PoolDatabase[]): void =>
  replaceFile(POOL_FILE, formatPool(databases))
