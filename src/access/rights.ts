// Checks that nobody grants, or acts on, more rights than they have.
import { forbidden, notFound, Refusal } from '../kernel/errors.ts'
import type { Caller } from '../platform/context.ts'
import {
  ALL_PERMISSIONS,
  groupOf,
  hasPermission,
  isReserved,
  type Permission,
  permissionsHeld,
  typeHasPermission,
} from '../platform/http/permissions.ts'
import type { Tenant } from '../platform/tenancy.ts'
import type { TenantRoles, TestUserType } from '../product/roles.ts'

/** Names listed in a message. */
const MOST_NAMED = 20

/** Throws 422 with the excess permissions. `who` begins the sentence. */
export function requireHeldPermissions(
  given: readonly Permission[],
  held: readonly Permission[],
  who: string,
): void {
  const excess = given.filter(permission => !held.includes(permission))
  if (excess.length === 0) return
  const more = excess.length > MOST_NAMED ? ` and ${excess.length - MOST_NAMED} more` : ''
  throw new Refusal('beyondOwner', `${who} ${excess.slice(0, MOST_NAMED).join(', ')}${more}.`)
}

type Target = OwnedAccount &
  Pick<Caller, 'username' | 'accountType' | 'permissions'> & { readonly isService: boolean }

/**
 * Throws 422 for changing, ending or resetting an account with more rights than the caller. Your own account is allowed, and so is
 * a service account that you created: it has your account type, and its tokens have only permissions that you could grant.
 */
export function requireAuthority(caller: Caller, account: Target): void {
  if (account.locator === caller.accountLocator) return
  if (account.isService && account.createdBy === caller.accountLocator) return
  requireHeldPermissions(
    permissionsHeld(account),
    permissionsHeld(caller),
    `The account '${account.username}' has permissions that you lack:`,
  )
}

type OwnedAccount = { readonly locator: string; readonly createdBy: string | null }

/**
 * Throws 403 for callers who may act only on their own account and on accounts that they created (`users.custom`) when they act on
 * another. `anyOf` are the permissions to act on every account of the tenant.
 */
export function requireAccountAccess(
  caller: Caller,
  account: OwnedAccount,
  anyOf: readonly Permission[],
): void {
  if (anyOf.some(permission => hasPermission(caller, permission))) return
  if (account.locator === caller.accountLocator || account.createdBy === caller.accountLocator) return
  throw forbidden(
    `The account '${caller.username}' may do this only to itself and to accounts that it created. For other accounts it needs the permission ${anyOf.join(' or ')}.`,
  )
}

/**
 * Throws 403 for a long-lived token of an administration account that was created for other tenants. The tenant need not exist
 * yet, because a deploy may be about to create it. Signed-in sessions work for all tenants.
 */
export function requireTenant(caller: Caller, tenant: NamedTenant): void {
  if (mayUseTenant(caller, tenant)) return
  throw forbidden(
    `The token is not for the ${tenant.type} tenant '${tenant.name}'; it is for ${tenantsNamed(caller)}.`,
  )
}

/**
 * Throws 404 without a tenant, and in the same words for one that `requireTenant` would reject, so that a token for some tenants
 * does not reveal the names of others.
 */
export function requireVisibleTenant<T extends NamedTenant>(
  caller: Caller,
  name: string,
  tenant: T | undefined,
): T {
  if (tenant && mayUseTenant(caller, tenant)) return tenant
  const { tenants } = caller
  // A token may name a tenant that does not exist yet.
  if (!tenants || tenants.includes('any') || tenants.includes(name)) throw notFound('tenant', name)
  throw new Refusal(
    'notFound',
    `There is no tenant '${name}' among those of the token; it is for ${tenantsNamed(caller)}.`,
  )
}

type NamedTenant = Pick<Tenant, 'name' | 'type'>

const mayUseTenant = ({ tenants }: Caller, { name, type }: NamedTenant): boolean =>
  !tenants || [name, `type:${type}`, 'any'].some(scope => tenants.includes(scope))

const tenantsNamed = ({ tenants = [] }: Caller): string => tenants.slice(0, MOST_NAMED).join(', ')

// Roles of a tenant's configuration (security/roles.json).

/** Returns the permissions in a list of `group.action` and `group.*` that accounts of tenants can have, by full names. */
export const listedPermissions = (permissions: readonly string[]): Permission[] =>
  ALL_PERMISSIONS.filter(
    permission =>
      !isReserved(permission) &&
      (permissions.includes(permission) || permissions.includes(`${groupOf(permission)}.*`)),
  )

/** Shortens a set of permissions: whole groups become `group.*`. */
export function compactPermissions(held: ReadonlySet<Permission>): string[] {
  const groups = Map.groupBy(ALL_PERMISSIONS, groupOf)
  return [...groups].flatMap(([group, all]): string[] =>
    all.every(permission => held.has(permission))
      ? [`${group}.*`]
      : all.filter(permission => held.has(permission)),
  )
}

type RoleHolder = Pick<Caller, 'username' | 'accountType'> & {
  /** Roles of an archive apply only to users of the archive. */
  readonly source: 'archive' | 'interface'
  /** Roles that the account was given. They replace all others. */
  readonly given?: readonly GivenRole[]
}

/** An account type by its name, or a role of the tenant (access/roles). */
export type GivenRole = {
  readonly name: string
  /** Null for an account type. */
  readonly permissions: readonly string[] | null
}

/**
 * Returns the permissions that an account's roles grant it, for its token: the roles that it was given, or else those of the
 * newest configuration. Undefined when no role applies and the account type decides. An account that a person created gets nothing
 * from an archive's user of the same name: otherwise someone who may add accounts could take a name before the archive does and
 * gain its rights.
 */
export function rolePermissions(
  { username, accountType, source, given = [] }: RoleHolder,
  roles: TenantRoles | null | undefined,
): string[] | undefined {
  const ofType = (type: string): Permission[] => {
    const own = Object.hasOwn(roles?.types ?? {}, type) ? roles?.types[type as TestUserType] : undefined
    return own
      ? listedPermissions(own)
      : ALL_PERMISSIONS.filter(permission => typeHasPermission(type, permission))
  }
  if (given.length > 0)
    return compactPermissions(
      new Set(
        given.flatMap(({ name, permissions }) =>
          permissions ? listedPermissions(permissions) : ofType(name),
        ),
      ),
    )
  if (!roles) return undefined
  const isOwnUser = source === 'archive' && Object.hasOwn(roles.users, username)
  const grant = isOwnUser ? roles.users[username] : undefined
  if (grant)
    return compactPermissions(
      new Set([...grant.types.flatMap(ofType), ...listedPermissions(grant.permissions)]),
    )
  return Object.hasOwn(roles.types, accountType)
    ? compactPermissions(new Set(ofType(accountType)))
    : undefined
}
