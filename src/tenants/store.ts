// The control database's rows of tenants, and the claiming of databases. Every change is one batch in which a
// constraint trips when what it builds on is not so: the name is taken (tenant_name is unique), no database is
// free (shard.binding is not null), the tenant has moved on (tenant.generation is not null).
import { and, count, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import { pool, shards, tenants } from '../platform/control-tables.ts'
import type { Database, Query } from '../platform/database.ts'
import { NEWEST_TENANT_MIGRATION } from '../platform/migrations.ts'
import type { Place } from '../platform/places.ts'
import { type Tenant, type TenantRow, type TenantScope, tenantOfRows } from '../platform/tenancy.ts'

/** Databases that a new or recreated tenant gets. */
const SHARDS_OF_A_TENANT = 1

/** A digit locator has room for so many (kernel/locators.ts). */
export const MOST_SHARDS = 64

/** In the tenant's place. One that is ahead is as good: migrations only expand (docs/design.md, section 6). */
const claimable = sql`${pool.state} = 'free' and ${pool.migration} >= ${NEWEST_TENANT_MIGRATION} and ${pool.place} = ${tenants.place}`

/** The tenant row and its databases, all or nothing. A deleted tenant gives its name up. */
export const insertTenantQueries = (database: Database, row: typeof tenants.$inferInsert): Query[] => [
  database.build.delete(tenants).where(and(eq(tenants.name, row.name), eq(tenants.status, 'deleted'))),
  database.build.insert(tenants).values(row),
  ...claimQueries(database, row.locator, NEW_SHARDS),
]

/** Never, as a time that rows can have: of shards that no policyholder comes into before they are filled. */
export const NOT_OPEN = 8_640_000_000_000_000 as Instant

/** More databases for a tenant that has `tenant.shards` and is still of this generation, up to `shards`; not open yet. */
export const addShardsQueries = (database: Database, tenant: Tenant, shards: number): Query[] => [
  database.build
    .update(tenants)
    .set({
      generation: sql`case when ${tenants.generation} = ${tenant.generation} and ${tenants.status} = 'active' and (${shardsOf(database, tenant.locator)}) = ${tenant.shards.length} then ${tenants.generation} end`,
    })
    .where(eq(tenants.locator, tenant.locator)),
  ...claimQueries(database, tenant.locator, { from: tenant.shards.length, to: shards, opensAt: NOT_OPEN }),
]

/** Has new policyholders come into those of these shards that are not open yet, from `opensAt` on. */
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

/** Fresh databases for a tenant that is still of this generation; the old ones are returned. */
export const recreateTenantQueries = (database: Database, tenant: Tenant, at: Instant): Query[] => [
  ...returnQueries(database, tenant.locator, at),
  database.build
    .update(tenants)
    .set({
      generation: sql`case when ${tenants.generation} = ${tenant.generation} and ${tenants.status} = 'active' then ${tenants.generation} + 1 end`,
      tokenEpoch: sql`${tenants.tokenEpoch} + 1`,
      clockOffsetMs: 0,
      autofill: {},
    })
    .where(eq(tenants.locator, tenant.locator)),
  ...claimQueries(database, tenant.locator, NEW_SHARDS),
]

/** The row stays, so that its tokens are known to be void; the databases are returned. */
export const deleteTenantQueries = (database: Database, locator: Uuid, at: Instant): Query[] => [
  ...returnQueries(database, locator, at),
  database.build
    .update(tenants)
    .set({ status: 'deleted', tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
    .where(eq(tenants.locator, locator)),
]

const bindingsOf = (database: Database, locator: string) =>
  database.build.select({ binding: shards.binding }).from(shards).where(eq(shards.tenantLocator, locator))

/** Called before the tenant's row changes: the generation is that of the files in R2. */
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

/** Numbers of shards, from one and up to another, and from when on new policyholders come into them. */
type NewShards = { readonly from: number; readonly to: number; readonly opensAt: number }

const NEW_SHARDS: NewShards = { from: 0, to: SHARDS_OF_A_TENANT, opensAt: 0 }

/** Nothing is claimed for a tenant that is no more. */
const claimQueries = (database: Database, locator: string, { from, to, opensAt }: NewShards): Query[] =>
  Array.from({ length: to - from }, (_, at) => [
    database.build.run(sql`
      insert into ${shards} (tenant_locator, number, binding, opens_at)
      select ${tenants.locator}, ${from + at}, (
        select ${pool.binding} from ${pool} where ${claimable} order by ${pool.binding} limit 1
      ), ${opensAt} from ${tenants} where ${tenants.locator} = ${locator} and ${tenants.status} = 'active'`),
    database.build
      .update(pool)
      .set({ state: 'claimed' })
      .where(inArray(pool.binding, bindingsOf(database, locator))),
  ]).flat()

/** From now on deploys make versions, and it cannot be undone (resources brief 10.5). */
export const versionedQuery = (database: Database, locator: Uuid): Query =>
  database.build.update(tenants).set({ versioned: true }).where(eq(tenants.locator, locator))

/** Sets what the tenant is to have of its own. */
export const setSettings = (
  database: Database,
  locator: Uuid,
  settings: Partial<Pick<typeof tenants.$inferInsert, 'allowedOrigins' | 'quotas'>>,
): Promise<unknown> =>
  database.batch([database.build.update(tenants).set(settings).where(eq(tenants.locator, locator))])

/**
 * Sets how far the tenant's clock is ahead, unless it is further already, and tells the offset that holds; nothing
 * when the tenant has been recreated or deleted. Only test tenants have such a clock.
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

/** Ends every token of the tenant that was issued until now. */
export const revokeTokensQuery = (database: Database, locator: Uuid): Query =>
  database.build
    .update(tenants)
    .set({ tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
    .where(eq(tenants.locator, locator))

/** Active tenants with a row for each of their databases, in the order of names. */
export const tenantsQuery = (database: Database, where?: SQL) =>
  database.build
    .select({ tenant: tenants, binding: shards.binding, opensAt: shards.opensAt, migration: pool.migration })
    .from(tenants)
    .innerJoin(shards, eq(shards.tenantLocator, tenants.locator))
    .leftJoin(pool, eq(pool.binding, shards.binding))
    .where(and(eq(tenants.status, 'active'), where))
    .orderBy(tenants.name, shards.number)

export const tenantQuery = (database: Database, locator: string) =>
  tenantsQuery(database, eq(tenants.locator, locator))

/** Tenants from the rows of `tenantsQuery`. */
export const readTenants = (rows: readonly TenantRow[]): Tenant[] =>
  [...Map.groupBy(rows, ({ tenant }) => tenant.locator).values()].flatMap(of => tenantOfRows(of) ?? [])

/** How many databases of a place are in each state, and how many of the free ones lack a migration. */
export const poolQuery = (database: Database, place: Place) =>
  database.build
    .select({
      state: pool.state,
      databases: sql<number>`count(*)`,
      behind: sql<number>`total(${pool.migration} < ${NEWEST_TENANT_MIGRATION})`,
    })
    .from(pool)
    .where(eq(pool.place, place))
    .groupBy(pool.state)

/** A database that waits to be wiped. */
export type ReturnedDatabase = { binding: string; place: Place; returnedAt: Instant; former: TenantScope }

/** Some of them by chance, so that one that takes long keeps no other waiting; see `readReturned`. */
export const returnedQuery = (database: Database, most: number) =>
  database.build.select().from(pool).where(eq(pool.state, 'returned')).orderBy(sql`random()`).limit(most)

export const readReturned = (row: typeof pool.$inferSelect): ReturnedDatabase => ({
  binding: row.binding,
  place: row.place,
  returnedAt: row.returnedAt as Instant,
  former: { locator: row.formerTenant as Uuid, generation: row.formerGeneration! },
})

/** Whether the database still waits since that return, and not since a later one. */
const isStillReturned = ({ binding, returnedAt }: ReturnedDatabase) =>
  and(eq(pool.binding, binding), eq(pool.state, 'returned'), eq(pool.returnedAt, returnedAt))

export const isReturnedQuery = (database: Database, returned: ReturnedDatabase) =>
  database.build.select({ binding: pool.binding }).from(pool).where(isStillReturned(returned))

/** Nothing when it was freed meanwhile, whatever has become of it since. */
export const freeQuery = (database: Database, returned: ReturnedDatabase) =>
  database.build
    .update(pool)
    .set({ state: 'free', returnedAt: null, formerTenant: null, formerGeneration: null })
    .where(isStillReturned(returned))
