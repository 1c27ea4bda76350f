// A tenant always has a person who may change its users. Roles decide who that is, so no change of roles may leave nobody.
import { and, eq, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Caller } from '../../platform/context.ts'
import { TENANT_ACCOUNT_TYPES } from '../../platform/http/account-types.ts'
import { groupOf, hasPermission } from '../../platform/http/permissions.ts'
import type { TenantRoles } from '../../product/roles.ts'
import { listedPermissions, rolePermissions } from '../rights.ts'
import { accountIdentities, accountRoles, accounts, identityProviders, roles } from '../tables.ts'

const MANAGING = 'users.write'

/** The permission as roles list it. */
const LISTED = [MANAGING, `${groupOf(MANAGING)}.*`]

/** Whether the account has the permission `users.write`. */
export const mayManageUsers = (held: Pick<Caller, 'accountType' | 'permissions'>): boolean =>
  hasPermission(held, MANAGING)

/** Whether a role with these permissions lets its accounts change users. */
export const includesUserManagement = (permissions: readonly string[]): boolean =>
  listedPermissions(permissions).includes(MANAGING)

/** How accounts get the permission, other than by roles of the interface. */
type HoldersOf = {
  /** Account types, for accounts that have them or were given them. */
  readonly types: readonly string[]
  /** Users of the archive whose roles decide what they may do, and those of them who have the permission. */
  readonly users: { readonly all: readonly string[]; readonly holding: readonly string[] }
}

/** Returns how accounts get the permission to change users with these roles of the configuration. */
export function managersOf(configured: TenantRoles | null | undefined): HoldersOf {
  const heldBy = (username: string, accountType: string, source: 'archive' | 'interface'): boolean => {
    const permissions = rolePermissions({ username, accountType, source }, configured)
    return mayManageUsers({ accountType, ...(permissions && { permissions }) })
  }
  const all = Object.keys(configured?.users ?? {})
  return {
    types: TENANT_ACCOUNT_TYPES.filter(type => heldBy('', type, 'interface')),
    users: { all, holding: all.filter(username => heldBy(username, '', 'archive')) },
  }
}

/** The differences that a change is about to make. */
export type Change = {
  /** Accounts that lose the permission or their way to sign in. */
  readonly loses?: SQL
  /** A role that no longer gives the permission. */
  readonly role?: string
  readonly provider?: ProviderChange
}

type ProviderChange = {
  readonly name: string
  /** Undefined if there is no provider of that name any more. */
  readonly after: { readonly issuer: string; readonly replacesPasswords: boolean } | undefined
}

const among = (column: SQLWrapper, names: readonly string[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(names)}))`

/** Whether a person who can sign in has the permission: with an active account that has a way to sign in. */
export const isHeldByPerson = (
  { types, users }: HoldersOf,
  { loses = sql`false`, role, provider }: Change = {},
): SQL => {
  const ofThis = sql`${accountRoles.accountLocator} = ${accounts.locator}`
  const gives = sql`exists (select 1 from ${roles}, json_each(${roles.permissions}) listed
    where ${roles.name} = ${accountRoles.role} and ${roles.name} is not ${role ?? null} and ${among(sql`listed.value`, LISTED)})`
  return sql`exists (select 1 from ${accounts} where ${and(
    isNull(accounts.deletedAt),
    isNull(accounts.disabledAt),
    eq(accounts.isService, false),
    sql`not (${loses})`,
    hasWayIn(provider),
    sql`case
      when exists (select 1 from ${accountRoles} where ${ofThis})
        then exists (select 1 from ${accountRoles} where ${ofThis} and (${among(accountRoles.role, types)} or ${gives}))
      when ${eq(accounts.source, 'archive')} and ${among(accounts.username, users.all)}
        then ${among(accounts.username, users.holding)}
      else ${among(accounts.type, types)} end`,
  )})`
}

/** Whether an account can sign in: with a password, where passwords are allowed, or by an identity at a provider of the tenant. */
function hasWayIn(change: ProviderChange | undefined): SQL {
  const others = sql`${identityProviders.name} is not ${change?.name ?? null}`
  const isPasswordOff = change?.after?.replacesPasswords
    ? sql`true`
    : sql`exists (select 1 from ${identityProviders} where ${others} and ${identityProviders.replacesPasswords})`
  return sql`((${accounts.passwordHash} is not null and not ${isPasswordOff})
    or exists (select 1 from ${accountIdentities} where ${accountIdentities.accountLocator} = ${accounts.locator}
      and (${accountIdentities.issuer} is ${change?.after?.issuer ?? null} or ${accountIdentities.issuer} in
        (select ${identityProviders.issuer} from ${identityProviders} where ${others}))))`
}
