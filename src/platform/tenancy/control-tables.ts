// The platform's own database. Tenant data never enters it (docs/design.md, section 6).
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
    /** Tokens issued under an earlier epoch are refused. */
    tokenEpoch: integer().notNull(),
    /** Whether deploys make new versions; a deployTest tenant starts without. */
    versioned: integer({ mode: 'boolean' }).notNull(),
    /** How far the tenant's clock is ahead of the real one; only test tenants move theirs. */
    clockOffsetMs: integer().notNull().default(0),
    /** Operations by name, with the calls that fill them in: here, so that whoever knows the tenant knows them. */
    autofill: text({ mode: 'json' }).$type<AutofillOperations>().notNull().default(sql`'{}'`),
    /** Whether it has, or ever had, tables as resources: only then are they asked for in rating. */
    hasTables: integer({ mode: 'boolean' }).notNull().default(false),
    /** Origins of pages that may read its answers (PUT /tenant/allowedOrigins). */
    allowedOrigins: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** Limits of its own (`npm run tenant -- quota`). */
    quotas: text({ mode: 'json' }).$type<Quotas>().notNull().default(sql`'{}'`),
    /** Where its databases, objects and files lie; it never changes. Empty: anywhere. */
    place: text({ enum: PLACES }).notNull().default(''),
    /** Why it is not served; null while it is. */
    suspension: text({ mode: 'json' }).$type<Suspension>(),
    /** Every restore of its databases, oldest first. */
    restores: text({ mode: 'json' }).$type<readonly Restore[]>().notNull().default(sql`'[]'`),
    /** Whether the housekeeping has yet to wake its dispatchers, which have no alarm after a move or a restore. */
    isWaking: integer({ mode: 'boolean' }).notNull().default(false),
    /** How far a restore or a move has come that is not finished (scripts/tenants/). */
    operation: text({ mode: 'json' }).$type<TenantOperation>(),
    createdAt: integer().notNull(),
  },
  table => [
    uniqueIndex('tenant_name').on(table.name),
    uniqueIndex('tenant_host_name').on(table.hostName),
    // Queries must write the condition as it is here.
    index('tenant_waking').on(table.locator).where(sql`${table.isWaking} = 1`),
  ],
)

/** Where a tenant lives: one row for each of its shards. */
export const shards = sqliteTable(
  'shard',
  {
    tenantLocator: text().notNull(),
    number: integer().notNull(),
    binding: text().notNull(),
    /** From when on new policyholders may come into it: when every isolate knows that it is there. */
    opensAt: integer().notNull().default(0),
    /** From when on no new policyholders come into it, since it is nearly full; null while they do. */
    closesAt: integer(),
    /** What the database held when it was last measured (tenants/housekeeping.ts); null: not yet. */
    bytes: integer(),
    /** Since when the database is the tenant's; null for those that were claimed before this was kept. */
    claimedAt: integer(),
  },
  table => [
    primaryKey({ columns: [table.tenantLocator, table.number] }),
    uniqueIndex('shard_binding').on(table.binding),
  ],
)

/**
 * Which deployment this database belongs to: one row. Commands compare it with what they are about to change, so that no deployment
 * takes over what belongs to another (scripts/deployment/identity.ts).
 */
export const deployments = sqliteTable('deployment', {
  environment: text().primaryKey(),
  domain: text().notNull(),
  /** What the peppers of PASSWORD_PEPPER give, the first one first, so that a wrong one is found before passwords stop fitting. */
  pepperCheck: text(),
  /** What the keys of SEALING_KEY give, the first one first, so that a wrong one is found before anything is sealed with it. */
  sealingCheck: text(),
  createdAt: integer().notNull(),
})

/** What a deployment has made, noted before it is made: `bucket bindery-eu1-files`. */
export const deploymentResources = sqliteTable('deployment_resource', {
  name: text().primaryKey(),
  notedAt: integer().notNull(),
})

/** The origins that active tenants list, each with who lists it: the same as `tenant.allowedOrigins`, by origin. */
export const allowedOrigins = sqliteTable(
  'allowed_origin',
  { origin: text().notNull(), tenantLocator: text().notNull() },
  table => [
    primaryKey({ columns: [table.origin, table.tenantLocator] }),
    index('allowed_origin_tenant').on(table.tenantLocator),
  ],
)

/** The pool of tenant databases that are bound to the Worker. */
export const pool = sqliteTable(
  'pool_database',
  {
    binding: text().primaryKey(),
    /** `returned`: held data of a tenant that is gone; wiped before it is free again. */
    state: text({ enum: ['free', 'claimed', 'returned'] }).notNull(),
    /** Name of the newest migration applied; empty in a database that is new. */
    migration: text().notNull(),
    /** When its upgrade was last begun, how often since it last succeeded, and why it failed (tenants/upgrades.ts). */
    triedAt: integer(),
    tries: integer().notNull().default(0),
    problem: text(),
    /** Where it was made: only a tenant of the same place has it. */
    place: text({ enum: PLACES }).notNull().default(''),
    /** While it is `returned`: since when, which tells this return from an earlier one; */
    returnedAt: integer(),
    /** and whose it was, since files of that generation of the tenant are still in R2. */
    formerTenant: text(),
    formerGeneration: integer(),
  },
  table => [
    index('pool_database_state').on(table.state),
    index('pool_database_migration').on(table.migration),
  ],
)

