// Checks of a caller's permissions against others': nobody can give, or act on, more rights than they have.
import { forbidden, Refusal } from '../kernel/errors.ts'
import type { Caller } from '../platform/context.ts'
import {
  ALL_PERMISSIONS,
  groupOf,
  holds,
  isReserved,
  may,
  type Permission,
  permissionsHeld,
} from '../platform/http/permissions.ts'
import type { Tenant } from '../platform/tenancy.ts'
import type { TenantRoles, TestUserType } from '../product/roles.ts'

/** How many permissions a refusal names; the others are counted. */
const MOST_NAMED = 20

/** Refuses (422) to give permissions that are not held, and names them. `who` begins the sentence. */
export function requireWithin(given: readonly Permission[], held: readonly Permission[], who: string): void {
  const excess = given.filter(permission => !held.includes(permission))
  if (excess.length === 0) return
  const more = excess.length > MOST_NAMED ? ` and ${excess.length - MOST_NAMED} more` : ''
  throw new Refusal('beyondOwner', `${who} ${excess.slice(0, MOST_NAMED).join(', ')}${more}.`)
}

/** An account with its rights, as `requireReach` sees it. */
type Target = Made &
  Pick<Caller, 'username' | 'accountType' | 'permissions'> & { readonly isService: boolean }

/**
 * Refuses (422) to change, end or reset an account with more rights than the caller. You may act on your own account, and on a
 * service account that you made: it has your account's type, and its tokens have permissions that you could give.
 */
export function requireAuthority(caller: Caller, account: Target): void {
  if (account.locator === caller.accountLocator) return
  if (account.isService && account.createdBy === caller.accountLocator) return
  requireWithin(
    permissionsHeld(account),
    permissionsHeld(caller),
    `The account '${account.username}' may what you may not:`,
  )
}

/** An account of the tenant, and who made it. */
type Made = { readonly locator: string; readonly createdBy: string | null }

/**
 * Refuses (403) callers who may only act on their own account and on those that they made (`users.custom`), when they act on
 * another. `anyOf` are the permissions to act on every account of the tenant.
 */
export function requireReach(caller: Caller, account: Made, anyOf: readonly Permission[]): void {
  if (anyOf.some(permission => may(caller, permission))) return
  if (account.locator === caller.accountLocator || account.createdBy === caller.accountLocator) return
  throw forbidden(
    `The account '${caller.username}' may do this to itself and to accounts that it made; to do it to others it lacks the permission ${anyOf.join(' or ')}.`,
  )
}

/**
 * Refuses (403) a long-lived token of an administration account that was made for other tenants. The tenant may be one that a
 * deploy is about to create. Signed-in sessions work for all tenants.
 */
export function requireTenant({ tenants }: Caller, { name, type }: Pick<Tenant, 'name' | 'type'>): void {
  if (!tenants || [name, `type:${type}`, 'any'].some(scope => tenants.includes(scope))) return
  throw forbidden(
    `The token is not for the ${type} tenant '${name}'; it is for ${tenants.slice(0, MOST_NAMED).join(', ')}.`,
  )
}

// The roles that a tenant's configuration defines (security/roles.json), and the permissions that they give an account.

const listed = (permissions: readonly string[]): Permission[] =>
  ALL_PERMISSIONS.filter(
    permission =>
      !isReserved(permission) &&
      (permissions.includes(permission) || permissions.includes(`${groupOf(permission)}.*`)),
  )

/** The shortest list that grants the same: whole groups become `group.*`. */
function compact(held: ReadonlySet<Permission>): string[] {
  const groups = Map.groupBy(ALL_PERMISSIONS, groupOf)
  return [...groups].flatMap(([group, all]): string[] =>
    all.every(permission => held.has(permission))
      ? [`${group}.*`]
      : all.filter(permission => held.has(permission)),
  )
}

/** An account as roles see it. */
type RoleHolder = Pick<Caller, 'username' | 'accountType'> & {
  /** Whether a deploy or a person made the account: an archive's roles are for the archive's users only. */
  readonly source: 'archive' | 'interface'
}

/**
 * The permissions that the roles of the tenant's newest configuration give an account, for its token; undefined when they do
 * not mention it and its account type decides. An account that a person made gets nothing from an archive's user of the same
 * name: otherwise somebody who may add accounts could take a name before the archive does.
 */
export function rolePermissions(
  { username, accountType, source }: RoleHolder,
  roles: TenantRoles | null | undefined,
): string[] | undefined {
  if (!roles) return undefined
  const ofType = (type: TestUserType): Permission[] => {
    const own = roles.types[type]
    return own ? listed(own) : ALL_PERMISSIONS.filter(permission => holds(type, permission))
  }
  const isOwnUser = source === 'archive' && Object.hasOwn(roles.users, username)
  const grant = isOwnUser ? roles.users[username] : undefined
  if (grant) return compact(new Set([...grant.types.flatMap(ofType), ...listed(grant.permissions)]))
  return Object.hasOwn(roles.types, accountType)
    ? compact(new Set(ofType(accountType as TestUserType)))
    : undefined
}
