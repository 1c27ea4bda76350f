// Every tenant-scoped value (database, R2 key, object name, cache key, queue message) is made here, from the
// signed-in tenant and never from a path or a body alone (docs/design.md, section 6).

import { and, eq, type SQL, sql } from 'drizzle-orm'
import { notFound, Refusal } from '../kernel/errors.ts'
import { type DigitLocator, readUuid, shardOfDigits, shardOfUuid, type Uuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from './calls.ts'
import { NEWEST_TENANT_MIGRATION } from './database/migrations.ts'
import { type Database, openDatabase } from './database.ts'
import type { AutofillOperations, Restore, Suspension } from './tenancy/control-tables.ts'
import * as control from './tenancy/control-tables.ts'
import { type FenceRow, type FenceStatement, setFence } from './tenancy/fence.ts'
import { bucketBinding, type Place } from './tenancy/places.ts'
import { noRoom, type Quotas } from './tenancy/quotas.ts'
import { type Shared, Snapshots } from './tenancy/snapshots.ts'

export type TenantType = 'test' | 'production'

/** A tenant as the control database knows it; plain data, so that it crosses to Durable Objects as it is. */
export type Tenant = {
  readonly locator: Uuid
  readonly name: string
  readonly hostName: string
  readonly type: TenantType
  readonly generation: number
  readonly tokenEpoch: number
  readonly versioned: boolean
  /** How far its clock is ahead of the real one: see `tenantNow`. 0 but for test tenants. */
  readonly clockOffsetMs: number
  /** What fills requests in (PUT /integrations/autofill); known with the tenant, so that no request looks it up. */
  readonly autofill?: AutofillOperations
  /** Whether it has, or ever had, tables as resources. */
  readonly hasTables: boolean
  /** Origins of pages that may read answers, e.g. `https://portal.example`; absent for none. */
  readonly allowedOrigins?: readonly string[]
  /** Its own limits, beside those for all tenants (platform/tenancy/quotas.ts); absent where it has none. */
  readonly quotas?: Quotas
  /** Where its databases, objects and files lie. Empty: anywhere. */
  readonly place: Place
  /** Why it is not served; absent while it is. */
  readonly suspension?: Suspension
  /** Every restore of its databases, oldest first; absent for none. */
  readonly restores?: readonly Restore[]
  /** Bindings of its databases; the index is the shard's number. */
  readonly shards: readonly string[]
  /** For the same shards, from when on new policyholders come into each; absent where all are open to them. */
  readonly opensAt?: readonly Instant[]
  /** For the same shards, from when on no new policyholders come into each; absent where they come into all. */
  readonly closesAt?: readonly (Instant | null)[]
  /** Whether one of them waits for a migration: then none is opened (docs/design.md, section 6). */
  readonly isBehind: boolean
}

/**
 * The time in the tenant. Test tenants move their clock forward (POST /test/clock) and it runs on from there, so
 * whatever is a fact of the tenant's business has this time: what requests and policies take for now, timestamps
 * of records and events, due times of timers. What protects or serves the outside world has the real time,
 * `now()`: tokens and signed links, leases and retries of deliveries, records of idempotency, caches, alarms,
 * and what belongs to the platform rather than to a tenant (deploys, the pool of databases).
 */
export const tenantNow = ({ clockOffsetMs }: Pick<Tenant, 'clockOffsetMs'>): Instant =>
  (now() + clockOffsetMs) as Instant

/** How long an isolate trusts what it read of a tenant (docs/design.md, section 1). */
export const TENANT_TRUST_MS = 5_000

/** After a change of a tenant, every isolate knows it, and what began before has mostly ended. */
export const KNOWN_EVERYWHERE_MS = 2 * TENANT_TRUST_MS

/** Accounts whose tokens were revoked lately, with the epoch that their tokens must have (access/revocation.ts). */
type Revocations = ReadonlyMap<string, number>

/** What tokens are checked against. */
type TenantAccess = { readonly tenant: Tenant | undefined; readonly revocations: Revocations }

const snapshots = new Snapshots<TenantAccess>(10_000, TENANT_TRUST_MS)

/** Shared are only tenants that exist and are asked for by their locator, which never names another. One machine has one isolate. */
const sharedAccess = ({ ENVIRONMENT }: Env, key: TenantKey): Shared<TenantAccess> | undefined =>
  'locator' in key && ENVIRONMENT !== 'local'
    ? {
        url: `https://tenants.${ENVIRONMENT}.invalid/${encodeURIComponent(key.locator)}`,
        text: ({ tenant, revocations }) =>
          tenant && JSON.stringify({ tenant, revocations: [...revocations] }),
        read(text) {
          const { tenant, revocations } = JSON.parse(text)
          return { tenant, revocations: new Map(revocations) }
        },
      }
    : undefined

export const controlDatabase = (env: Env, calls: Calls): Database => openDatabase(env.CONTROL, calls)

export type TenantKey = { locator: string } | { name: string } | { hostName: string }

/** Forgets what this isolate knows of tenants; called after a change of one. */
export function forgetTenants(): void {
  snapshots.forget()
  origins.forget()
}

/** The active tenant of that locator, name or host name, read at most every 5 s in an isolate; else undefined. */
export const findTenant = async (env: Env, key: TenantKey, calls: Calls): Promise<Tenant | undefined> =>
  (await findTenantAccess(env, key, calls)).tenant

/** As `findTenant`, with what was revoked, in the same round trip. `isStale`: the control database does not answer. */
export async function findTenantAccess(
  env: Env,
  key: TenantKey,
  calls: Calls,
): Promise<TenantAccess & { readonly isStale: boolean }> {
  const { value, isStale, isRenewed } = await snapshots.find(
    JSON.stringify(key),
    () => readTenantAccess(env, key, calls),
    sharedAccess(env, key),
  )
  if (isRenewed) calls.renewed += 1
  return { ...value, isStale }
}

/** What was revoked of administration accounts, which have no tenant; read at most every 5 s in an isolate. */
export const findAdministrationAccess = async (env: Env, calls: Calls): Promise<Revocations> =>
  (await findTenantAccess(env, { locator: ADMINISTRATION }, calls)).revocations

/** Stands in the place of a tenant's locator where there is none. */
export const ADMINISTRATION = ''

const origins = new Snapshots<boolean>(1_000, TENANT_TRUST_MS)

/** Whether any tenant lists the origin (PUT /tenant/allowedOrigins); read at most every 5 s in an isolate. */
export async function isOriginListed(env: Env, origin: string, calls: Calls): Promise<boolean> {
  const database = controlDatabase(env, calls)
  const { allowedOrigins } = control
  const listed = database.build
    .select()
    .from(allowedOrigins)
    .where(eq(allowedOrigins.origin, origin))
    .limit(1)
  const { value } = await origins.find(origin, async () => {
    const [rows] = await database.batch([listed])
    return rows.length > 0
  })
  return value
}

/** As `findTenant`, but always from the database. */
export const readTenant = async (env: Env, key: TenantKey, calls: Calls): Promise<Tenant | undefined> =>
  (await readTenantAccess(env, key, calls)).tenant

/** Active tenants by name, with a row for each database. */
export const tenantsQuery = (database: Database, where?: SQL) =>
  database.build
    .select({
      tenant: control.tenants,
      binding: control.shards.binding,
      opensAt: control.shards.opensAt,
      closesAt: control.shards.closesAt,
      migration: control.pool.migration,
    })
    .from(control.tenants)
    .innerJoin(control.shards, eq(control.shards.tenantLocator, control.tenants.locator))
    .leftJoin(control.pool, eq(control.pool.binding, control.shards.binding))
    .where(and(eq(control.tenants.status, 'active'), where))
    .orderBy(control.tenants.name, control.shards.number)

async function readTenantAccess(env: Env, key: TenantKey, calls: Calls): Promise<TenantAccess> {
  const database = controlDatabase(env, calls)
  const { tenants, revocations } = control
  const which =
    'locator' in key
      ? eq(tenants.locator, key.locator)
      : 'name' in key
        ? eq(tenants.name, key.name)
        : eq(tenants.hostName, key.hostName)
  const [rows, revoked] = await database.batch([
    tenantsQuery(database, which),
    database.build
      .select({ accountLocator: revocations.accountLocator, epoch: revocations.epoch })
      .from(revocations)
      .where(
        sql`${revocations.tenantLocator} in (${ADMINISTRATION}, (select ${tenants.locator} from ${tenants} where ${which}))`,
      ),
  ])
  return {
    tenant: tenantOfRows(rows),
    revocations: new Map(revoked.map(({ accountLocator, epoch }) => [accountLocator, epoch])),
  }
}

/** A tenant and one of its databases, with its newest migration: null when the pool does not know the database. */
export type TenantRow = Awaited<ReturnType<typeof tenantsQuery>>[number]

/** The tenant of its rows, which are in the order of its shards; undefined for none. */
export function tenantOfRows(rows: readonly TenantRow[]): Tenant | undefined {
  const [first] = rows
  if (!first) return undefined
  const { status, operation, isWaking, createdAt, ...row } = first.tenant
  const { locator, autofill, allowedOrigins, quotas, suspension, restores, ...kept } = row
  const opensAt = rows.map(row => row.opensAt as Instant)
  const closesAt = rows.map(row => row.closesAt as Instant | null)
  return {
    ...kept,
    locator: locator as Uuid,
    ...(Object.keys(autofill).length > 0 && { autofill }),
    ...(allowedOrigins.length > 0 && { allowedOrigins }),
    ...(Object.keys(quotas).length > 0 && { quotas }),
    ...(suspension && { suspension }),
    ...(restores.length > 0 && { restores }),
    shards: rows.map(({ binding }) => binding),
    ...(opensAt.some(at => at > 0) && { opensAt }),
    ...(closesAt.some(at => at !== null) && { closesAt }),
    isBehind: rows.some(({ migration }) => migration === null || migration < NEWEST_TENANT_MIGRATION),
  }
}

/** Seconds after which a database that waits for a migration, or for a deploy of its binding, may have it. */
const READY_WITHIN_SECONDS = 30

const tenantBehind = (message: string): Refusal =>
  new Refusal('tenantBehind', message, {}, READY_WITHIN_SECONDS)

/** The database of one of the tenant's shards; 503 while the tenant is suspended, or behind the code's schema. */
export function shardDatabase(env: Env, tenant: Tenant, shard: number, calls: Calls): Database {
  requireServed(tenant)
  if (tenant.isBehind)
    throw tenantBehind(`The database of the tenant '${tenant.name}' waits for a migration; try again later.`)
  const { client, binding } = shardClient(env, tenant, shard)
  return openDatabase(client, calls, binding, {
    tenant,
    settle: row => settleFence(env, tenant, shard, row, calls),
  })
}

/** The binding of a shard; 503 where the Worker does not have it yet. */
export function shardClient(
  env: Env,
  { shards }: Pick<Tenant, 'shards'>,
  shard: number,
): { client: D1Database; binding: string } {
  const binding = shards[shard] ?? ''
  const client = boundDatabase(env, binding)
  if (!client) throw tenantBehind(`Database ${binding} of the tenant is not bound yet; try again.`)
  return { client, binding }
}

/** The database of that binding, where the Worker has it. */
export const boundDatabase = (env: Env, binding: string): D1Database | undefined =>
  (env as unknown as Record<string, D1Database | undefined>)[binding]

/** Refuses (503 `tenantSuspended`, 421 `tenantMoved`) what is asked of a tenant that is not served. */
export function requireServed({ name, suspension }: Pick<Tenant, 'name' | 'suspension'>): void {
  if (suspension?.state === 'moved')
    throw new Refusal('tenantMoved', `The tenant '${name}' is not served here any more: ${suspension.reason}`)
  if (suspension)
    throw new Refusal(
      'tenantSuspended',
      `The tenant '${name}' is suspended: ${suspension.reason}`,
      {},
      READY_WITHIN_SECONDS,
    )
}

/**
 * What a database's fence says is not what this isolate knew of the tenant, so the control database is asked. A database of the tenant
 * that has no fence gets one; all else is refused.
 */
async function settleFence(
  env: Env,
  tenant: Tenant,
  shard: number,
  row: FenceRow | undefined,
  calls: Calls,
): Promise<void> {
  forgetTenants()
  const known = await readTenant(env, { locator: tenant.locator }, calls)
  if (known) requireServed(known)
  const { client, binding } = shardClient(env, tenant, shard)
  const isTenants = known?.generation === tenant.generation && known.shards[shard] === binding
  if (!row && isTenants) return await sendFence(openDatabase(client, calls), setFence(known, 'serving'))
  throw new Refusal(
    'unavailable',
    `The tenant '${tenant.name}' has just been changed by its operator; send the request again.`,
    {},
    1,
  )
}

/** Carries out a statement on the fence of a database. */
export async function sendFence(database: Database, { sql: text, params }: FenceStatement): Promise<void> {
  await database.batch([database.effect(text, ...params)])
}

/** The database of the tenant's home shard, for a request: accounts, resources, integrations. */
export const homeDatabase = ({ env, tenant, calls }: TenantPlace): Database =>
  shardDatabase(env, tenant, HOME_SHARD, calls)

/** A tenant with what is needed to reach its databases. */
export type TenantPlace = { readonly env: Env; readonly tenant: Tenant; readonly calls: Calls }

/** Shard 0 holds accounts, resources, audit and webhooks. */
export const HOME_SHARD = 0

/** The shard that a digit locator lies in; 404 when the tenant has no such shard. */
export function shardOfPolicy(tenant: Tenant, locator: DigitLocator): number {
  const shard = shardOfDigits(locator)
  if (shard >= tenant.shards.length) throw notFound('policy', String(locator))
  return shard
}

/** The shard that a UUID locator lies in; 404 (as `what`) when the tenant has no such shard. */
export function shardOfRecord(tenant: Tenant, locator: Uuid, what: string): number {
  const shard = shardOfUuid(locator)
  if (shard >= tenant.shards.length) throw notFound(what, locator)
  return shard
}

/** A record that a request names, and where it lies. */
export type RecordPlace = { readonly locator: Uuid; readonly shard: number; readonly database: Database }

/** Where the record of the UUID in a path lies; 404 (as `what`) for text that no record's locator can be. */
export function recordPlace({ env, tenant, calls }: TenantPlace, text: string, what: string): RecordPlace {
  const locator = readUuid(text)
  if (!locator) throw notFound(what, text)
  const shard = shardOfRecord(tenant, locator, what)
  return { locator, shard, database: shardDatabase(env, tenant, shard, calls) }
}

/** Shards that new policyholders come into at that time. */
export const openShards = (
  { shards, opensAt = [], closesAt = [] }: Pick<Tenant, 'shards' | 'opensAt' | 'closesAt'>,
  at: Instant,
): number[] =>
  shards.flatMap((_, shard) =>
    (opensAt[shard] ?? 0) <= at && at < (closesAt[shard] ?? Number.POSITIVE_INFINITY) ? [shard] : [],
  )

/**
 * The shard for a new policyholder: the one that its locator will tell. Spread by chance over those that are open; 507 where none is.
 */
export function shardForNewPolicyholder(tenant: Tenant, at: Instant = now()): number {
  const open = openShards(tenant, at)
  if (open.length === 0) throw noRoom(tenant)
  return open.length === 1 ? open[0]! : open[crypto.getRandomValues(new Uint8Array(1))[0]! % open.length]!
}

/** A tenant as it was until it was recreated or deleted; what is named by it is never used again. */
export type TenantScope = Pick<Tenant, 'locator' | 'generation'>

export const scope = ({ locator, generation }: TenantScope): string => `${locator}/${generation}`

/** The bucket of the tenant's files: within its jurisdiction where it has one; 503 until that is bound. */
export function tenantFiles(env: Env, { place }: Pick<Tenant, 'place'>): R2Bucket {
  const bucket = boundBucket(env, place)
  if (bucket) return bucket
  throw tenantBehind(
    `The bucket ${bucketBinding(place)} is not bound; docs/operate.md says how a jurisdiction is opened.`,
  )
}

/** The bucket for files of a place, where the Worker has it. */
export const boundBucket = (env: Env, place: Place): R2Bucket | undefined =>
  (env as unknown as Record<string, R2Bucket | undefined>)[bucketBinding(place)]

/** Name of a tenant's file in R2. */
export const fileKey = (tenant: Tenant, ...path: string[]): string => [scope(tenant), ...path].join('/')

/** What the names of all files of a tenant begin with. */
export const filesPrefix = (tenant: TenantScope): string => `${scope(tenant)}/`

/** What a sealed value of a tenant is bound to (platform/sealed). */
export const sealedPlace = fileKey

/** How often objects with an alarm look at a suspended tenant. */
export const SUSPENDED_LOOK_MS = 60_000

/** What a queue message and a Durable Object's memory call a shard of a tenant. */
export type ShardName = { tenantLocator: Uuid; generation: number; shard: number }

export const shardName = ({ locator: tenantLocator, generation }: Tenant, shard: number): ShardName => ({
  tenantLocator,
  generation,
  shard,
})

/** The tenant that a shard name stands for; undefined when it is gone, suspended, or has been recreated since. */
export async function servedTenantOfShard(env: Env, name: ShardName, calls: Calls = noCalls()) {
  const tenant = await tenantOfShard(env, name, calls)
  return tenant?.suspension ? undefined : tenant
}

/** The tenant that a shard name stands for, suspended or not; undefined when it is gone or has been recreated since. */
export async function tenantOfShard(env: Env, name: ShardName, calls: Calls = noCalls()) {
  const tenant = await findTenant(env, { locator: name.tenantLocator }, calls)
  return tenant?.generation === name.generation && name.shard < tenant.shards.length ? tenant : undefined
}
