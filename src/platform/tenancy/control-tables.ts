// Tables of the platform's own database, which never contains tenant data (docs/design.md, section 6).
import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { PLACES } from './places.ts'
import type { Quotas } from './quotas.ts'

export const tenants = sqliteTable(
  'tenant',
  {
    locator: text().primaryKey(),
    name: text().notNull(),
    hostName: text().notNull(),
    type: text({ enum: ['test', 'production'] }).notNull(),
    status: text({ enum: ['active', 'deleted'] }).notNull(),
    /** Rises when a test tenant is recreated. Part of every name derived from the tenant. */
    generation: integer().notNull(),
    /** Tokens of an earlier epoch are rejected. */
    tokenEpoch: integer().notNull(),
    /** Whether deploys create new versions. A tenant created by deployTest starts with false. */
    versioned: integer({ mode: 'boolean' }).notNull(),
    /** Milliseconds ahead of real time. Only test tenants move their clock. */
    clockOffsetMs: integer().notNull().default(0),
    /** Integration calls by operation. Stored here so that they are loaded with the tenant. */
    autofill: text({ mode: 'json' }).$type<AutofillOperations>().notNull().default(sql`'{}'`),
    /** Whether the tenant has, or ever had, tables as resources. Rating loads them only then. */
    hasTables: integer({ mode: 'boolean' }).notNull().default(false),
    /** Origins of pages that may read its responses (PUT /tenant/allowedOrigins). */
    allowedOrigins: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** Whether software agents may use /mcp (PUT /tenant/agentAccess). Null: only those of a test tenant. */
    allowsAgents: integer({ mode: 'boolean' }),
    /** Set by `npm run tenant -- quota`. */
    quotas: text({ mode: 'json' }).$type<Quotas>().notNull().default(sql`'{}'`),
    /** Location of its databases, objects and files. Never changes. Empty: anywhere. */
    place: text({ enum: PLACES }).notNull().default(''),
    /** Null while the tenant is served. */
    suspension: text({ mode: 'json' }).$type<Suspension>(),
    /**
     * Whether its amounts may be in the minor units of an earlier release (former-units.ts). Such a tenant is not served. Null:
     * they are not. The default is true, which marks the tenants that existed before the column and those that a Worker of an
     * earlier release creates.
     */
    formerUnits: integer({ mode: 'boolean' }).default(true),
    /** Oldest first. */
    restores: text({ mode: 'json' }).$type<readonly Restore[]>().notNull().default(sql`'[]'`),
    /** Whether housekeeping must still wake its dispatchers, which have no alarm after a move or restore. */
    isWaking: integer({ mode: 'boolean' }).notNull().default(false),
    /** Progress of an unfinished restore or move (scripts/tenants/). */
    operation: text({ mode: 'json' }).$type<TenantOperation>(),
    createdAt: integer().notNull(),
  },
  table => [
    uniqueIndex('tenant_name').on(table.name),
    uniqueIndex('tenant_host_name').on(table.hostName),
    // Queries must repeat the condition exactly.
    index('tenant_waking').on(table.locator).where(sql`${table.isWaking} = 1`),
  ],
)

/** One row for each shard of a tenant. */
export const shards = sqliteTable(
  'shard',
  {
    tenantLocator: text().notNull(),
    number: integer().notNull(),
    binding: text().notNull(),
    /** When it starts to accept new policyholders: once every isolate knows the shard. */
    opensAt: integer().notNull().default(0),
    /** When it stops accepting new policyholders because it is nearly full. Null while it accepts them. */
    closesAt: integer(),
    /** Size at the last measurement (tenants/housekeeping.ts). Null before the first. */
    bytes: integer(),
    /** Null for databases that were claimed before this was recorded. */
    claimedAt: integer(),
  },
  table => [
    primaryKey({ columns: [table.tenantLocator, table.number] }),
    uniqueIndex('shard_binding').on(table.binding),
  ],
)

/**
 * The deployment that owns this database: one row. Commands check it before they change anything, so that no deployment takes over
 * the resources of another (scripts/deployment/identity.ts).
 */
export const deployments = sqliteTable('deployment', {
  environment: text().primaryKey(),
  domain: text().notNull(),
  /** Derived from the first pepper in PASSWORD_PEPPER. Detects a wrong pepper before passwords stop matching. */
  pepperCheck: text(),
  /** Derived from the first key in SEALING_KEY. Detects a wrong key before it seals anything. */
  sealingCheck: text(),
  /** The version of the Worker that responded last, and the moves of tables that its code is ready for (scripts/upgrades.ts). */
  version: text(),
  readyMoves: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
  createdAt: integer().notNull(),
})

/** Resources of the deployment, recorded before they are created, e.g. `bucket bindery-eu1-files`. */
export const deploymentResources = sqliteTable('deployment_resource', {
  name: text().primaryKey(),
  notedAt: integer().notNull(),
})

/** `tenant.allowedOrigins` of active tenants, by origin. */
export const allowedOrigins = sqliteTable(
  'allowed_origin',
  { origin: text().notNull(), tenantLocator: text().notNull() },
  table => [
    primaryKey({ columns: [table.origin, table.tenantLocator] }),
    index('allowed_origin_tenant').on(table.tenantLocator),
  ],
)