/** The migrations that every tenant database is to have (platform/database/migrations.ts), as the last deployment announced them. */
export const announcedMigrations = sqliteTable('announced_migration', {
  name: text().primaryKey(),
  hash: text().notNull(),
  statements: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
})

/** What both kinds of accounts have: those of tenants (access/tables.ts) and administration accounts. */
export const accountColumns = () => ({
  locator: text().primaryKey(),
  username: text().notNull(),
  name: text().notNull(),
  /** Failed sign-ins in a row. */
  failedSignIns: integer().notNull().default(0),
  /** The end of a lock, in real time. */
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
 * Accounts whose access tokens were revoked while some of them may still live: read with the tenant, so that no request
 * looks an account up. Older rows are removed.
 */
export const revocations = sqliteTable(
  'revocation',
  {
    accountLocator: text().primaryKey(),
    /** Empty for an administration account, which has no tenant. */
    tenantLocator: text().notNull(),
    /** Tokens of an earlier epoch of the account are refused. */
    epoch: integer().notNull(),
    at: integer().notNull(),
  },
  table => [index('revocation_tenant').on(table.tenantLocator)],
)

/** An audit trail: who did what to which record, and when. Entries hold no values: those may be personal data, which erasure must reach. */
export const auditColumns = () => ({
  locator: text().primaryKey(),
  createdAt: integer().notNull(),
  /** `group.action`, e.g. `auxdata.write`. */
  action: text().notNull(),
  /** The subject: a record's locator, or another name. */
  subject: text().notNull(),
  details: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  accountLocator: text().notNull(),
  username: text().notNull(),
  requestId: text().notNull(),
})

/**
 * What administration accounts did that belongs to no tenant: sign-ins, unlocking, passwords, tokens, tenants that they made,
 * what they were refused. Never changed.
 */
export const administrationAudits = sqliteTable('administration_audit', auditColumns(), table => [
  index('administration_audit_created').on(table.createdAt, table.locator),
])

/** Long-lived tokens of accounts: their hashes only. A token that is deleted leaves no row. */
export const tokenColumns = () => ({
  locator: text().primaryKey(),
  /** The account that it belongs to. */
  accountLocator: text().notNull(),
  /** Unique within its account. */
  name: text().notNull(),
  /** SHA-256 of the whole token, in hex. It has 178 random bits, so it cannot be guessed. */
  hash: text().notNull(),
  permissions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** The tenants that it is for. Of an administration account: names of tenants, `any`, `type:test`, `type:production`. */
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

/** Why a tenant is not served. */
export type Suspension = {
  /** `moved`: it is served elsewhere, and never here again. */
  readonly state: 'suspended' | 'moved'
  /** Callers see it. */
  readonly reason: string
  readonly since: number
}

/** A restore: at the time `at` the databases were brought back to what they held at the time `to`. */
export type Restore = { readonly to: number; readonly at: number }

/** A restore or a move that is under way, with all that a run needs to continue it. */
export type TenantOperation = RestoreOperation | MoveOperation

export type RestoreOperation = {
  readonly kind: 'restore'
  /** The time that the databases are brought back to, in epoch milliseconds. */
  readonly to: number
  /** 1 for the tenant's first restore. */
  readonly number: number
  /** By binding, as far as it has come. */
  readonly databases: Readonly<Record<string, RestoringDatabase>>
}

export type RestoringDatabase = {
  /** The bookmark of the time that it is brought back to. */
  readonly target: string
  /** How the database was before: what to go back to. */
  readonly bookmark?: string
  /** What was noted of it before it was restored (tenants/restore.ts). */
  readonly noted?: NotedState
  readonly isRestored?: boolean
}

/** What a database has given out, which a restore must not give out again. */
export type NotedState = {
  readonly lastEvent: number
  /** The next number of a locator. */
  readonly nextNumber: number
  /** Files of rows that the restore undoes, or that it must carry over. */
  readonly files: number
}

export type MoveOperation = {
  readonly kind: 'move'
  /** Whether the tenant leaves this environment or comes into it. */
  readonly direction: 'out' | 'in'
  /** The other environment. */
  readonly environment: string
}

/** Registered operations by their names, as `private_motor.endorsement.create` or `*.*.*`. */
export type AutofillOperations = Readonly<Record<string, RegisteredOperation>>

export type RegisteredOperation = { readonly locator: string; readonly callSequence: readonly string[] }
