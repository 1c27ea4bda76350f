import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { PasswordRules } from './password-rules/rules.ts'

export const accounts = sqliteTable(
  'account',
  {
    locator: text().primaryKey(),
    username: text().notNull(),
    name: text().notNull(),
    email: text(),
    type: text({
      enum: [
        'account.tenant.admin',
        'account.test.tenant.admin',
        'account.tenant.employee',
        'account.tenant.read.only.user',
        'account.tenant.claims.only.user',
      ],
    }).notNull(),
    /** Of a program: it has long-lived tokens and never a password. */
    isService: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null: no password signs in. */
    passwordHash: text(),
    /** Hashes of passwords that were, newest first; as many as the tenant's rules look back. */
    formerHashes: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** In real time. Null: set by an archive, and so never too old. */
    passwordChangedAt: integer(),
    /** Failed sign-ins in a row; */
    failedSignIns: integer().notNull().default(0),
    /** and until when, in real time, none works because of them. */
    lockedUntil: integer(),
    /** Access tokens of an earlier epoch are refused. */
    tokenEpoch: integer().notNull().default(0),
    disabledAt: integer(),
    /** The row stays, for what names the account; its user name is free. */
    deletedAt: integer(),
    /** `archive`: made from the configuration's test users; a later deploy may change or remove it. */
    source: text({ enum: ['archive', 'interface'] }).notNull(),
    /** Account that added it; null for an archive's. */
    createdBy: text(),
    createdAt: integer().notNull(),
  },
  table => [uniqueIndex('account_username').on(table.username).where(sql`${table.deletedAt} is null`)],
)

/** Long-lived tokens: their hashes only. A token that is deleted leaves no row. */
export const authTokens = sqliteTable(
  'auth_token',
  {
    locator: text().primaryKey(),
    /** Whose it is. */
    accountLocator: text().notNull(),
    /** One of its account's tokens has it. */
    name: text().notNull(),
    /** SHA-256 of the whole token, hex: with 178 random bits there is nothing to try out. */
    hash: text().notNull(),
    permissions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    tenants: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    /** Both in real time. */
    createdAt: integer().notNull(),
    expiresAt: integer().notNull(),
  },
  table => [
    uniqueIndex('auth_token_hash').on(table.hash),
    uniqueIndex('auth_token_name').on(table.accountLocator, table.name),
    index('auth_token_expires').on(table.expiresAt),
  ],
)

/** One row at most: what the tenant asks of passwords beyond what all must be. */
export const passwordRules = sqliteTable('password_rules', {
  locator: text({ enum: ['rules'] }).primaryKey(),
  rules: text({ mode: 'json' }).$type<PasswordRules>().notNull(),
})
