// The control database's rows of tenants, and the claiming of databases. Every change is one batch in which a
// constraint trips when what it builds on is not so: the name is taken (tenant_name is unique), no database is
// free (shard.binding is not null), the tenant has moved on (tenant.generation is not null).
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { pool, shards, tenants } from '../platform/control-tables.ts'
import type { Database, Query } from '../platform/database.ts'
import type { Uuid } from '../platform/locators.ts'
import type { Tenant, TenantType } from '../platform/tenancy.ts'
import { NEWEST_TENANT_MIGRATION } from './newest-migration.ts'

export type TenantRow = typeof tenants.$inferInsert

/** Databases that a new or recreated tenant gets. */
const SHARDS_OF_A_TENANT = 1

/** A database that is ahead is as good: migrations only expand (docs/design.md, section 6). */
const claimable = sql`${pool.state} = 'free' and ${pool.migration} >= ${NEWEST_TENANT_MIGRATION}`

/** The tenant row and its databases, all or nothing. A deleted tenant gives its name up. */
export const insertTenantQueries = (database: Database, row: TenantRow): Query[] => [
  database.build.delete(tenants).where(and(eq(tenants.name, row.name), eq(tenants.status, 'deleted'))),
  database.build.insert(tenants).values(row),
  ...claimQueries(database, row.locator),
]

/** Fresh databases for a tenant that is still of this generation; the old ones are returned. */
export const recreateTenantQueries = (database: Database, tenant: Tenant): Query[] => [
  database.build
    .update(tenants)
    .set({
      generation: sql`case when ${tenants.generation} = ${tenant.generation} and ${tenants.status} = 'active' then ${tenants.generation} + 1 end`,
      tokenEpoch: sql`${tenants.tokenEpoch} + 1`,
    })
    .where(eq(tenants.locator, tenant.locator)),
  ...returnQueries(database, tenant.locator),
  ...claimQueries(database, tenant.locator),
]

/** The row stays, so that its tokens are known to be void; the databases are returned. */
export const deleteTenantQueries = (database: Database, locator: Uuid): Query[] => [
  database.build
    .update(tenants)
    .set({ status: 'deleted', tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
    .where(eq(tenants.locator, locator)),
  ...returnQueries(database, locator),
]

const bindingsOf = (database: Database, locator: string) =>
  database.build.select({ binding: shards.binding }).from(shards).where(eq(shards.tenantLocator, locator))

const returnQueries = (database: Database, locator: string): Query[] => [
  database.build
    .update(pool)
    .set({ state: 'returned' })
    .where(inArray(pool.binding, bindingsOf(database, locator))),
  database.build.delete(shards).where(eq(shards.tenantLocator, locator)),
]

/** Nothing is claimed for a tenant that is no more. */
const claimQueries = (database: Database, locator: string): Query[] =>
  Array.from({ length: SHARDS_OF_A_TENANT }, (_, number) => [
    database.build.run(sql`
      insert into ${shards} (tenant_locator, number, binding)
      select ${tenants.locator}, ${number}, (
        select ${pool.binding} from ${pool} where ${claimable} order by ${pool.binding} limit 1
      ) from ${tenants} where ${tenants.locator} = ${locator} and ${tenants.status} = 'active'`),
    database.build
      .update(pool)
      .set({ state: 'claimed' })
      .where(inArray(pool.binding, bindingsOf(database, locator))),
  ]).flat()

/** From now on deploys make versions, and it cannot be undone (resources brief 10.5). */
export const versionedQuery = (database: Database, locator: Uuid): Query =>
  database.build.update(tenants).set({ versioned: true }).where(eq(tenants.locator, locator))

/** Active tenants with a row for each of their databases, in the order of names. */
export const tenantsQuery = (database: Database, where?: SQL) =>
  database.build
    .select({ tenant: tenants, binding: shards.binding })
    .from(tenants)
    .innerJoin(shards, eq(shards.tenantLocator, tenants.locator))
    .where(and(eq(tenants.status, 'active'), where))
    .orderBy(tenants.name, shards.number)

export const tenantQuery = (database: Database, locator: string) =>
  tenantsQuery(database, eq(tenants.locator, locator))

export type TenantShardRow = { tenant: typeof tenants.$inferSelect; binding: string }

/** Tenants from the rows of `tenantsQuery`. */
export function readTenants(rows: readonly TenantShardRow[]): Tenant[] {
  const byLocator = Map.groupBy(rows, ({ tenant }) => tenant.locator)
  return [...byLocator.values()].map(joined => {
    const { locator, name, hostName, type, generation, tokenEpoch, versioned } = joined[0]!.tenant
    return {
      locator: locator as Uuid,
      name,
      hostName,
      type: type as TenantType,
      generation,
      tokenEpoch,
      versioned,
      shards: joined.map(({ binding }) => binding),
    }
  })
}

/** How many databases of the pool are in each state, and how many of the free ones lack a migration. */
export const poolQuery = (database: Database) =>
  database.build
    .select({
      state: pool.state,
      databases: sql<number>`count(*)`,
      behind: sql<number>`total(${pool.migration} < ${NEWEST_TENANT_MIGRATION})`,
    })
    .from(pool)
    .groupBy(pool.state)

/** Some databases that wait to be wiped, by chance, so that one that takes long keeps no other waiting. */
export const returnedQuery = (database: Database, most: number) =>
  database.build
    .select({ binding: pool.binding })
    .from(pool)
    .where(eq(pool.state, 'returned'))
    .orderBy(sql`random()`)
    .limit(most)

export const isReturnedQuery = (database: Database, binding: string) =>
  database.build
    .select({ binding: pool.binding })
    .from(pool)
    .where(and(eq(pool.binding, binding), eq(pool.state, 'returned')))

export const freeQuery = (database: Database, binding: string) =>
  database.build
    .update(pool)
    .set({ state: 'free' })
    .where(and(eq(pool.binding, binding), eq(pool.state, 'returned')))
