import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { TENANT_ACCOUNT_TYPES } from '../platform/http/account-types.ts'
import { accountColumns, auditColumns, tokenColumns } from '../platform/tenancy/control-tables.ts'
import type { PasswordRules } from './password-rules/rules.ts'

/** A person who has the value in the claim, alone or in a list, gets the roles: account types, and roles of the table `role`. */
export type RoleMapping = {
  readonly claim: string
  readonly value: string
  readonly roles: readonly string[]
}

export const accounts = sqliteTable(
  'account',
  {
    ...accountColumns(),
    email: text(),
    type: text({ enum: TENANT_ACCOUNT_TYPES }).notNull(),
    /** A program's account, with long-lived tokens and never a password. */
    isService: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null if the account cannot sign in with a password. */
    passwordHash: text(),
    /** Newest first, as many as the tenant's rules compare. */
    formerHashes: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** In real time. Null if an archive set the password, which is then never too old. */
    passwordChangedAt: integer(),
    disabledAt: integer(),
    /** The row stays because records name the account; its user name is free. */
    deletedAt: integer(),
    /** `archive`: created from the configuration's test users. A later deploy may change or remove it. */
    source: text({ enum: ['archive', 'interface'] }).notNull(),
    /** The account that added it. Null for an account from an archive. */
    createdBy: text(),
  },
  table => [uniqueIndex('account_username').on(table.username).where(sql`${table.deletedAt} is null`)],
)

export const authTokens = sqliteTable('auth_token', tokenColumns(), table => [
  uniqueIndex('auth_token_hash').on(table.hash),
  uniqueIndex('auth_token_name').on(table.accountLocator, table.name),
  index('auth_token_expires').on(table.expiresAt),
])

/** At most one row. */
export const passwordRules = sqliteTable('password_rules', {
  locator: text({ enum: ['rules'] }).primaryKey(),
  rules: text({ mode: 'json' }).$type<PasswordRules>().notNull(),
})

/** Roles that the tenant created through the interface (access/roles), in addition to those of its configuration. */
export const roles = sqliteTable('role', {
  name: text().primaryKey(),
  title: text(),
  /** `group.action` or `group.*`. */
  permissions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** Changes with every change of the row. */
  revision: text().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
})

/** Roles that accounts were given. An account without any has the permissions of its type. */
export const accountRoles = sqliteTable(
  'account_role',
  {
    accountLocator: text().notNull(),
    /** Name of a row of `role`, or of an account type. */
    role: text().notNull(),
  },
  table => [
    primaryKey({ columns: [table.accountLocator, table.role] }),
    index('account_role_role').on(table.role),
  ],
)

/** OpenID Connect issuers whose users the tenant admits (access/identity-providers). */
export const identityProviders = sqliteTable(
  'identity_provider',
  {
    name: text().primaryKey(),
    label: text().notNull(),
    issuer: text().notNull(),
    clientId: text().notNull(),
    /** Null for a public client, which authenticates by PKCE alone. */
    sealedSecret: text(),
    audience: text().notNull(),
    scopes: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    mappings: text({ mode: 'json' }).$type<readonly RoleMapping[]>().notNull(),
    /** Whether passwords of the tenant's accounts cannot be used to sign in. */
    replacesPasswords: integer({ mode: 'boolean' }).notNull(),
    /** Changes with every change of the row. */
    revision: text().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [uniqueIndex('identity_provider_issuer').on(table.issuer)],
)

/** Links an account to a person at a provider, by issuer and subject only. */
export const accountIdentities = sqliteTable(
  'account_identity',
  {
    issuer: text().notNull(),
    subject: text().notNull(),
    accountLocator: text().notNull(),
    /** The account's `disabledAt`, if a sign-in without roles disabled it. The next one with roles enables it again. */
    closedAt: integer(),
  },
  table => [
    primaryKey({ columns: [table.issuer, table.subject] }),
    index('account_identity_account').on(table.accountLocator),
  ],
)

/** ID tokens that were exchanged, kept until they expire. Each can be exchanged once. */
export const usedIdTokens = sqliteTable(
  'used_id_token',
  {
    /** SHA-256 of the signed part of the token. */
    hash: text().primaryKey(),
    /** Real time. */
    expiresAt: integer().notNull(),
  },
  table => [index('used_id_token_expires').on(table.expiresAt)],
)

/** Entries are written in the batch of the action, in its shard, and never change. */
export const audits = sqliteTable('audit', auditColumns(), table => [
  index('audit_created').on(table.createdAt, table.locator),
  index('audit_subject').on(table.subject, table.createdAt, table.locator),
])
