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
    /** A program's account: it has long-lived tokens and never a password. */
    isService: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null: the account cannot sign in with a password. */
    passwordHash: text(),
    /** Hashes of former passwords, newest first, as many as the tenant's rules look back. */
    formerHashes: text({ mode: 'json' }).$type<readonly string[]>().notNull().default(sql`'[]'`),
    /** In real time. Null: set by an archive, and therefore never too old. */
    passwordChangedAt: integer(),
    /** Failed sign-ins in a row; */
    failedSignIns: integer().notNull().default(0),
    /** The end of a lock, in real time. */
    lockedUntil: integer(),
    /** Access tokens of an earlier epoch are refused. */
    tokenEpoch: integer().notNull().default(0),
    disabledAt: integer(),
    /** The row stays, since records name the account; its user name is free. */
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
    /** The account that it belongs to. */
    accountLocator: text().notNull(),
    /** Unique within its account. */
    name: text().notNull(),
    /** SHA-256 of the whole token, in hex. It has 178 random bits, so it cannot be guessed. */
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

/** At most one row: the tenant's own rules for passwords. */
export const passwordRules = sqliteTable('password_rules', {
  locator: text({ enum: ['rules'] }).primaryKey(),
  rules: text({ mode: 'json' }).$type<PasswordRules>().notNull(),
})
