import { and, asc, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import type { Calls } from '../platform/calls.ts'
import { putRows } from '../platform/database/rows.ts'
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
import { type GivenRole, rolePermissions } from './rights.ts'
import {
  accountIdentities,
  accountRoles,
  accounts,
  identityProviders,
  passwordRules,
  roles as tenantsRoles,
} from './tables.ts'

type AccountKey = { readonly username: string } | { readonly locator: Uuid }

/** An account of a tenant, or an administration account. */
export type StoredAccount = {
  readonly locator: Uuid
  readonly username: string
  readonly name: string
  readonly email: string | null
  readonly accountType: string
  /** Granted by roles. Absent when the account type decides. */
  readonly permissions?: readonly string[]
  /** Names of the roles that the account was given. Absent for none. */
  readonly roles?: readonly string[]
  readonly isService: boolean
  readonly passwordHash: string | null
  readonly formerHashes: readonly string[]
  readonly passwordChangedAt: number | null
  readonly lockedUntil: number | null
  readonly tokenEpoch: number
  readonly disabledAt: number | null
  /** Later deploys change accounts that came from an archive. */
  readonly source: 'archive' | 'interface'
  readonly createdBy: string | null
  readonly createdAt: number
}

/** The only type of administration accounts, with all rights. */
export const ADMINISTRATION_ACCOUNT = 'account.internal'

/** The zone in tokens until the tenant has a configuration. */
export const ZONE_WITHOUT_CONFIGURATION = 'UTC'

/** Returns undefined unless every given property matches. */
export async function readNamedTenant(
  env: Env,
  named: TenantNamed,
  calls: Calls,
): Promise<Tenant | undefined> {
  const { hostName, tenantName } = named
  const tenant = await readTenant(env, keyOf(named), calls)
  const fits = (given: string | undefined, has: string): boolean => given === undefined || given === has
  if (tenant) requireServed(tenant)
  return tenant && fits(hostName, tenant.hostName) && fits(tenantName, tenant.name) ? tenant : undefined
}

function keyOf({ tenantLocator, hostName, tenantName = '' }: TenantNamed): TenantKey {
  if (tenantLocator !== undefined) return { locator: tenantLocator }
  return hostName === undefined ? { name: tenantName } : { hostName }
}

/** Deleted accounts are never found. */
const isAccount = (key: AccountKey) => and(hasKey(accounts, key), isNull(accounts.deletedAt))

const hasKey = (table: typeof accounts | typeof administrators, key: AccountKey) =>
  'username' in key ? eq(table.username, key.username) : eq(table.locator, key.locator)

type AccountRow = typeof accounts.$inferSelect

/** Converts a row. Permissions and roles are missing: `accountWithRoles` adds them. */
export const storedAccount = ({ type, ...row }: AccountRow): StoredAccount => ({
  ...row,
  locator: row.locator as Uuid,
  accountType: type,
})

/** Adds the permissions of the account's roles: those of the newest configuration, or those that it was given. */
export function accountWithRoles(
  row: AccountRow,
  roles: TenantRoles | null | undefined,
  given: readonly GivenRole[],
): StoredAccount {
  const account = storedAccount(row)
  const permissions = rolePermissions({ ...account, given }, roles)
  return {
    ...account,
    ...(permissions && { permissions }),
    ...(given.length > 0 && { roles: given.map(({ name }) => name) }),
  }
}

/** Replaces the roles that the account was given. */
export const rolesQueries = (database: Database, accountLocator: Uuid, names: readonly string[]): Query[] => [
  database.build.delete(accountRoles).where(eq(accountRoles.accountLocator, accountLocator)),
  ...putRows(
    database,
    accountRoles,
    names.map(role => ({ accountLocator, role })),
  ),
]

/** Selects the roles that an account was given, by name. `of` is the locator of the account, or a query that selects it. */
export const givenRolesQuery = (database: Database, of: SQL | string) =>
  database.build
    .select({ name: accountRoles.role, permissions: tenantsRoles.permissions })
    .from(accountRoles)
    .leftJoin(tenantsRoles, eq(tenantsRoles.name, accountRoles.role))
    .where(sql`${accountRoles.accountLocator} = ${of}`)
    .orderBy(asc(accountRoles.role))

type AccountRead = {
  readonly account: StoredAccount | undefined
  /** From the newest configuration. */
  readonly timeZone: string
  readonly rules: PasswordRules
  /** From the newest configuration. */
  readonly roles: TenantRoles | null
  /** Whether an identity provider replaces passwords. */
  readonly isPasswordOff: boolean
}

/** Which tables for accounts a tenant's databases have. */
export type Keeping = Pick<Tenant, 'keepsProviders' | 'keepsRoles'>

/** One round trip. */
export async function readAccount(
  database: Database,
  key: AccountKey,
  { keepsProviders, keepsRoles }: Keeping,
): Promise<AccountRead> {
  const replacing = database.build
    .select({ name: identityProviders.name })
    .from(identityProviders)
    .where(eq(identityProviders.replacesPasswords, true))
    .limit(1)
  const given = givenRolesQuery(
    database,
    'locator' in key
      ? key.locator
      : sql`(select ${accounts.locator} from ${accounts} where ${isAccount(key)})`,
  )
  const [[row], [version], [own], replacements = [], roles = []] = await database.batch([
    database.build.select().from(accounts).where(isAccount(key)),
    database.build
      .select({ timeZone: configurationVersions.timeZone, roles: configurationVersions.roles })
      .from(configurationVersions)
      .orderBy(desc(configurationVersions.version))
      .limit(1),
    database.build.select({ rules: passwordRules.rules }).from(passwordRules),
    ...(keepsProviders ? ([replacing] as const) : []),
    // Databases get this table only after that of providers.
    ...(keepsRoles ? ([given] as const) : []),
  ])
  return {
    account: row && accountWithRoles(row, version?.roles, roles),
    timeZone: version?.timeZone ?? ZONE_WITHOUT_CONFIGURATION,
    rules: own?.rules ?? PLAIN_RULES,
    roles: version?.roles ?? null,
    isPasswordOff: replacements.length > 0,
  }
}

/** Whether an identity at a provider is linked to the account. */
export async function isOfProvider(
  database: Database,
  locator: Uuid,
  { keepsProviders }: Keeping,
): Promise<boolean> {
  if (!keepsProviders) return false
  const { accountLocator } = accountIdentities
  const [rows] = await database.batch([
    database.build.select({ accountLocator }).from(accountIdentities).where(eq(accountLocator, locator)),
  ])
  return rows.length > 0
}

/**
 * For the batch in which an administrator disables the account. Removes the mark of an account that a provider's sign-in disabled,
 * because its next sign-in would enable it again.
 */
export const keptDisabledQueries = (
  { build }: Database,
  locator: Uuid,
  { keepsProviders }: Keeping,
): Query[] => {
  const { accountLocator } = accountIdentities
  return keepsProviders
    ? [build.update(accountIdentities).set({ closedAt: null }).where(eq(accountLocator, locator))]
    : []
}

/** Selects accounts, oldest first, without deleted ones. */
export const accountsQuery = (database: Database, { offset, count }: { offset: number; count: number }) =>
  database.build
    .select()
    .from(accounts)
    .where(isNull(accounts.deletedAt))
    .orderBy(asc(accounts.createdAt), asc(accounts.locator))
    .limit(count)
    .offset(offset)

/** Reads an administration account, undefined if there is none. What only accounts of tenants have is empty. One round trip. */
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
      source: 'interface',
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

/** Reads whether the user name is in use and how many accounts the tenant has, without deleted ones. One round trip. */
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
