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
import { accountIdentities, accounts, identityProviders, passwordRules } from './tables.ts'

type AccountKey = { readonly username: string } | { readonly locator: Uuid }

/** A tenant's account, or an administration account. */
export type StoredAccount = {
  readonly locator: Uuid
  readonly username: string
  readonly name: string
  readonly email: string | null
  readonly accountType: string
  /** Granted by the roles of the newest configuration; absent when the account type decides. */
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

/** The only type of administration accounts; has all rights. */
export const ADMINISTRATION_ACCOUNT = 'account.internal'

/** The zone in tokens until the tenant has a configuration. */
export const ZONE_WITHOUT_CONFIGURATION = 'UTC'

/** Undefined unless every given property matches. */
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

/** With what the roles of the newest configuration give it. */
export function accountWithRoles(row: AccountRow, roles: TenantRoles | null | undefined): StoredAccount {
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
  /** Whether an identity provider replaces passwords; false unless `tenant` was given. */
  readonly isPasswordOff: boolean
}

/** One round trip. `tenant`: for a sign-in by password. */
export async function readAccount(
  database: Database,
  key: AccountKey,
  tenant?: Pick<Tenant, 'keepsProviders'>,
): Promise<AccountRead> {
  const replacing = database.build
    .select({ name: identityProviders.name })
    .from(identityProviders)
    .where(eq(identityProviders.replacesPasswords, true))
    .limit(1)
  const [[row], [version], [own], replacements = []] = await database.batch([
    database.build.select().from(accounts).where(isAccount(key)),
    database.build
      .select({ timeZone: configurationVersions.timeZone, roles: configurationVersions.roles })
      .from(configurationVersions)
      .orderBy(desc(configurationVersions.version))
      .limit(1),
    database.build.select({ rules: passwordRules.rules }).from(passwordRules),
    ...(tenant?.keepsProviders ? [replacing] : []),
  ])
  return {
    account: row && accountWithRoles(row, version?.roles),
    timeZone: version?.timeZone ?? ZONE_WITHOUT_CONFIGURATION,
    rules: own?.rules ?? PLAIN_RULES,
    roles: version?.roles ?? null,
    isPasswordOff: replacements.length > 0,
  }
}

/** Whether a person at an identity provider is tied to the account. */
export async function isOfProvider(
  database: Database,
  locator: Uuid,
  { keepsProviders }: Pick<Tenant, 'keepsProviders'>,
): Promise<boolean> {
  if (!keepsProviders) return false
  const { accountLocator } = accountIdentities
  const [rows] = await database.batch([
    database.build.select({ accountLocator }).from(accountIdentities).where(eq(accountLocator, locator)),
  ])
  return rows.length > 0
}

/** Oldest first, without deleted ones. */
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

/** Stores a new hash of the same password, unless the password has changed. */
export const replaceHash = (database: Database, account: StoredAccount, passwordHash: string): Query =>
  database.build
    .update(accounts)
    .set({ passwordHash })
    .where(and(eq(accounts.locator, account.locator), eq(accounts.passwordHash, account.passwordHash ?? '')))

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

/** Guard: the user name is free and the limit is not reached. */
export const hasRoomFor = (username: string, most: number) =>
  sql`not exists (select 1 from ${accounts} where ${isAccount({ username })})
    and (select count(*) from ${accounts} where ${isNull(accounts.deletedAt)}) < ${most}`

export type TenantNamed = {
  readonly tenantName: string | undefined
  readonly hostName: string | undefined
  readonly tenantLocator: string | undefined
}
