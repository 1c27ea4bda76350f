// Rows of tenants in the control database, and the claiming of databases. Every change is one batch, which fails on a constraint
// when its condition is not met: the name is taken (tenant_name is unique), no database is free (shard.binding is not null), or
// the tenant has changed (tenant.generation is not null).
import { and, count, eq, inArray, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import { noCalls } from '../platform/calls.ts'
import { REQUIRED_TENANT_MIGRATION } from '../platform/database/migrations.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'
import { allowedOrigins, pool, shards, tenants } from '../platform/tenancy/control-tables.ts'
import type { Place } from '../platform/tenancy/places.ts'
import {
  type Tenant,
  type TenantRow,
  type TenantScope,
  tenantOfRows,
  tenantsQuery,
} from '../platform/tenancy.ts'

/** For new and recreated tenants. */
const SHARDS_OF_A_TENANT = 1

/** A digit locator has room for this many (kernel/locators.ts). */
export const MOST_SHARDS = 64

/** A database ahead of the code serves too, since migrations only expand (docs/design.md, section 6). */
const claimable = sql`${pool.state} = 'free' and ${pool.migration} >= ${REQUIRED_TENANT_MIGRATION} and ${pool.place} = ${tenants.place}`

export type NewRow = typeof tenants.$inferInsert

/** All or nothing. A deleted tenant gives up its name. */
export const insertTenantQueries = (
  database: Database,
  row: NewRow,
  shards = SHARDS_OF_A_TENANT,
): Query[] => [
  database.build.delete(tenants).where(and(eq(tenants.name, row.name), eq(tenants.status, 'deleted'))),
  database.build.insert(tenants).values(row),
  ...claimQueries(database, row.locator, { from: 0, to: shards, opensAt: 0 }),
]

/** A time that never comes: shards must be filled before they get policyholders. */
export const NOT_OPEN = 8_640_000_000_000_000 as Instant

/** Fails when the tenant has changed. The new shards are not open yet. */
export const addShardsQueries = (database: Database, tenant: Tenant, shards: number): Query[] => [
  database.build
    .update(tenants)
    .set({
      generation: sql`case when ${tenants.generation} = ${tenant.generation} and ${tenants.status} = 'active' and (${shardsOf(database, tenant.locator)}) = ${tenant.shards.length} then ${tenants.generation} end`,
    })
    .where(eq(tenants.locator, tenant.locator)),
  ...claimQueries(database, tenant.locator, { from: tenant.shards.length, to: shards, opensAt: NOT_OPEN }),
]

/** Opens the shards that `addShardsQueries` added, for new policyholders from `opensAt` on. Shards that have a time keep it. */
export const openShardsQuery = (
  database: Database,
  { locator, shards: open }: Pick<Tenant, 'locator' | 'shards'>,
  opensAt: Instant,
): Query =>
  database.build
    .update(shards)
    .set({ opensAt })
    .where(
      and(
        eq(shards.tenantLocator, locator),
        eq(shards.opensAt, NOT_OPEN),
        inArray(shards.binding, [...open]),
      ),
    )

const shardsOf = (database: Database, locator: string) =>
  database.build.select({ shards: count() }).from(shards).where(eq(shards.tenantLocator, locator))

/** Fails when the tenant has changed. The old databases are returned. */
export const recreateTenantQueries = (database: Database, tenant: Tenant, at: Instant): Query[] => [
  ...returnQueries(database, tenant.locator, at),
  database.build
    .update(tenants)
    .set({
      generation: sql`case when ${tenants.generation} = ${tenant.generation} and ${tenants.status} = 'active' then ${tenants.generation} + 1 end`,
      tokenEpoch: sql`${tenants.tokenEpoch} + 1`,
      clockOffsetMs: 0,
      autofill: {},
      formerUnits: null,
    })
    .where(eq(tenants.locator, tenant.locator)),
  ...claimQueries(database, tenant.locator, { from: 0, to: SHARDS_OF_A_TENANT, opensAt: 0 }),
]

/** Keeps the row, so that its tokens are known to be void. */
export const deleteTenantQueries = (database: Database, locator: Uuid, at: Instant): Query[] => [
  ...returnQueries(database, locator, at),
  database.build
    .update(tenants)
    .set({ status: 'deleted', tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
    .where(eq(tenants.locator, locator)),
  forgetOriginsQuery(database, locator),
]

const bindingsOf = (database: Database, locator: string) =>
  database.build.select({ binding: shards.binding }).from(shards).where(eq(shards.tenantLocator, locator))

/** Run it before the tenant's row changes: the generation names its files in R2. */
const returnQueries = (database: Database, locator: string, at: Instant): Query[] => [
  database.build
    .update(pool)
    .set({
      state: 'returned',
      returnedAt: at,
      formerTenant: locator,
      formerGeneration: sql`(select ${tenants.generation} from ${tenants} where ${tenants.locator} = ${locator})`,
    })
    .where(inArray(pool.binding, bindingsOf(database, locator))),
  database.build.delete(shards).where(eq(shards.tenantLocator, locator)),
]

/** Shard numbers: `from` inclusive, `to` exclusive. */
type NewShards = { readonly from: number; readonly to: number; readonly opensAt: number }

/** Claims nothing for a tenant that no longer exists. */
const claimQueries = (database: Database, locator: string, { from, to, opensAt }: NewShards): Query[] =>
  Array.from({ length: to - from }, (_, at) => [
    database.build.run(sql`
      insert into ${shards} (tenant_locator, number, binding, opens_at, claimed_at)
      select ${tenants.locator}, ${from + at}, (
        select ${pool.binding} from ${pool} where ${claimable} order by ${pool.binding} limit 1
      ), ${opensAt}, cast(unixepoch('subsec') * 1000 as integer) from ${tenants} where ${tenants.locator} = ${locator} and ${tenants.status} = 'active'`),
    database.build
      .update(pool)
      .set({ state: 'claimed' })
      .where(inArray(pool.binding, bindingsOf(database, locator))),
  ]).flat()

/** Replaces the tenant's origins in one batch. An origin that is listed twice fails it. The caller then calls `forgetTenants`. */
export const putAllowedOrigins = (
  database: Database,
  tenantLocator: Uuid,
  origins: readonly string[],
): Promise<unknown> =>
  database.batch([
    database.build.update(tenants).set({ allowedOrigins: origins }).where(eq(tenants.locator, tenantLocator)),
    forgetOriginsQuery(database, tenantLocator),
    ...origins.map(origin => database.build.insert(allowedOrigins).values({ origin, tenantLocator })),
  ])

/** Sets whether agents may use `/mcp`. Takes one round trip. The caller then calls `forgetTenants`. */
export const putAgentAccess = (
  database: Database,
  tenantLocator: Uuid,
  allowsAgents: boolean,
): Promise<unknown> =>
  database.batch([
    database.build.update(tenants).set({ allowsAgents }).where(eq(tenants.locator, tenantLocator)),
  ])

const forgetOriginsQuery = (database: Database, locator: Uuid): Query =>
  database.build.delete(allowedOrigins).where(eq(allowedOrigins.tenantLocator, locator))

/**
 * Sets how far the tenant's clock is ahead, unless it is already further ahead: the clock never moves back. Returns the offset in
 * force, or nothing for production tenants, or if the tenant was recreated or deleted meanwhile.
 */
export const clockQuery = (database: Database, { locator, generation }: TenantScope, offsetMs: number) =>
  database.build
    .update(tenants)
    .set({ clockOffsetMs: sql`max(${tenants.clockOffsetMs}, ${offsetMs})` })
    .where(
      and(
        eq(tenants.locator, locator),
        eq(tenants.generation, generation),
        eq(tenants.status, 'active'),
        eq(tenants.type, 'test'),
      ),
    )
    .returning({ clockOffsetMs: tenants.clockOffsetMs })

/**
 * Ends the tenant's tokens, since they have a lower epoch than the one that it returns. Returns no row if there is no such
 * tenant.
 */
export const revokeTokensQuery = (database: Database, locator: Uuid) =>
  database.build
    .update(tenants)
    .set({ tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
    .where(eq(tenants.locator, locator))
    .returning({ tokenEpoch: tenants.tokenEpoch })

/** Null `claimedAt`: not stored at the time. Null `bytes`: not measured yet. `createdAt` is the tenant's. */
export type Claim = {
  readonly claimedAt: number | null
  readonly bytes: number | null
  readonly createdAt: number
  /** Why the database could not be migrated (upgrades.ts). */
  readonly problem: string | null
}

/** Returns the claims in the order of the tenant's shards. */
export async function claimsOf(env: Env, locator: Uuid): Promise<Claim[]> {
  const database = openDatabase(env.CONTROL, noCalls())
  const [claims] = await database.batch([
    database.build
      .select({
        claimedAt: shards.claimedAt,
        bytes: shards.bytes,
        createdAt: tenants.createdAt,
        problem: pool.problem,
      })
      .from(shards)
      .innerJoin(tenants, eq(tenants.locator, shards.tenantLocator))
      .leftJoin(pool, eq(pool.binding, shards.binding))
      .where(eq(shards.tenantLocator, locator))
      .orderBy(shards.number),
  ])
  return claims
}

const MINUTE_MS = 60_000

/** Selects tenants by minute: each active tenant that is served has one turn in this many minutes. */
export const tenantsOfMinuteQuery = (database: Database, at: Instant, minutes: number) =>
  tenantsQuery(
    database,
    sql`tenant.rowid % ${minutes} = ${Math.floor(at / MINUTE_MS) % minutes} and ${tenants.suspension} is null and ${tenants.formerUnits} is null`,
  )

/** Selects an active tenant, with a row for each of its databases. `readTenants` reads them. */
export const tenantQuery = (database: Database, locator: string) =>
  tenantsQuery(database, eq(tenants.locator, locator))

/** Builds the tenants from rows of `tenantsQuery`, and keeps their order. */
export const readTenants = (rows: readonly TenantRow[]): Tenant[] =>
  [...Map.groupBy(rows, ({ tenant }) => tenant.locator).values()].flatMap(
    ofTenant => tenantOfRows(ofTenant) ?? [],
  )

/** `behind` counts databases that lack a migration. */
export const poolQuery = (database: Database, place: Place) =>
  database.build
    .select({
      state: pool.state,
      databases: sql<number>`count(*)`,
      behind: sql<number>`total(${pool.migration} < ${REQUIRED_TENANT_MIGRATION})`,
    })
    .from(pool)
    .where(eq(pool.place, place))
    .groupBy(pool.state)

/** A database that waits to be wiped. */
type ReturnedDatabase = { binding: string; place: Place; returnedAt: Instant; former: TenantScope }

/** Random order, so that a slow database does not delay the others. See `readReturned`. */
export const returnedQuery = (database: Database, most: number) =>
  database.build.select().from(pool).where(eq(pool.state, 'returned')).orderBy(sql`random()`).limit(most)

/** Reads a row of `returnedQuery`. In other states the columns are null. */
export const readReturned = (row: typeof pool.$inferSelect): ReturnedDatabase => ({
  binding: row.binding,
  place: row.place,
  returnedAt: row.returnedAt as Instant,
  former: { locator: row.formerTenant as Uuid, generation: row.formerGeneration! },
})

/** Checks that the database was not freed, or returned again, since. */
const isStillReturned = ({ binding, returnedAt }: ReturnedDatabase) =>
  and(eq(pool.binding, binding), eq(pool.state, 'returned'), eq(pool.returnedAt, returnedAt))

/** Returns a row while the database waits to be wiped, and none once it was freed, even if it was returned again since. */
export const isReturnedQuery = (database: Database, returned: ReturnedDatabase) =>
  database.build.select({ binding: pool.binding }).from(pool).where(isStillReturned(returned))

/** Returns nothing if it was freed meanwhile. */
export const freeQuery = (database: Database, returned: ReturnedDatabase) =>
  database.build
    .update(pool)
    .set({ state: 'free', returnedAt: null, formerTenant: null, formerGeneration: null })
    .where(isStillReturned(returned))
