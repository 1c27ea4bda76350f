import { createHash } from 'node:crypto'
import { eq, type SQL, sql } from 'drizzle-orm'
import { notFound } from '../kernel/errors.ts'
import { readUuid, type Uuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { type Guard, KEEP_WRITES_MS, takeFormerKey } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import { insertRows, putRows } from '../platform/database/rows.ts'
import { type Database, type Query, statement } from '../platform/database.ts'
import type { Position, ShardRows } from '../platform/paging.ts'
import { type Search, type SearchTerm, termMatches } from '../platform/search.ts'
import { noRoom } from '../platform/tenancy/quotas.ts'
import type { Tenant } from '../platform/tenancy.ts'
import { openShards, shardDatabase, shardForNewPolicyholder, shardOfRecord } from '../platform/tenancy.ts'
import { loadConfiguration, versionQuery } from '../product/cache.ts'
import { policyholders, policyholderTerms, policyholderVersions } from './tables.ts'
import { type Dictionary, NO_DICTIONARY, type Policyholder } from './values.ts'

const POLICYHOLDER = statement(build =>
  build
    .select()
    .from(policyholders)
    .where(eq(policyholders.locator, sql.placeholder('locator'))),
)

/** Selects the policyholder. No row if the database has no such policyholder. */
export const policyholderQuery = (database: Database, locator: Uuid) =>
  database.bind(POLICYHOLDER, { locator })

/** Fails the batch if the policyholder is not at the version that was read. */
export const versionGuard = ({ locator, version }: Policyholder): Guard => ({
  name: 'guard_policyholder_version',
  holds: sql`exists (select 1 from ${policyholders} where locator = ${locator} and version = ${version})`,
})

/** Inserts a policyholder and its search terms. A locator that exists fails the batch. */
export const insertQueries = (
  database: Database,
  policyholder: Policyholder,
  terms: readonly SearchTerm[],
): Query[] => [
  ...insertRows(database, policyholders, [policyholder]),
  ...putRows(database, policyholderTerms, termRows(policyholder, terms)),
]

/** Replaces the stored version and moves it to the earlier ones. */
export const updateQueries = (
  database: Database,
  policyholder: Policyholder,
  terms: readonly SearchTerm[],
): Query[] => {
  const { locator, version, completed, entity, updatedAt } = policyholder
  const keptTerms = JSON.stringify(terms.map(({ field, term }) => [field, term]))
  return [
    keepVersionQuery(database, locator, updatedAt),
    database.build
      .update(policyholders)
      .set({ version, completed, entity, updatedAt })
      .where(eq(policyholders.locator, locator)),
    database.build.run(
      sql`delete from ${policyholderTerms} where policyholder_locator = ${locator}
        and (field, term) not in (select value ->> 0, value ->> 1 from json_each(${keptTerms}))`,
    ),
    ...putRows(database, policyholderTerms, termRows(policyholder, terms)),
  ]
}

/** Copies the stored version to the earlier ones. */
export const keepVersionQuery = (database: Database, locator: Uuid, replacedAt: Instant): Query =>
  database.build.run(
    sql`insert into ${policyholderVersions} (policyholder_locator, version, completed, entity, replaced_at)
      select locator, version, completed, entity, ${replacedAt} from ${policyholders} where locator = ${locator}`,
  )

/** Selects the versions that were replaced after the time, earliest first, for `policyholderAt`. */
export const replacedVersionsQuery = (database: Database, locator: Uuid, after: Instant) =>
  database.build
    .select()
    .from(policyholderVersions)
    .where(
      sql`${policyholderVersions.policyholderLocator} = ${locator} and ${policyholderVersions.replacedAt} > ${after}`,
    )
    .orderBy(policyholderVersions.version)

/** Returns the policyholder as it was at a time: the first version that was replaced after it, with data overwritten since. */
export function policyholderAt(
  policyholder: Policyholder,
  replaced: readonly (typeof policyholderVersions.$inferSelect)[],
  at: Instant,
): Policyholder {
  const row = replaced.find(({ replacedAt }) => replacedAt > at)
  if (!row) return policyholder
  const { version, completed, entity } = row
  return { ...policyholder, version, completed, entity }
}

export const termRows = ({ locator }: Policyholder, terms: readonly SearchTerm[]) =>
  terms.map(term => ({ ...term, policyholderLocator: locator }))

/** The policyholders to list. A page is limited in rows and in characters. */
export type PageSelection = {
  /** Both times are exclusive. */
  createdAfter: Instant | undefined
  createdBefore: Instant | undefined
  search: Search | undefined
  position: Position<Uuid> | undefined
  pageSize: number
  /** Once the page has this many characters of JSON, no further row is added. */
  largest: number
}

/**
 * Selects at most one policyholder more than the page size. `found` exceeds the number of rows if `largest` omitted some. Finds the
 * page first, then its policyholders (`cross join` keeps that order). Otherwise SQLite would read them all.
 */
export function pageQuery(database: Database, selection: PageSelection) {
  const { createdAfter, createdBefore, search, position, pageSize, largest } = selection
  const conditions: SQL[] = [sql`true`]
  if (createdAfter !== undefined) conditions.push(sql`${policyholders.createdAt} > ${createdAfter}`)
  if (createdBefore !== undefined) conditions.push(sql`${policyholders.createdAt} < ${createdBefore}`)
  if (position)
    conditions.push(
      sql`(${policyholders.createdAt}, ${policyholders.locator}) > (${position.createdAt}, ${position.locator})`,
    )
  const found = sql`
    select ${policyholders.locator}, ${policyholders.createdAt}, length(${policyholders.entity}) as size
    from ${search ? foundByTerm(search) : policyholders} where ${sql.join(conditions, sql` and `)}
    order by ${policyholders.createdAt}, ${policyholders.locator} limit ${pageSize + 1}`
  const page = sql`(
    select locator, count(*) over () as found,
      sum(size) over (order by created_at, locator) - size as size_before from (${found})) as page`
  return database.build
    .select({ policyholder: policyholders, found: sql<number>`page.found`.as('found') })
    .from(page)
    .crossJoin(policyholders)
    .where(sql`${policyholders.locator} = page.locator and page.size_before < ${largest}`)
    .orderBy(policyholders.createdAt, policyholders.locator)
}

/** Reads the index first (`cross join` keeps the order), then the policyholders that it names. */
const foundByTerm = (search: Search): SQL => sql`(
    select distinct policyholder_locator from ${policyholderTerms} where ${termMatches(search)}) as hit
    cross join ${policyholders} on ${policyholders.locator} = hit.policyholder_locator`

type PageRow = { policyholder: Policyholder; found: number }

/** Converts a shard's rows. `found` is 0 for an empty page. */
export const readPage = (rows: readonly PageRow[]): ShardRows<Policyholder> => ({
  rows: rows.map(({ policyholder }) => policyholder),
  found: rows[0]?.found ?? 0,
})

/** Where a policyholder is stored. */
export type Place = { readonly locator: Uuid; readonly shard: number; readonly database: Database }

/** Throws 404 for text that cannot be a policyholder's locator. */
export function readLocator(text: string): Uuid {
  const locator = readUuid(text)
  if (!locator) throw notFound('policyholder', text)
  return locator
}

/** Returns where the policyholder is stored. The shard is part of its locator. Throws 404 if the tenant has no such shard. */
export function placeOf({ env, tenant, calls }: RequestContext, text: string): Place {
  const locator = readLocator(text)
  const shard = shardOfRecord(tenant, locator, 'policyholder')
  return { locator, shard, database: shardDatabase(env, tenant, shard, calls) }
}

/** Reads the policyholder in one round trip. */
export async function readStored({ database, locator }: Place): Promise<Policyholder> {
  const [rows] = await database.batch([policyholderQuery(database, locator)])
  return requireRow(rows, locator)
}

/** Loads the policyholder and the newest dictionary in one round trip. */
export async function loadPolicyholder(
  context: RequestContext,
  { database, locator }: Place,
): Promise<{ policyholder: Policyholder; dictionary: Dictionary }> {
  const [rows, versions] = await database.batch([
    policyholderQuery(database, locator),
    versionQuery(database, undefined),
  ])
  return { policyholder: requireRow(rows, locator), dictionary: await dictionaryOf(context, versions) }
}

/** Returns the only row. Throws 404 if the tenant has no such policyholder. */
export function requireRow(rows: readonly Policyholder[], locator: Uuid): Policyholder {
  if (!rows[0]) throw notFound('policyholder', locator)
  return rows[0]
}

/** Returns the dictionary of the version that `versionQuery` found, or `NO_DICTIONARY` without a configuration. */
export async function dictionaryOf(
  { env, tenant, calls }: RequestContext,
  [version]: readonly { readonly hash: string }[],
): Promise<Dictionary> {
  if (!version) return NO_DICTIONARY
  const { configuration } = await loadConfiguration(env, tenant, version.hash, calls)
  const { policyholderFields: fields, timeZone, resources } = configuration
  return { fields, timeZone, ...(resources && { resources }) }
}

/**
 * Chooses the shard of a new policyholder, or of a migration with everything that it contains. The choice is random, or derived
 * from the idempotency key so that a repeat finds the record of the first try. If the tenant's databases changed within the replay
 * period, the first try may be where the key led before. One extra round trip then looks there, and blocks a first try that is
 * still in progress.
 */
export async function shardForCreate(context: RequestContext): Promise<number> {
  const { env, tenant, idempotency, calls } = context
  if (!idempotency) return shardForNewPolicyholder(tenant)
  const at = now()
  const candidates = keyedShards(tenant, idempotency.key, at)
  const isOpen = openShards(tenant, at).length > 0
  const [chosen, earlier] = isOpen ? [candidates[0], candidates.slice(1)] : [undefined, candidates]
  const written = await Promise.all(
    earlier.map(async shard => {
      const former = await takeFormerKey(context, shardDatabase(env, tenant, shard, calls))
      return former === 'written' ? [shard] : []
    }),
  )
  const shard = written.flat()[0] ?? chosen
  if (shard === undefined) throw noRoom(tenant)
  return shard
}

/** Returns the shards to which the key leads now, and led while its repeats are still replayed; each shard once. */
export function keyedShards(
  tenant: Pick<Tenant, 'shards' | 'opensAt' | 'closesAt'>,
  key: string,
  at: Instant,
): number[] {
  const number = createHash('sha256').update(key).digest().readUInt32BE()
  const changed = [...(tenant.opensAt ?? []), ...(tenant.closesAt ?? [])].filter(
    time => time !== null && time <= at && time > at - KEEP_WRITES_MS,
  ) as Instant[]
  const times = [at, ...changed.sort((one, other) => other - one).map(time => (time - 1) as Instant)]
  const shards = times.flatMap(time => {
    const open = openShards(tenant, time)
    return open.length === 0 ? [] : [open[number % open.length]!]
  })
  return [...new Set(shards)]
}
