// Integrations: rows of the home shard, cached in the isolate's memory so that calls read them without a round trip.

import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import { Memo } from '../../kernel/maps.ts'
import { type Instant, isWithinLast, now } from '../../kernel/time.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import { seal, unseal } from '../../platform/sealed.ts'
import { homeDatabase, sealedPlace, type Tenant, type TenantPlace } from '../../platform/tenancy.ts'
import type { Connection, Integration, IntegrationType } from './integration.ts'
import { integrations } from './tables.ts'

/** How long an isolate trusts its cache. For this long after a change, calls may still go to the old address. */
const TRUST_MS = 5_000

const MOST_CACHED_TENANTS = 1_000

type Cached = { readonly byName: ReadonlyMap<string, Integration>; readonly readAt: Instant }

const cached = new Memo<string, Cached>(MOST_CACHED_TENANTS)

/** Reads all integrations by name, oldest first, in one round trip. */
export async function readIntegrations(context: TenantPlace): Promise<ReadonlyMap<string, Integration>> {
  const { env, tenant } = context
  const database = homeDatabase(context)
  const [rows] = await database.batch([
    database.build.select().from(integrations).orderBy(asc(integrations.createdAt), asc(integrations.name)),
  ])
  const read = await Promise.all(rows.map(row => integrationOf(env, tenant, row)))
  return new Map(read.map(one => [one.name, one]))
}

/** Integrations for calls. An isolate reads them at most every 5 s. */
export async function integrationsOf(context: TenantPlace): Promise<ReadonlyMap<string, Integration>> {
  const key = sealedPlace(context.tenant)
  const cachedEntry = cached.get(key)
  if (cachedEntry && isWithinLast(TRUST_MS, cachedEntry.readAt)) return cachedEntry.byName
  const byName = await readIntegrations(context)
  cached.set(key, { byName, readAt: now() })
  return byName
}

/** Makes this isolate read the integrations again. Call it after a change. */
export const forgetIntegrations = (tenant: Tenant): void => {
  cached.delete(sealedPlace(tenant))
}

type Row = typeof integrations.$inferSelect

const placeOf = (tenant: Tenant, locator: string): string => sealedPlace(tenant, 'integration', locator)

async function integrationOf(env: Env, tenant: Tenant, row: Row): Promise<Integration> {
  const connection = JSON.parse(await unseal(env, placeOf(tenant, row.locator), row.connection)) as Connection
  return {
    ...connection,
    locator: row.locator as Uuid,
    name: row.name,
    type: row.type,
    createdAt: row.createdAt as Instant,
    updatedAt: row.updatedAt as Instant,
  }
}

/** Seals the connection and stores the integration, in place of an earlier one with its locator. */
export async function putIntegration(
  { env, tenant }: TenantPlace,
  database: Database,
  { locator, name, type, createdAt, updatedAt, ...connection }: Integration,
): Promise<Query[]> {
  const sealed = await seal(env, placeOf(tenant, locator), JSON.stringify(connection))
  return putRows(database, integrations, [{ locator, name, type, connection: sealed, createdAt, updatedAt }])
}

export const deleteIntegration = (database: Database, locator: Uuid): Query =>
  database.build.delete(integrations).where(eq(integrations.locator, locator))

/** Raises the time of the existing integrations among `names`, changing nothing else, and returns their names. */
export async function touchIntegrations(
  database: Database,
  names: readonly string[],
  type: IntegrationType,
): Promise<string[]> {
  const [rows] = await database.batch([
    database.build
      .update(integrations)
      .set({ updatedAt: sql`${integrations.updatedAt} + 1` })
      .where(and(inArray(integrations.name, [...names]), eq(integrations.type, type)))
      .returning({ name: integrations.name }),
  ])
  return rows.map(({ name }) => name)
}

/** For the caller's batch. */
export const integrationNamesQuery = (database: Database, type: IntegrationType) =>
  database.build.select({ name: integrations.name }).from(integrations).where(eq(integrations.type, type))
