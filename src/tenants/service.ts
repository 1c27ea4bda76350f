// Creates, lists, recreates and deletes tenants. This changes only databases and never needs a deploy of the Worker
// (docs/design.md, section 6). Scripts call the same functions on Node.

import { revocationQueries } from '../access/revocation.ts'
import { hostNameOf, requireTenantName } from '../access/tenant-names.ts'
import { alreadyExists, invalidRequest, Refusal, versionConflict } from '../kernel/errors.ts'
import { newUuid, type Uuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from '../platform/calls.ts'
import type { Database, Query } from '../platform/database.ts'
import { webhooks } from '../platform/events/tables.ts'
import { revokedAccounts } from '../platform/tables.ts'
import { closeFence, raiseTokenEpoch, setFence } from '../platform/tenancy/fence.ts'
import { isJurisdiction, type Place } from '../platform/tenancy/places.ts'
import type { Quotas } from '../platform/tenancy/quotas.ts'
import {
  controlDatabase,
  forgetTenants,
  HOME_SHARD,
  KNOWN_EVERYWHERE_MS,
  shardDatabase,
  type Tenant,
  type TenantRow,
  type TenantType,
  tenantFiles,
  tenantsQuery,
} from '../platform/tenancy.ts'
import { addVersionsQuery, allVersionsQuery } from '../product/cache.ts'
import { copyQueries } from '../servicing/events/delivery/webhook-copies.ts'
import * as store from './store.ts'
import { changeTenant, runInEachDatabase, tenantNamed } from './suspension.ts'

type NewTenant = {
  name: string
  type: TenantType
  /** Rejects deployTest. Always true for production tenants. */
  versioned?: boolean
  /** Default: the place of the deployment (`PLACE`). */
  place?: Place
}

/** By then every isolate knows the opening, so that the key of a repeated request leads to the same shard everywhere. */
const OPENS_AFTER_MS = KNOWN_EVERYWHERE_MS

/** By then every isolate reads, searches and changes all shards. */
export const SHARDS_KNOWN_AFTER_MS = KNOWN_EVERYWHERE_MS

/** Two runs of the housekeeping: returned databases are usually wiped by then. */
const WIPED_WITHIN_SECONDS = 120

/**
 * Creates the tenant and claims its databases in one batch, with the audit entry. Rejects a name that is taken with 409, and one
 * that cannot be a host name with 400. Throws 503 if the place has no bucket, or its pool no free database with all migrations.
 */
export async function createTenant(
  env: Env,
  { name, type, versioned = false, place = env.PLACE as Place }: NewTenant,
  calls: Calls = noCalls(),
  audit: readonly Query[] = [],
): Promise<Tenant> {
  const locator = newUuid(HOME_SHARD)
  const database = controlDatabase(env, calls)
  tenantFiles(env, { place })
  const queries = store.insertTenantQueries(database, {
    locator,
    name: requireTenantName(name),
    hostName: hostNameOf(env, name),
    type,
    status: 'active',
    generation: 1,
    tokenEpoch: 1,
    versioned: versioned || type === 'production',
    place,
    formerUnits: null,
    createdAt: now(),
  })
  const tenant = await commitChange(database, [...queries, ...audit], { locator, name, place })
  await runInEachDatabase(env, tenant, setFence(tenant, 'serving'), calls)
  return tenant
}

/** Accepts a suspended tenant of another environment into `shards` empty databases. Throws the errors of `createTenant`. */
export async function admitTenant(env: Env, row: store.NewRow, shards: number): Promise<Tenant> {
  const calls = noCalls()
  const database = controlDatabase(env, calls)
  const { locator, name, place = '' } = row
  tenantFiles(env, { place })
  const tenant = await commitChange(database, store.insertTenantQueries(database, row, shards), {
    locator: locator as Uuid,
    name,
    place,
  })
  await runInEachDatabase(env, tenant, setFence(tenant, 'suspended'), calls)
  return tenant
}

/**
 * Gives the tenant new databases and raises its generation. Its tokens end, and the housekeeping wipes its data and its audit
 * trail. `audit` as for `createTenant`. Throws 409 when another request recreated or deleted it meanwhile, and 503 as
 * `createTenant` does.
 */
export async function recreateTenant(
  env: Env,
  tenant: Tenant,
  calls: Calls = noCalls(),
  audit: readonly Query[] = [],
): Promise<Tenant> {
  const database = controlDatabase(env, calls)
  const queries = store.recreateTenantQueries(database, tenant, now())
  const recreated = await commitChange(database, [...queries, ...audit], tenant)
  await runInEachDatabase(env, tenant, closeFence(tenant), calls)
  await runInEachDatabase(env, recreated, setFence(recreated, 'serving'), calls)
  return recreated
}

/** Deletes the tenant. Throws 404 if no tenant has that name. Its databases are wiped later and are free again. */
export async function deleteTenant(env: Env, name: string): Promise<void> {
  const calls = noCalls()
  const tenant = await tenantNamed(env, name, calls)
  const database = controlDatabase(env, calls)
  await database.batch(store.deleteTenantQueries(database, tenant.locator, now()) as [Query, ...Query[]])
  forgetTenants()
  await runInEachDatabase(env, tenant, closeFence(tenant), calls)
}

/**
 * Adds databases to the tenant up to `shards`, for new policyholders. Existing records stay where they are. The new shards get no
 * policyholder until the caller calls `openNewShards`, after `SHARDS_KNOWN_AFTER_MS`, when every isolate knows them. Throws 404
 * when there is no such tenant, 400 for fewer shards than it has or more than locators allow, 409 when it changed meanwhile, and
 * 503 as `createTenant` does.
 */
export async function addShards(
  env: Env,
  name: string,
  shards: number,
  calls: Calls = noCalls(),
): Promise<Tenant> {
  const tenant = await tenantNamed(env, name, calls)
  const has = tenant.shards.length
  if (shards < has || shards > store.MOST_SHARDS)
    throw invalidRequest(
      `The tenant '${name}' has ${has} shards and can have up to ${store.MOST_SHARDS}. Databases that hold data are never removed.`,
    )
  const database = controlDatabase(env, calls)
  const grown = await commitChange(database, store.addShardsQueries(database, tenant, shards), tenant)
  await runInEachDatabase(env, { shards: grown.shards.slice(has) }, setFence(grown, 'serving'), calls)
  return grown
}

/** Whether shards wait for `openNewShards`. */
export const hasNewShards = ({ opensAt = [] }: Pick<Tenant, 'opensAt'>): boolean =>
  opensAt.includes(store.NOT_OPEN)

/**
 * Copies the shared rows to the tenant's new shards, and opens them for policyholders at a time when every isolate knows it. Call
 * it after `SHARDS_KNOWN_AFTER_MS`: the isolate that changes shared rows copies the change to the shards that it knows, so it
 * must know the new ones. A repeat changes nothing. Throws 404 as `addShards` does.
 */
export async function openNewShards(env: Env, name: string): Promise<Tenant> {
  const calls = noCalls()
  const tenant = await tenantNamed(env, name, calls)
  const { opensAt = [] } = tenant
  const closed = opensAt.flatMap((at, shard) => (at === store.NOT_OPEN ? [shard] : []))
  await fillShards(env, tenant, closed, calls)
  const database = controlDatabase(env, calls)
  const opening = store.openShardsQuery(database, tenant, (now() + OPENS_AFTER_MS) as Instant)
  return commitChange(database, [opening], tenant)
}

/** Returns active tenants, by name. */
export async function listTenants(env: Env): Promise<Tenant[]> {
  const database = controlDatabase(env, noCalls())
  const [rows] = await database.batch([tenantsQuery(database)])
  return store.readTenants(rows)
}

/** Gives the tenant versions, which cannot be undone (resources brief 10.5). */
export const makeVersioned = (env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<void> =>
  changeTenant(env, tenant, { versioned: true }, calls)

/** Throws 404 if no tenant has that name. */
export async function setQuotas(env: Env, name: string, quotas: Quotas): Promise<void> {
  const calls = noCalls()
  const tenant = await tenantNamed(env, name, calls)
  await changeTenant(env, tenant, { quotas }, calls)
}

/** Ends all tokens of the tenant: immediately for access to its databases, and everywhere within 5 s. */
export async function revokeTokens(env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<void> {
  const database = controlDatabase(env, calls)
  const [[row]] = await database.batch([store.revokeTokensQuery(database, tenant.locator)])
  forgetTenants()
  if (row) await runInEachDatabase(env, tenant, raiseTokenEpoch({ ...tenant, ...row }), calls)
}

async function commitChange(
  database: Database,
  queries: readonly Query[],
  { locator, name, place }: Pick<Tenant, 'locator' | 'name' | 'place'>,
): Promise<Tenant> {
  try {
    const all: Query[] = [...queries, store.tenantQuery(database, locator)]
    const results: unknown[] = await database.batch(all as [Query, ...Query[]])
    const [tenant] = store.readTenants(results.at(-1) as TenantRow[])
    if (!tenant) throw tenantChangedConflict(name)
    return tenant
  } catch (problem) {
    throw await refusalFor(database, { name, place }, problem)
  } finally {
    forgetTenants()
  }
}

const tenantChangedConflict = (name: string): Refusal =>
  versionConflict(
    `The tenant '${name}' was recreated or deleted by another request at the same time. Send the request again.`,
  )

/** Finds out which constraint failed the batch. */
async function refusalFor(
  database: Database,
  { name, place }: Pick<Tenant, 'name' | 'place'>,
  problem: unknown,
): Promise<unknown> {
  const { message, cause } = problem as Error
  const text = `${message} ${String(cause ?? '')}`
  if (/UNIQUE constraint failed: tenant\.(?:name|host_name)/.test(text))
    return alreadyExists(`A tenant '${name}' already exists.`)
  if (text.includes('NOT NULL constraint failed: tenant.generation')) return tenantChangedConflict(name)
  if (!text.includes('NOT NULL constraint failed: shard.binding')) return problem
  const [states] = await database.batch([store.poolQuery(database, place)])
  const behind = states.find(({ state }) => state === 'free')?.behind ?? 0
  if (behind > 0)
    return new Refusal(
      'tenantBehind',
      'The free tenant databases are not migrated yet. Run `npm run migrate`.',
      {},
      WIPED_WITHIN_SECONDS,
    )
  const returned = states.find(({ state }) => state === 'returned')?.databases ?? 0
  return new Refusal(
    'poolEmpty',
    `No tenant database is free${place && ` in '${place}'`}; \`npm run pool -- grow N${placeOptions(place)}\` adds N.${returned > 0 ? ` ${returned} ${returned === 1 ? 'is' : 'are'} being wiped and will be free in a few minutes.` : ''}`,
    {},
    WIPED_WITHIN_SECONDS,
  )
}

/** Returns arguments of `npm run pool -- grow N`. */
const placeOptions = (place: Place): string =>
  place && (isJurisdiction(place) ? ` --jurisdiction ${place}` : ` --location ${place}`)

/**
 * Copies the rows that every shard has in addition to its own policyholders from the home shard: the versions of the
 * configuration, which policies read in their own batch, the webhooks, from which the batch of an event creates its deliveries,
 * and the revoked accounts. A copy that another request made meanwhile is newer and is kept. Deleting a webhook removes its
 * copies.
 */
export async function fillShards(
  env: Env,
  tenant: Tenant,
  shards: readonly number[],
  calls: Calls,
): Promise<void> {
  if (shards.length === 0) return
  const home = shardDatabase(env, tenant, HOME_SHARD, calls)
  const [versions, hooks, revoked] = await home.batch([
    allVersionsQuery(home),
    home.build.select().from(webhooks),
    home.build.select().from(revokedAccounts),
  ])
  await Promise.all(
    shards.map(async shard => {
      const database = shardDatabase(env, tenant, shard, calls)
      const queries: Query[] = [
        ...addVersionsQuery(database, versions),
        ...hooks.flatMap(row => copyQueries(database, row, now())),
        ...revocationQueries(database, revoked),
      ]
      await database.batch(queries as [Query, ...Query[]])
    }),
  )
}
