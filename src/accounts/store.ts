import { desc, eq } from 'drizzle-orm'
import { configurationVersions } from '../configuration/tables.ts'
import type { Calls } from '../platform/calls.ts'
import { administrators } from '../platform/control-tables.ts'
import type { Database, Query } from '../platform/database.ts'
import type { Uuid } from '../platform/locators.ts'
import { controlDatabase, readTenant, type Tenant, type TenantKey } from '../platform/tenancy.ts'
import { accounts } from './tables.ts'
import type { TenantNamed } from './tenant-named.ts'

/** An account is looked for by what the person typed, or by what a token says. */
export type AccountKey = { readonly username: string } | { readonly locator: Uuid }

export type StoredAccount = {
  readonly locator: Uuid
  readonly username: string
  readonly name: string
  readonly accountType: string
  readonly passwordHash: string
}

/** Administrators have no type of their own: who may do all is `account.internal`. */
export const ADMINISTRATION_ACCOUNT = 'account.internal'

/** The zone that tokens name until the tenant has a configuration. */
export const ZONE_WITHOUT_CONFIGURATION = 'UTC'

/** The tenant that all given properties name, as it is now; undefined when there is none. */
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
  return tenant && fits(hostName, tenant.hostName) && fits(tenantName, tenant.name) ? tenant : undefined
}

/** The tenant's account, and the zone of its newest configuration: one round trip. */
export async function readAccount(
  database: Database,
  key: AccountKey,
): Promise<{ account: StoredAccount | undefined; timeZone: string }> {
  const [rows, versions] = await database.batch([
    database.build
      .select()
      .from(accounts)
      .where('username' in key ? eq(accounts.username, key.username) : eq(accounts.locator, key.locator)),
    database.build
      .select({ timeZone: configurationVersions.timeZone })
      .from(configurationVersions)
      .orderBy(desc(configurationVersions.version))
      .limit(1),
  ])
  const [row] = rows
  return {
    account: row && { ...row, locator: row.locator as Uuid, accountType: row.type },
    timeZone: versions[0]?.timeZone ?? ZONE_WITHOUT_CONFIGURATION,
  }
}

export async function readAdministrator(
  env: Env,
  key: AccountKey,
  calls: Calls,
): Promise<StoredAccount | undefined> {
  const database = controlDatabase(env, calls)
  const [[row]] = await database.batch([
    database.build
      .select()
      .from(administrators)
      .where(
        'username' in key
          ? eq(administrators.username, key.username)
          : eq(administrators.locator, key.locator),
      ),
  ])
  return row && { ...row, locator: row.locator as Uuid, accountType: ADMINISTRATION_ACCOUNT }
}

/** A query that gives the account a new hash of the same password. */
export const replaceHash = (database: Database, account: StoredAccount, passwordHash: string): Query =>
  database.build.update(accounts).set({ passwordHash }).where(eq(accounts.locator, account.locator))

/** Gives the administrator a new hash of the same password. */
export async function replaceAdministratorHash(
  env: Env,
  account: StoredAccount,
  passwordHash: string,
  calls: Calls,
): Promise<void> {
  const database = controlDatabase(env, calls)
  await database.batch([
    database.build
      .update(administrators)
      .set({ passwordHash })
      .where(eq(administrators.locator, account.locator)),
  ])
}
