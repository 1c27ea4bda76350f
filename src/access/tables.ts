import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { TENANT_ACCOUNT_TYPES } from '../platform/http/permissions.ts'
import { accountColumns, auditColumns, tokenColumns } from '../platform/tenancy/control-tables.ts'
import type { PasswordRules } from './password-rules/rules.ts'

export const accounts = sqliteTable(
  'account',
  {
    ...accountColumns(),
    email: text(),
    type: text({ enum: TENANT_ACCOUNT_TYPES }).notNull(),
    /** A program's account, with long-lived tokens and never a password. */
    isService: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null: the account cannot sign in with a password. */
    passwordHash: text(),
    /** Newest first, as many as the tenant's rules compare. */
    formerHashes: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** In real time. Null: set by an archive, and never too old. */
    passwordChangedAt: integer(),
    disabledAt: integer(),
    /** The row stays, since records name the account; its user name is free. */
    deletedAt: integer(),
    /** `archive`: made from the configuration's test users; a later deploy may change or remove it. */
    source: text({ enum: ['archive', 'interface'] }).notNull(),
    /** Account that added it; null for an archive's. */
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

/** Entries are written in the batch of the action, in its shard, and never change. */
export const audits = sqliteTable('audit', auditColumns(), table => [
  index('audit_created').on(table.createdAt, table.locator),
  index('audit_subject').on(table.subject, table.createdAt, table.locator),
])