/** Tenant databases that are bound to the Worker. */
export const pool = sqliteTable(
  'pool_database',
  {
    binding: text().primaryKey(),
    /** `returned`: contains data of a former tenant and is wiped before it is free again. */
    state: text({ enum: ['free', 'claimed', 'returned'] }).notNull(),
    /** Name of the newest applied migration. Empty in a new database. */
    migration: text().notNull(),
    /** Start of the last upgrade, number of tries since the last success, and why it failed (tenants/upgrades.ts). */
    triedAt: integer(),
    tries: integer().notNull().default(0),
    problem: text(),
    /** Only a tenant with the same place gets the database. */
    place: text({ enum: PLACES }).notNull().default(''),
    /** Set while `returned`. Distinguishes this return from earlier ones. */
    returnedAt: integer(),
    /** The former tenant and generation whose files are still in R2. */
    formerTenant: text(),
    formerGeneration: integer(),
  },
  table => [
    index('pool_database_state').on(table.state),
    index('pool_database_migration').on(table.migration),
  ],
)

/** Migrations that every tenant database needs (platform/database/migrations.ts), from the last deployment. */
export const announcedMigrations = sqliteTable('announced_migration', {
  name: text().primaryKey(),
  hash: text().notNull(),
  statements: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
})

/** Columns of tenant accounts (access/tables.ts) and of administration accounts. */
export const accountColumns = () => ({
  locator: text().primaryKey(),
  username: text().notNull(),
  name: text().notNull(),
  /** Consecutive failures. */
  failedSignIns: integer().notNull().default(0),
  /** Real time. */
  lockedUntil: integer(),
  /** Access tokens of an earlier epoch are rejected. */
  tokenEpoch: integer().notNull().default(0),
  createdAt: integer().notNull(),
})

export const administrators = sqliteTable(
  'administrator',
  { ...accountColumns(), passwordHash: text().notNull() },
  table => [uniqueIndex('administrator_username').on(table.username)],
)

/**
 * Accounts with revoked access tokens that may not have expired. Read with the tenant, so that requests need not look up the
 * account. Older rows are removed.
 */
export const revocations = sqliteTable(
  'revocation',
  {
    accountLocator: text().primaryKey(),
    /** Empty for an administration account. */
    tenantLocator: text().notNull(),
    /** Tokens of an earlier epoch of the account are rejected. */
    epoch: integer().notNull(),
    at: integer().notNull(),
  },
  table => [index('revocation_tenant').on(table.tenantLocator)],
)

/** Columns of an audit trail. Entries contain no values, which may be personal data that an erasure would have to reach. */
export const auditColumns = () => ({
  locator: text().primaryKey(),
  createdAt: integer().notNull(),
  /** `group.action`, e.g. `auxdata.write`. */
  action: text().notNull(),
  /** The locator of a record, or another name. */
  subject: text().notNull(),
  details: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  accountLocator: text().notNull(),
  username: text().notNull(),
  requestId: text().notNull(),
})

/**
 * Actions of administration accounts outside any tenant: sign-ins, unlocking, passwords, tokens, new tenants, rejections. Rows
 * never change.
 */
export const administrationAudits = sqliteTable('administration_audit', auditColumns(), table => [
  index('administration_audit_created').on(table.createdAt, table.locator),
])

/** Columns of long-lived tokens, of which only the hash is stored. A deleted token leaves no row. */
export const tokenColumns = () => ({
  locator: text().primaryKey(),
  accountLocator: text().notNull(),
  /** Unique within its account. */
  name: text().notNull(),
  /** SHA-256 of the whole token, in hex. The token has 178 random bits, so the hash reveals nothing. */
  hash: text().notNull(),
  permissions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** For an administration account: names of tenants, `any`, `type:test`, `type:production`. */
  tenants: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** Both in real time. */
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
})

/** Tokens of administration accounts, for pipelines that deploy. */
export const administrationTokens = sqliteTable('administration_token', tokenColumns(), table => [
  uniqueIndex('administration_token_hash').on(table.hash),
  uniqueIndex('administration_token_name').on(table.accountLocator, table.name),
])

export type Suspension = {
  /** `moved`: the tenant is served elsewhere and never here again. `formerUnits` comes from the column of that name. */
  readonly state: 'suspended' | 'moved' | 'formerUnits'
  /** Shown to callers. */
  readonly reason: string
  readonly since: number
}

/** A restore of the databases to the time `to`, made at the time `at`. */
export type Restore = { readonly to: number; readonly at: number }

/** An unfinished restore or move, with everything that a run needs to continue it. */
export type TenantOperation = RestoreOperation | MoveOperation

export type RestoreOperation = {
  readonly kind: 'restore'
  /** The time to restore to, in epoch milliseconds. */
  readonly to: number
  /** 1 for the tenant's first restore. */
  readonly number: number
  /** By binding, with the progress so far. */
  readonly databases: Readonly<Record<string, RestoringDatabase>>
}

export type RestoringDatabase = {
  /** The bookmark to restore to. */
  readonly target: string
  /** The state before the restore, to roll back to. */
  readonly bookmark?: string
  /** Recorded before the restore (tenants/restore.ts). */
  readonly noted?: NotedState
  readonly isRestored?: boolean
}

/** Values that were already given out and that a restored database must not repeat. */
export type NotedState = {
  readonly lastEvent: number
  /** The next number for a locator. */
  readonly nextNumber: number
  /** Number of files with rows that the restore undoes or must carry over. */
  readonly files: number
}

export type MoveOperation = {
  readonly kind: 'move'
  readonly direction: 'out' | 'in'
  /** The other environment. */
  readonly environment: string
}

/** By operation, e.g. `private_motor.endorsement.create` or `*.*.*`. */
export type AutofillOperations = Readonly<Record<string, RegisteredOperation>>

export type RegisteredOperation = { readonly locator: string; readonly callSequence: readonly string[] }
