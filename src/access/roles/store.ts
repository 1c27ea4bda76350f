import { and, asc, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from '../../platform/database.ts'
import { configurationVersions } from '../../product/tables.ts'
import { accountIdentities, accountRoles, accounts, identityProviders, roles } from '../tables.ts'

export type Role = typeof roles.$inferSelect

/** Sorted by name. */
export const rolesQuery = ({ build }: Database) => build.select().from(roles).orderBy(asc(roles.name))

/** Selects the roles of these names, sorted by name. Names without a role are left out. */
export const rolesNamedQuery = ({ build }: Database, names: readonly string[]) =>
  build
    .select()
    .from(roles)
    .where(sql`${roles.name} in (select value from json_each(${JSON.stringify(names)}))`)
    .orderBy(asc(roles.name))

/** Selects the roles of account types and users in the newest configuration. */
export const configuredQuery = ({ build }: Database) =>
  build
    .select({ roles: configurationVersions.roles })
    .from(configurationVersions)
    .orderBy(sql`${configurationVersions.version} desc`)
    .limit(1)

/** Selects the roles that the accounts of the page were given. */
export const rolesOfPageQuery = ({ build }: Database, page: SQLWrapper) =>
  build
    .select({
      accountLocator: accountRoles.accountLocator,
      name: accountRoles.role,
      permissions: roles.permissions,
    })
    .from(accountRoles)
    .leftJoin(roles, eq(roles.name, accountRoles.role))
    .where(sql`${accountRoles.accountLocator} in (select locator from ${page})`)
    .orderBy(asc(accountRoles.role))

/** Selects the identity providers of the page's accounts: the name, or the issuer where it has no provider any more. */
export const providersOfAccounts = ({ build }: Database, page: SQLWrapper) =>
  build
    .select({
      accountLocator: accountIdentities.accountLocator,
      provider: sql<string>`coalesce(${identityProviders.name}, ${accountIdentities.issuer})`,
    })
    .from(accountIdentities)
    .leftJoin(identityProviders, eq(identityProviders.issuer, accountIdentities.issuer))
    .where(sql`${accountIdentities.accountLocator} in (select locator from ${page})`)

/** Guard: these roles have not changed since they were read, and none of the other names is a role. */
export const areUnchanged = (names: readonly string[], read: readonly Role[]): SQL =>
  sql`(select json_group_array(json_array(name, revision)) from (select ${roles.name} as name, ${roles.revision} as revision
      from ${roles} where ${roles.name} in (select value from json_each(${JSON.stringify(names)})) order by 1))
    = ${JSON.stringify(read.map(({ name, revision }) => [name, revision]))}`

/** Selects accounts that have the role. */
export const hasRole = (name: string): SQL =>
  sql`${accounts.deletedAt} is null and ${accounts.locator} in (
    select ${accountRoles.accountLocator} from ${accountRoles} where ${accountRoles.role} = ${name})`

/** Selects up to `most` accounts that have the role, sorted by user name. */
export const holdersQuery = ({ build }: Database, name: string, most: number) =>
  build
    .select({ username: accounts.username })
    .from(accounts)
    .where(hasRole(name))
    .orderBy(asc(accounts.username))
    .limit(most)

/** Selects a row if the account has the role. */
export const isHolderQuery = ({ build }: Database, name: string, accountLocator: string) =>
  build
    .select({ role: accountRoles.role })
    .from(accountRoles)
    .where(and(eq(accountRoles.role, name), eq(accountRoles.accountLocator, accountLocator)))

/** Selects identity providers with a mapping that gives the role. */
const mapsTo = (name: string): SQL =>
  sql`exists (select 1 from json_each(${identityProviders.mappings}) m, json_each(m.value, '$.roles') r where r.value = ${name})`

/** Selects the names of identity providers with a mapping that gives the role. */
export const mappersQuery = ({ build }: Database, name: string) =>
  build.select({ name: identityProviders.name }).from(identityProviders).where(mapsTo(name))

/** Guard: no account has the role, and no mapping gives it. */
export const isFree = (name: string): SQL =>
  sql`not exists (select 1 from ${accounts} where ${hasRole(name)})
    and not exists (select 1 from ${identityProviders} where ${mapsTo(name)})`
