import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import type { Calls } from '../platform/calls.ts'
import type { Database, Query } from '../platform/database.ts'
import { administrators } from '../platform/tenancy/control-tables.ts'
import {
  controlDatabase,
  readTenant,
  requireServed,
  type Tenant,
  type TenantKey,
} from '../platform/tenancy.ts'
import type { TenantRoles } from '../product/roles.ts'
import { configurationVersions } from '../product/tables.ts'
import { type PasswordRules, PLAIN_RULES } from './password-rules/rules.ts'
import { rolePermissions } from './rights.ts'
import { accounts, passwordRules } from './tables.ts'

/** How an account is found: by the user name that was typed, or by the locator in a token. */
type AccountKey = { readonly username: string } | { readonly locator: Uuid }

/** An account for signing in: a tenant's, or an administration account. */
export type StoredAccount = {
  readonly locator: Uuid
  readonly username: string
  readonly name: string
  readonly email: string | null
  readonly accountType: string
  /** What the roles of the tenant's configuration grant it; absent when its type decides. */
  readonly permissions?: readonly string[]
  readonly isService: boolean
  readonly passwordHash: string | null
  readonly formerHashes: readonly string[]
  readonly passwordChangedAt: number | null
  readonly lockedUntil: number | null
  readonly tokenEpoch: number
  readonly disabledAt: number | null
  readonly createdBy: string | null
  readonly createdAt: number
}

/** Administration accounts have one type, with all rights: `account.internal`. */
export const ADMINISTRATION_ACCOUNT = 'account.internal'

/** The zone in tokens until the tenant has a configuration. */
export const ZONE_WITHOUT_CONFIGURATION = 'UTC'

/** The tenant that all given properties name, read now; undefined when there is none. */
export async function readNamedTenant(
  env: Env,
  named: TenantNamed,
  calls: Calls,
): Promise<Tenant | undefined> {
  const { tenantLocator, hostName, tenantName } = named
  const key: TenantKey =
    tenantLocator !== undefined
      ? { locator: tenantLocator }
      : hostName !== undefined
        ? { hostName }
        : { name: tenantName ?? '' }
  const tenant = await readTenant(env, key, calls)
  const fits = (given: string | undefined, has: string): boolean => given === undefined || given === has
  if (tenant) requireServed(tenant)
  return tenant && fits(hostName, tenant.hostName) && fits(tenantName, tenant.name) ? tenant : undefined
}

/** Tokens of the account must have this epoch at least; undefined for one that is not the tenant's own. */
export async function accountEpoch(database: Database, locator: string): Promise<number | undefined> {
  const [[row]] = await database.batch([
    database.build.select({ epoch: accounts.tokenEpoch }).from(accounts).where(eq(accounts.locator, locator)),
  ])
  return row?.epoch
}

/** Deleted accounts are never found. */
const isAccount = (key: AccountKey) => and(hasKey(accounts, key), isNull(accounts.deletedAt))

const hasKey = (table: typeof accounts | typeof administrators, key: AccountKey) =>
  'username' in key ? eq(table.username, key.username) : eq(table.locator, key.locator)

type AccountRow = typeof accounts.$inferSelect

export const storedAccount = ({ type, ...row }: AccountRow): StoredAccount => ({
  ...row,
  locator: row.locator as Uuid,
  accountType: type,
})

function accountWithRoles(row: AccountRow, roles: TenantRoles | null | undefined): StoredAccount {
  const account = storedAccount(row)
  const permissions = rolePermissions({ ...account, source: row.source }, roles)
  return permissions ? { ...account, permissions } : account
}

type AccountRead = {
  readonly account: StoredAccount | undefined
  /** Of the newest configuration. */
  readonly timeZone: string
  readonly rules: PasswordRules
  /** Of the newest configuration. */
  readonly roles: TenantRoles | null
}

/** The tenant's account, zone and roles of its newest configuration, and its rules for passwords: one round trip. */
export async function readAccount(database: Database, key: AccountKey): Promise<AccountRead> {
  const [[row], [version], [own]] = await database.batch([
    database.build.select().from(accounts).where(isAccount(key)),
    database.build
      .select({ timeZone: configurationVersions.timeZone, roles: configurationVersions.roles })
      .from(configurationVersions)
      .orderBy(desc(configurationVersions.version))
      .limit(1),
    database.build.select({ rules: passwordRules.rules }).from(passwordRules),
  ])
  return {
    account: row && accountWithRoles(row, version?.roles),
    timeZone: version?.timeZone ?? ZONE_WITHOUT_CONFIGURATION,
    rules: own?.rules ?? PLAIN_RULES,
    roles: version?.roles ?? null,
  }
}

/** Accounts of people and programs, oldest first, without deleted ones. */
export const accountsQuery = (database: Database, { offset, count }: { offset: number; count: number }) =>
  database.build
    .select()
    .from(accounts)
    .where(isNull(accounts.deletedAt))
    .orderBy(asc(accounts.createdAt), asc(accounts.locator))
    .limit(count)
    .offset(offset)

export async function readAdministrator(
  env: Env,
  key: AccountKey,
  calls: Calls,
): Promise<StoredAccount | undefined> {
  const database = controlDatabase(env, calls)
  const [[row]] = await database.batch([
    database.build.select().from(administrators).where(hasKey(administrators, key)),
  ])
  return (
    row && {
      ...row,
      locator: row.locator as Uuid,
      accountType: ADMINISTRATION_ACCOUNT,
      email: null,
      isService: false,
      formerHashes: [],
      passwordChangedAt: null,
      disabledAt: null,
      createdBy: null,
    }
  )
}

/** A query that stores a new hash of the same password, if the account still has that password. */
export const replaceHash = (database: Database, account: StoredAccount, passwordHash: string): Query =>
  database.build
    .update(accounts)
    .set({ passwordHash })
    .where(and(eq(accounts.locator, account.locator), eq(accounts.passwordHash, account.passwordHash ?? '')))

/** Whether the user name is taken, and how many accounts there are. */
export async function readRoom(
  database: Database,
  username: string,
): Promise<{ isTaken: boolean; count: number }> {
  const [[named], [counted]] = await database.batch([
    database.build.select({ locator: accounts.locator }).from(accounts).where(isAccount({ username })),
    database.build.select({ count: sql<number>`count(*)` }).from(accounts).where(isNull(accounts.deletedAt)),
  ])
  return { isTaken: named !== undefined, count: counted?.count ?? 0 }
}

/** True in the batch while the user name is free and there are fewer accounts than the limit. */
export const hasRoomFor = (username: string, most: number) =>
  sql`not exists (select 1 from ${accounts} where ${isAccount({ username })})
    and (select count(*) from ${accounts} where ${isNull(accounts.deletedAt)}) < ${most}`

/** The tenant that a sign-in names; every property given must match. */
export type TenantNamed = {
  readonly tenantName: string | undefined
  readonly hostName: string | undefined
  readonly tenantLocator: string | undefined
}
