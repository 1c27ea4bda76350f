// What an operation on policyholders needs to know: where one lies, what is stored, and the newest dictionary.
import { notFound } from '../kernel/errors.ts'
import { readUuid, type Uuid } from '../kernel/locators.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { shardDatabase, shardOfRecord } from '../platform/tenancy.ts'
import { loadConfiguration } from '../product/cache.ts'
import { versionQuery } from '../product/store.ts'
import { type Dictionary, NO_DICTIONARY, type Policyholder } from './policyholder.ts'
import { policyholderQuery, readPolicyholder } from './store.ts'

/** Where a policyholder lies. */
export type Place = { readonly locator: Uuid; readonly shard: number; readonly database: Database }

/** The place that a locator of a request tells; 404 for text that no policyholder's can be. */
export function placeOf({ env, tenant, calls }: RequestContext, text: string): Place {
  const locator = readUuid(text)
  if (!locator) throw notFound('policyholder', text)
  const shard = shardOfRecord(tenant, locator, 'policyholder')
  return { locator, shard, database: shardDatabase(env, tenant, shard, calls) }
}

/** The policyholder as it is stored: one round trip. */
export async function readStored({ database, locator }: Place): Promise<Policyholder> {
  const [rows] = await database.batch([policyholderQuery(database, locator)])
  return theOne(rows, locator)
}

/** The policyholder and the newest dictionary: one round trip. */
export async function loadPolicyholder(
  context: RequestContext,
  { database, locator }: Place,
): Promise<{ policyholder: Policyholder; dictionary: Dictionary }> {
  const [rows, versions] = await database.batch([
    policyholderQuery(database, locator),
    versionQuery(database, undefined),
  ])
  return { policyholder: theOne(rows, locator), dictionary: await dictionaryOf(context, versions) }
}

/** The only row; 404 when the tenant has no such policyholder. */
export function theOne(rows: readonly Parameters<typeof readPolicyholder>[0][], locator: Uuid): Policyholder {
  if (!rows[0]) throw notFound('policyholder', locator)
  return readPolicyholder(rows[0])
}

/** The dictionary of the version that `versionQuery` found; without configuration there is none. */
export async function dictionaryOf(
  { env, tenant, calls }: RequestContext,
  [version]: readonly { readonly hash: string }[],
): Promise<Dictionary> {
  if (!version) return NO_DICTIONARY
  const { configuration } = await loadConfiguration(env, tenant, version.hash, calls)
  const { policyholderFields: fields, timeZone, resources } = configuration
  return { fields, timeZone, ...(resources && { resources }) }
}
