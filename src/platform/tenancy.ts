// Builds every value that belongs to a tenant (database, R2 key, object name, cache key, queue message), always from the signed-in
// tenant and never from a path or body alone (docs/design.md, section 6).

import { and, eq, type SQL, sql } from 'drizzle-orm'
import { notFound, Refusal, tokenRevoked } from '../kernel/errors.ts'
import { type DigitLocator, readUuid, shardOfDigits, shardOfUuid, type Uuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from './calls.ts'
import {
  BOOKS,
  DEPLOYMENT_LOG,
  IDENTITY_PROVIDERS,
  NOTES,
  RECORD_LOOKUPS,
  REQUIRED_TENANT_MIGRATION,
  ROLES,
  SHARED_EVENT_ROWS,
} from './database/migrations.ts'
import { type Database, openDatabase } from './database.ts'
import type { AutofillOperations, Restore, Suspension } from './tenancy/control-tables.ts'
import * as control from './tenancy/control-tables.ts'
import { type FenceRow, type FenceStatement, setFence } from './tenancy/fence.ts'
import { FORMER_UNITS } from './tenancy/former-units.ts'
import { bucketBinding, type Place } from './tenancy/places.ts'
import { noRoom, type Quotas } from './tenancy/quotas.ts'
import { type Shared, Snapshots } from './tenancy/snapshots.ts'

export type TenantType = 'test' | 'production'

/** A tenant as read from the control database. Plain data that can be sent to Durable Objects. */
export type Tenant = {
  readonly locator: Uuid
  readonly name: string
  readonly hostName: string
  readonly type: TenantType
  readonly generation: number
  readonly tokenEpoch: number
  readonly versioned: boolean
  /** Milliseconds by which its clock is ahead of real time (`tenantNow`). 0 except for test tenants. */
  readonly clockOffsetMs: number
  /** From PUT /integrations/autofill; loaded with the tenant, so that requests need no look-up. */
  readonly autofill?: AutofillOperations
  /** Whether it has, or ever had, tables as resources. */
  readonly hasTables: boolean
  /** Origins of pages that may read responses, e.g. `https://portal.example`. Absent for none. */
  readonly allowedOrigins?: readonly string[]
  /** Whether software agents may use /mcp. Absent: only those of a test tenant (agents/door.ts). */
  readonly allowsAgents?: boolean
  /** The tenant's own limits (platform/tenancy/quotas.ts). Absent for none. */
  readonly quotas?: Quotas
  /** Location of its databases, objects and files. Empty: anywhere. */
  readonly place: Place
  /** Absent while the tenant is served. */
  readonly suspension?: Suspension
  /** Oldest first. Absent for none. */
  readonly restores?: readonly Restore[]
  /** Bindings of its databases by shard number. */
  readonly shards: readonly string[]
  /** By shard: the time from which it accepts new policyholders. Absent if all accept them already. */
  readonly opensAt?: readonly Instant[]
  /** By shard: the time from which it accepts no new policyholders. Absent if all accept them. */
  readonly closesAt?: readonly (Instant | null)[]
  /** Whether a database waits for a migration. No database of the tenant is then opened (docs/design.md, section 6). */
  readonly isBehind: boolean
  /** Whether every database supports rows of several events (events/rows.ts). */
  readonly sharesEventRows?: boolean
  /** Whether all its databases have the tables of the books (policy/tables/journal.ts). Nothing is journalled until then. */
  readonly keepsBooks?: boolean
  /** Whether all its databases have the table of notes (servicing/notes/tables.ts). */
  readonly keepsNotes?: boolean
  /** Whether all its databases have the tables of identity providers (access/tables.ts). */
  readonly keepsProviders?: boolean
  /** Whether all its databases have the tables of roles (access/tables.ts). */
  readonly keepsRoles?: boolean
  /** Whether all its databases have the table of the deployment log (product/tables.ts). */
  readonly keepsDeploymentLog?: boolean
  /** Whether all its databases have the index of invoices by number (policy/tables/billing.ts). */
  readonly indexesInvoiceNumbers?: boolean
}

/**
 * Returns the time in the tenant. Test tenants move their clock forward (POST /test/clock), and it runs on from there.
 *
 * Facts of the tenant's business use it: the current time of requests and policies, timestamps of records and events, due times of
 * timers. Everything that protects or serves the outside world uses real time, `now()`: tokens and signed links, leases and
 * retries of deliveries, idempotency records, caches, alarms, and the platform's own operations (deploys, free databases).
 */
export const tenantNow = ({ clockOffsetMs }: Pick<Tenant, 'clockOffsetMs'>): Instant =>
  (now() + clockOffsetMs) as Instant

/** Whether software agents are allowed. By default, test tenants allow them and production tenants do not. */
export const agentsAreAllowed = ({ allowsAgents, type }: Pick<Tenant, 'allowsAgents' | 'type'>): boolean =>
  allowsAgents ?? type === 'test'

/** How long an isolate trusts what it has read of a tenant (docs/design.md, section 1). */
export const TENANT_TRUST_MS = 5_000

/** After this time, every isolate knows of a change to a tenant, and most earlier requests have ended. */
export const KNOWN_EVERYWHERE_MS = 2 * TENANT_TRUST_MS

/** Accounts with recently revoked tokens, and the epoch that their tokens must have (access/revocation.ts). */
type Revocations = ReadonlyMap<string, number>

type TenantAccess = { readonly tenant: Tenant | undefined; readonly revocations: Revocations }

const snapshots = new Snapshots<TenantAccess>(10_000, TENANT_TRUST_MS)

/** Shares a tenant between isolates: only by locator, which never names another tenant. A local service has one isolate. */
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

/** Opens the control database. Its round trips are in `calls.d1` and also in `calls.control`. */
export function controlDatabase(env: Env, calls: Calls): Database {
  const database = openDatabase(env.CONTROL, calls)
  return {
    ...database,
    batch(queries) {
      calls.control += 1
      return database.batch(queries)
    },
  }
}

export type TenantKey = { locator: string } | { name: string } | { hostName: string }

/** Drops all cached tenants. Call it after every change to a tenant. */
export function forgetTenants(): void {
  snapshots.forget()
  origins.forget()
}

/** Finds an active tenant by locator, name or host name, or undefined. An isolate reads it at most every 5 s. */
export const findTenant = async (env: Env, key: TenantKey, calls: Calls): Promise<Tenant | undefined> =>
  (await findTenantAccess(env, key, calls)).tenant

/** Like `findTenant`, with revocations in the same round trip. `isStale`: the control database does not respond. */
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

/** Used instead of a tenant's locator where there is no tenant. */
export const ADMINISTRATION = ''

const origins = new Snapshots<boolean>(1_000, TENANT_TRUST_MS)

/**
 * Whether any tenant lists the origin (PUT /tenant/allowedOrigins). An isolate reads it at most every 5 s. Callers choose the
 * origin, so `admit` runs before a read and throws to reject it.
 */
export async function isOriginListed(
  env: Env,
  origin: string,
  calls: Calls,
  admit: () => Promise<void>,
): Promise<boolean> {
  if (!origins.knows(origin)) await admit()
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

/** Like `findTenant`, but always reads the database. */
export const readTenant = async (env: Env, key: TenantKey, calls: Calls): Promise<Tenant | undefined> =>
  (await readTenantAccess(env, key, calls)).tenant

/** Builds a query for active tenants by name, with a row for each database. */
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

function isTenant(key: TenantKey): SQL {
  const { tenants } = control
  if ('locator' in key) return eq(tenants.locator, key.locator)
  return 'name' in key ? eq(tenants.name, key.name) : eq(tenants.hostName, key.hostName)
}

async function readTenantAccess(env: Env, key: TenantKey, calls: Calls): Promise<TenantAccess> {
  const database = controlDatabase(env, calls)
  const { tenants, revocations } = control
  const which = isTenant(key)
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

/** A tenant and one of its databases with its newest migration, which is null when the pool does not know the database. */
export type TenantRow = Awaited<ReturnType<typeof tenantsQuery>>[number]

/** Builds a tenant from its `rows`, which must be in the order of the shards. Returns undefined if there are none. */
export function tenantOfRows(rows: readonly TenantRow[]): Tenant | undefined {
  const [first] = rows
  if (!first) return undefined
  const { status, operation, isWaking, createdAt, formerUnits, suspension: stored, ...row } = first.tenant
  const { locator, autofill, allowedOrigins, allowsAgents, quotas, restores, ...kept } = row
  const suspension = formerUnits && stored?.state !== 'moved' ? FORMER_UNITS : stored
  const opensAt = rows.map(row => row.opensAt as Instant)
  const closesAt = rows.map(row => row.closesAt as Instant | null)
  const have = (name: string): boolean => rows.every(({ migration }) => (migration ?? '') >= name)
  return {
    ...kept,
    locator: locator as Uuid,
    ...(Object.keys(autofill).length > 0 && { autofill }),
    ...(allowedOrigins.length > 0 && { allowedOrigins }),
    ...(allowsAgents !== null && { allowsAgents }),
    ...(Object.keys(quotas).length > 0 && { quotas }),
    ...(suspension && { suspension }),
    ...(restores.length > 0 && { restores }),
    shards: rows.map(({ binding }) => binding),
    ...(opensAt.some(at => at > 0) && { opensAt }),
    ...(closesAt.some(at => at !== null) && { closesAt }),
    isBehind: !have(REQUIRED_TENANT_MIGRATION),
    ...(have(SHARED_EVENT_ROWS) && { sharesEventRows: true }),
    ...(have(BOOKS) && { keepsBooks: true }),
    ...(have(NOTES) && { keepsNotes: true }),
    ...(have(IDENTITY_PROVIDERS) && { keepsProviders: true }),
    ...(have(ROLES) && { keepsRoles: true }),
    ...(have(DEPLOYMENT_LOG) && { keepsDeploymentLog: true }),
    ...(have(RECORD_LOOKUPS) && { indexesInvoiceNumbers: true }),
  }
}

/** When a database that waits for a migration, or a deployed binding, may be ready. */
const READY_WITHIN_SECONDS = 30

const tenantBehind = (message: string): Refusal =>
  new Refusal('tenantBehind', message, {}, READY_WITHIN_SECONDS)

/** Opens a database. Throws 503 while the tenant is suspended or its schema is older than the code needs. */
export function shardDatabase(env: Env, tenant: Tenant, shard: number, calls: Calls): Database {
  requireServed(tenant)
  if (tenant.isBehind)
    throw tenantBehind(`The database of the tenant '${tenant.name}' is not migrated yet; try again later.`)
  const { client, binding } = shardClient(env, tenant, shard)
  return openDatabase(client, calls, binding, {
    tenant,
    hasAccounts: shard === HOME_SHARD,
    resolveMismatch: row => resolveFenceMismatch(env, tenant, shard, row, calls),
  })
}

/** Throws 503 until the Worker has the binding. */
export function shardClient(
  env: Env,
  { shards }: Pick<Tenant, 'shards'>,
  shard: number,
): { client: D1Database; binding: string } {
  const binding = shards[shard] ?? ''
  const client = boundDatabase(env, binding)
  if (!client) throw tenantBehind(`The database ${binding} of the tenant is not bound yet; try again.`)
  return { client, binding }
}

/** Returns undefined until the Worker has the binding. */
export const boundDatabase = (env: Env, binding: string): D1Database | undefined =>
  (env as unknown as Record<string, D1Database | undefined>)[binding]

/** Throws 503 `tenantSuspended` or 421 `tenantMoved`. */
export function requireServed({ name, suspension }: Pick<Tenant, 'name' | 'suspension'>): void {
  if (suspension?.state === 'moved')
    throw new Refusal('tenantMoved', `The tenant '${name}' is no longer served here: ${suspension.reason}`)
  if (suspension)
    throw new Refusal(
      'tenantSuspended',
      `The tenant '${name}' is suspended: ${suspension.reason}`,
      {},
      READY_WITHIN_SECONDS,
    )
}

/**
 * Resolves a fence that differs from what this isolate expects. Rejects a token that has ended; otherwise the control database decides.
 * Sets the fence of a tenant's database that has none, and rejects anything else.
 */
async function resolveFenceMismatch(
  env: Env,
  tenant: Tenant,
  shard: number,
  row: FenceRow | undefined,
  calls: Calls,
): Promise<void> {
  if (row?.is_revoked) throw tokenRevoked()
  forgetTenants()
  const known = await readTenant(env, { locator: tenant.locator }, calls)
  if (known) requireServed(known)
  const { client, binding } = shardClient(env, tenant, shard)
  const isTenants = known?.generation === tenant.generation && known.shards[shard] === binding
  if (!row && isTenants) return await sendFence(openDatabase(client, calls), setFence(known, 'serving'))
  throw new Refusal(
    'unavailable',
    `The operator has just changed the tenant '${tenant.name}'. Send the request again.`,
    {},
    1,
  )
}

/** Writes the fence in one round trip. `database` must be open without a fence, which might reject the write. */
export async function sendFence(database: Database, { sql: text, params }: FenceStatement): Promise<void> {
  await database.batch([database.rawQuery(text, ...params)])
}

/** Opens the database of accounts, resources and integrations. */
export const homeDatabase = ({ env, tenant, calls }: TenantPlace): Database =>
  shardDatabase(env, tenant, HOME_SHARD, calls)

/** Opens the databases of all shards, in their order. Makes no round trip. */
export const shardDatabases = ({ env, tenant, calls }: TenantPlace): Database[] =>
  tenant.shards.map((_, shard) => shardDatabase(env, tenant, shard, calls))

/** A tenant, and what is needed to reach its databases. */
export type TenantPlace = { readonly env: Env; readonly tenant: Tenant; readonly calls: Calls }

/** The shard of accounts, resources, audit and webhooks. */
export const HOME_SHARD = 0

/** Throws 404 when the tenant has no such shard. */
export function shardOfPolicy(tenant: Tenant, locator: DigitLocator): number {
  const shard = shardOfDigits(locator)
  if (shard >= tenant.shards.length) throw notFound('policy', String(locator))
  return shard
}

/** Throws 404 (naming `what`) when the tenant has no such shard. */
export function shardOfRecord(tenant: Tenant, locator: Uuid, what: string): number {
  const shard = shardOfUuid(locator)
  if (shard >= tenant.shards.length) throw notFound(what, locator)
  return shard
}

export type RecordPlace = { readonly locator: Uuid; readonly shard: number; readonly database: Database }

/** Throws 404 (naming `what`) for text that cannot be a record's locator. */
export function recordPlace({ env, tenant, calls }: TenantPlace, text: string, what: string): RecordPlace {
  const locator = readUuid(text)
  if (!locator) throw notFound(what, text)
  const shard = shardOfRecord(tenant, locator, what)
  return { locator, shard, database: shardDatabase(env, tenant, shard, calls) }
}

/** Returns the shards that accept new policyholders at `at`. */
export const openShards = (
  { shards, opensAt = [], closesAt = [] }: Pick<Tenant, 'shards' | 'opensAt' | 'closesAt'>,
  at: Instant,
): number[] =>
  shards.flatMap((_, shard) =>
    (opensAt[shard] ?? 0) <= at && at < (closesAt[shard] ?? Number.POSITIVE_INFINITY) ? [shard] : [],
  )

/** Picks a random open shard, which becomes part of the policyholder's locator. Throws 507 when none is open. */
export function shardForNewPolicyholder(tenant: Tenant, at: Instant = now()): number {
  const open = openShards(tenant, at)
  if (open.length === 0) throw noRoom(tenant)
  return open.length === 1 ? open[0]! : open[crypto.getRandomValues(new Uint8Array(1))[0]! % open.length]!
}

/** One generation of a tenant. It ends when the tenant is recreated or deleted, and its names are never reused. */
export type TenantScope = Pick<Tenant, 'locator' | 'generation'>
/** Returns the common beginning of the names of its objects and files: `locator/generation`. */
export const scope = ({ locator, generation }: TenantScope): string => `${locator}/${generation}`

/** Returns the bucket of the tenant's jurisdiction. Throws 503 until it is bound. */
export function tenantFiles(env: Env, { place }: Pick<Tenant, 'place'>): R2Bucket {
  const bucket = boundBucket(env, place)
  if (bucket) return bucket
  throw tenantBehind(
    `The bucket ${bucketBinding(place)} is not bound; docs/operate.md describes how to open a jurisdiction.`,
  )
}

/** Returns undefined until the Worker has the bucket. */
export const boundBucket = (env: Env, place: Place): R2Bucket | undefined =>
  (env as unknown as Record<string, R2Bucket | undefined>)[bucketBinding(place)]

/** Returns the key of a file in R2. The parts of `path` become its folders. */
export const fileKey = (tenant: Tenant, ...path: string[]): string => [scope(tenant), ...path].join('/')
export const filesPrefix = (tenant: TenantScope): string => `${scope(tenant)}/`

/** Binds a sealed value to its tenant (platform/sealed). */
export const sealedPlace = fileKey

/** Interval at which objects with an alarm check whether a suspended tenant is served again. */
export const SUSPENDED_LOOK_MS = 60_000

/** Names a shard in queue messages and in the storage of Durable Objects. */
export type ShardName = { tenantLocator: Uuid; generation: number; shard: number }

export const shardName = ({ locator: tenantLocator, generation }: Tenant, shard: number): ShardName => ({
  tenantLocator,
  generation,
  shard,
})

/** Returns undefined when the tenant is deleted, suspended, or recreated since. */
export async function servedTenantOfShard(env: Env, name: ShardName, calls: Calls = noCalls()) {
  const tenant = await tenantOfShard(env, name, calls)
  return tenant?.suspension ? undefined : tenant
}

/** Includes suspended tenants. Returns undefined when the tenant is deleted or recreated since. */
export async function tenantOfShard(env: Env, name: ShardName, calls: Calls = noCalls()) {
  const tenant = await findTenant(env, { locator: name.tenantLocator }, calls)
  return tenant?.generation === name.generation && name.shard < tenant.shards.length ? tenant : undefined
}
