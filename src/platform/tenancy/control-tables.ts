// The platform's own database. It never contains tenant data (docs/design.md, section 6).
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
    /** Rises when a test tenant is recreated; part of every name derived from the tenant. */
    generation: integer().notNull(),
    /** Tokens of an earlier epoch are refused. */
    tokenEpoch: integer().notNull(),
    /** Whether deploys make new versions; a deployTest tenant starts without. */
    versioned: integer({ mode: 'boolean' }).notNull(),
    /** Ahead of real time; only test tenants move theirs. */
    clockOffsetMs: integer().notNull().default(0),
    /** Calls by operation: here, so that they are loaded with the tenant. */
    autofill: text({ mode: 'json' }).$type<AutofillOperations>().notNull().default(sql`'{}'`),
    /** Whether it has, or ever had, tables as resources: only then does rating load them. */
    hasTables: integer({ mode: 'boolean' }).notNull().default(false),
    /** Origins of pages that may read its answers (PUT /tenant/allowedOrigins). */
    allowedOrigins: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** Whether software agents may come through /mcp (PUT /tenant/agentAccess); null: of a test tenant only. */
    allowsAgents: integer({ mode: 'boolean' }),
    /** From `npm run tenant -- quota`. */
    quotas: text({ mode: 'json' }).$type<Quotas>().notNull().default(sql`'{}'`),
    /** Location of its databases, objects and files; never changes. Empty: anywhere. */
    place: text({ enum: PLACES }).notNull().default(''),
    /** Null while it is served. */
    suspension: text({ mode: 'json' }).$type<Suspension>(),
    /**
     * Its amounts may be in the minor units of an earlier release (former-units.ts): then it is not served. Null: they are not. By default
     * true, which marks the tenants that were there before the column, and those that a Worker of an earlier release makes.
     */
    formerUnits: integer({ mode: 'boolean' }).default(true),
    /** Oldest first. */
    restores: text({ mode: 'json' }).$type<readonly Restore[]>().notNull().default(sql`'[]'`),
    /** Housekeeping must still wake its dispatchers, which have no alarm after a move or restore. */
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
    /** When it starts to take new policyholders: once every isolate knows it. */
    opensAt: integer().notNull().default(0),
    /** When it stops taking new policyholders because it is nearly full; null while it takes them. */
    closesAt: integer(),
    /** Size at the last measurement (tenants/housekeeping.ts); null before the first. */
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
 * The deployment that owns this database: one row. Commands check it before changes, so that no deployment takes over what
 * belongs to another (scripts/deployment/identity.ts).
 */
export const deployments = sqliteTable('deployment', {
  environment: text().primaryKey(),
  domain: text().notNull(),
  /** Derived from PASSWORD_PEPPER, the first pepper first: detects a wrong one before passwords stop matching. */
  pepperCheck: text(),
  /** Derived from SEALING_KEY, the first key first: detects a wrong one before it seals anything. */
  sealingCheck: text(),
  /** The Worker's version that answered last, and the moves of tables that its code is ready for (scripts/upgrades.ts). */
  version: text(),
  readyMoves: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
  createdAt: integer().notNull(),
})

/** Recorded before they are made: `bucket bindery-eu1-files`. */
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
    /** `returned`: contains data of a former tenant; wiped before it is free again. */
    state: text({ enum: ['free', 'claimed', 'returned'] }).notNull(),
    /** Name of the newest applied migration; empty in a new database. */
    migration: text().notNull(),
    /** Start of the last upgrade, tries since the last success, and why it failed (tenants/upgrades.ts). */
    triedAt: integer(),
    tries: integer().notNull().default(0),
    problem: text(),
    /** Only a tenant of the same place gets it. */
    place: text({ enum: PLACES }).notNull().default(''),
    /** While `returned`: distinguishes this return from earlier ones. */
    returnedAt: integer(),
    /** Its files of that generation are still in R2. */
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

/** Of tenant accounts (access/tables.ts) and administration accounts. */
export const accountColumns = () => ({
  locator: text().primaryKey(),
  username: text().notNull(),
  name: text().notNull(),
  /** In a row. */
  failedSignIns: integer().notNull().default(0),
  /** Real time. */
  lockedUntil: integer(),
  /** Access tokens of an earlier epoch are refused. */
  tokenEpoch: integer().notNull().default(0),
  createdAt: integer().notNull(),
})

export const administrators = sqliteTable(
  'administrator',
  { ...accountColumns(), passwordHash: text().notNull() },
  table => [uniqueIndex('administrator_username').on(table.username)],
)

/**
 * Accounts with revoked access tokens that may not have expired. Read with the tenant, so that requests look up no account.
 * Older rows are removed.
 */
export const revocations = sqliteTable(
  'revocation',
  {
    accountLocator: text().primaryKey(),
    /** Empty for an administration account. */
    tenantLocator: text().notNull(),
    /** Tokens of an earlier epoch of the account are refused. */
    epoch: integer().notNull(),
    at: integer().notNull(),
  },
  table => [index('revocation_tenant').on(table.tenantLocator)],
)

/** An audit trail. Entries contain no values: those may be personal data, which erasure must reach. */
export const auditColumns = () => ({
  locator: text().primaryKey(),
  createdAt: integer().notNull(),
  /** `group.action`, e.g. `auxdata.write`. */
  action: text().notNull(),
  /** A record's locator, or another name. */
  subject: text().notNull(),
  details: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  accountLocator: text().notNull(),
  username: text().notNull(),
  requestId: text().notNull(),
})

/**
 * Actions of administration accounts outside any tenant: sign-ins, unlocking, passwords, tokens, new tenants, refusals.
 * Rows never change.
 */
export const administrationAudits = sqliteTable('administration_audit', auditColumns(), table => [
  index('administration_audit_created').on(table.createdAt, table.locator),
])

/** Long-lived tokens: only their hashes. A deleted token leaves no row. */
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

/** For pipelines that deploy. */
export const administrationTokens = sqliteTable('administration_token', tokenColumns(), table => [
  uniqueIndex('administration_token_hash').on(table.hash),
  uniqueIndex('administration_token_name').on(table.accountLocator, table.name),
])

export type Suspension = {
  /** `moved`: it is served elsewhere, and never here again. `formerUnits` comes from the column of that name. */
  readonly state: 'suspended' | 'moved' | 'formerUnits'
  /** Callers see it. */
  readonly reason: string
  readonly since: number
}

/** At the time `at`, the databases were restored to the time `to`. */
export type Restore = { readonly to: number; readonly at: number }

/** An unfinished restore or move, with all that a run needs to continue it. */
export type TenantOperation = RestoreOperation | MoveOperation

export type RestoreOperation = {
  readonly kind: 'restore'
  /** The time to restore to, in epoch milliseconds. */
  readonly to: number
  /** 1 for the tenant's first restore. */
  readonly number: number
  /** By binding, as far as it has come. */
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

/** Values already given out, which a restored database must not repeat. */
export type NotedState = {
  readonly lastEvent: number
  /** The next number of a locator. */
  readonly nextNumber: number
  /** Files of rows that the restore undoes, or that it must carry over. */
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
