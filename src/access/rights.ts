// The permissions of a caller as a set: nobody can give more than they have. And the roles that a configuration defines.
import { Refusal } from '../kernel/errors.ts'
import type { Caller } from '../platform/context.ts'
import {
  ALL_PERMISSIONS,
  holds,
  may,
  ONLY_ADMINISTRATION,
  type Permission,
  permissionsHeld,
} from '../platform/http/permissions.ts'
import type { Tenant } from '../platform/tenancy.ts'

/** Permissions that a refusal names; the rest is counted. */
const MOST_NAMED = 20

/** Refuses (422) to give what is lacking, naming it: `who` is the beginning of a sentence. */
export function requireWithin(given: readonly Permission[], held: readonly Permission[], who: string): void {
  const excess = given.filter(one => !held.includes(one))
  if (excess.length === 0) return
  const more = excess.length > MOST_NAMED ? ` and ${excess.length - MOST_NAMED} more` : ''
  throw new Refusal('beyondOwner', `${who} ${excess.slice(0, MOST_NAMED).join(', ')}${more}.`)
}

/**
 * Refuses (403) a long-lived token of an administration account that is for other tenants than this one, which may be one
 * that a deploy is to make. Whoever signed in is for all.
 */
export function requireTenant({ tenants }: Caller, { name, type }: Pick<Tenant, 'name' | 'type'>): void {
  if (!tenants || [name, `type:${type}`, 'any'].some(one => tenants.includes(one))) return
  throw new Refusal(
    'forbidden',
    `The token is not for the ${type} tenant '${name}'; it is for ${tenants.slice(0, MOST_NAMED).join(', ')}.`,
  )
}

/** An account with its rights, as `requireReach` sees it. */
type Target = Made &
  Pick<Caller, 'username' | 'accountType' | 'permissions'> & { readonly isService: boolean }

/**
 * Refuses (422) to change, end or reset an account that may do what the caller may not. Your own account is yours, and so is a
 * service account that you made: it has the type of your account, and its tokens what you could give them.
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

/** An account of the tenant: itself, or made by whom. */
type Made = { readonly locator: string; readonly createdBy: string | null }

/**
 * Refuses (403) who may act on no account but their own, and those that they made (`users.custom`), to act on another.
 * `anyOf` are the permissions to act on every account of the tenant.
 */
export function requireReach(caller: Caller, account: Made, anyOf: readonly Permission[]): void {
  if (anyOf.some(one => may(caller, one))) return
  if (account.locator === caller.accountLocator || account.createdBy === caller.accountLocator) return
  throw new Refusal(
    'forbidden',
    `The account '${caller.username}' may do this to itself and to accounts that it made; to do it to others it lacks the permission ${anyOf.join(' or ')}.`,
  )
}

/** Account types that a role can name, and so redefine. */
export type RoleType =
  | 'account.tenant.admin'
  | 'account.tenant.employee'
  | 'account.tenant.claims.only.user'
  | 'account.tenant.read.only.user'

/** What a configuration says of permissions; kept with its version. Nothing is in it that the account types say already. */
export type TenantRoles = {
  /** Instead of what the type holds, for all its accounts; as `group.action` or `group.*`. */
  readonly types: Readonly<Partial<Record<RoleType, readonly string[]>>>
  /** Of users of the archive whose roles have permissions of their own: what all their roles give together. */
  readonly users: Readonly<Record<string, RoleGrant>>
}

/** Types whose permissions count, as they are then, and permissions beside them. */
export type RoleGrant = { readonly types: readonly RoleType[]; readonly permissions: readonly string[] }

const groupOf = (permission: string): string => permission.slice(0, permission.indexOf('.'))

/** Whether the text is a permission that a tenant's role may give, or all of a group. */
export function isGrantable(text: string): boolean {
  if (text.endsWith('.*'))
    return ALL_PERMISSIONS.some(permission => groupOf(permission) === text.slice(0, -2))
  return ALL_PERMISSIONS.some(permission => permission === text) && !isReserved(text)
}

/** Whether the permission is the administration account's alone. */
export const isReserved = (text: string): boolean =>
  ONLY_ADMINISTRATION.some(permission => permission === text)

const listed = (permissions: readonly string[]): Permission[] =>
  ALL_PERMISSIONS.filter(
    permission =>
      !isReserved(permission) &&
      (permissions.includes(permission) || permissions.includes(`${groupOf(permission)}.*`)),
  )

/** A list that grants the same with fewer words: groups that are held whole are written `group.*`. */
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
  /** Whether a deploy made it or somebody did: an archive's roles are those of its own users. */
  readonly source: 'archive' | 'interface'
}

/**
 * What an account may by the roles of its tenant's newest configuration, for its token; undefined where they say nothing of
 * it, so that its account type counts. An account that somebody made has nothing of an archive's user of that name: or else
 * who may add accounts could be there first, under the name of one that is to come.
 */
export function rolePermissions(
  { username, accountType, source }: RoleHolder,
  roles: TenantRoles | null | undefined,
): string[] | undefined {
  if (!roles) return undefined
  const ofType = (type: RoleType): Permission[] => {
    const own = roles.types[type]
    return own ? listed(own) : ALL_PERMISSIONS.filter(permission => holds(type, permission))
  }
  const isOwnUser = source === 'archive' && Object.hasOwn(roles.users, username)
  const grant = isOwnUser ? roles.users[username] : undefined
  if (grant) return compact(new Set([...grant.types.flatMap(ofType), ...listed(grant.permissions)]))
  return Object.hasOwn(roles.types, accountType)
    ? compact(new Set(ofType(accountType as RoleType)))
    : undefined
}
