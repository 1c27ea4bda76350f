// Roles that an archive defines (security/roles.json) and gives to its users. The account type determines what an account may do
// (brief 7), unless roles.json lists permissions.
import type { Configuration, TestUser } from './configuration.ts'

/** Account types. Each includes the permissions of those after it, so several roles add up (resources brief 11). */
export const ACCOUNT_TYPES_BY_RANK = [
  'account.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
] as const

/** An account type that a role can name. */
export type TestUserType = (typeof ACCOUNT_TYPES_BY_RANK)[number]

/** Account types by the letters and digits of a role, without `account.tenant.` and `user`. */
const TYPE_OF_ROLE: Readonly<Record<string, TestUserType>> = {
  admin: 'account.tenant.admin',
  employee: 'account.tenant.employee',
  fullaccess: 'account.tenant.employee',
  claimsonly: 'account.tenant.claims.only.user',
  claimonly: 'account.tenant.claims.only.user',
  readonly: 'account.tenant.read.only.user',
  reader: 'account.tenant.read.only.user',
  viewer: 'account.tenant.read.only.user',
  viewonly: 'account.tenant.read.only.user',
}

/**
 * Returns the account type that a role names, in spellings such as `read.only.user`, `read-only`, `readOnly` or `reader`; undefined
 * for the author's own roles.
 */
export function typeOfRole(role: string): TestUserType | undefined {
  const dotted = role
    .replace(/([a-z])([A-Z])/g, '$1.$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '.')
    .replace(/^\.|\.$/g, '')
  const bare = dotted
    .replace(/^(?:(?:account\.)?(?:test\.)?tenant\.)/, '')
    .replace(/\.?users?$/, '')
    .replaceAll('.', '')
  return Object.hasOwn(TYPE_OF_ROLE, bare) ? TYPE_OF_ROLE[bare] : undefined
}

/** Treats a role that the author invented as employee. */
const userTypeOfRole = (role: string): TestUserType => typeOfRole(role) ?? 'account.tenant.employee'

/**
 * Returns the highest type that one of the user's roles names. Users without roles, or with the author's own, are employees with
 * full access to policy data: published archives list their users without roles and expect that (resources brief 10.3).
 */
export function accountType({ roles }: Pick<TestUser, 'roles'>): TestUserType {
  const types = roles.map(userTypeOfRole)
  return ACCOUNT_TYPES_BY_RANK.find(type => types.includes(type)) ?? 'account.tenant.employee'
}

/** The roles as stored with a version. They do not repeat what account types define. */
export type TenantRoles = {
  /** Replaces the permissions of an account type: `group.action` or `group.*`. */
  readonly types: Readonly<Partial<Record<TestUserType, readonly string[]>>>
  /** For users of the archive who have a role with its own permissions: the union of all their roles. */
  readonly users: Readonly<Record<string, RoleGrant>>
}

/** `types` add their current permissions to `permissions`. */
type RoleGrant = { readonly types: readonly TestUserType[]; readonly permissions: readonly string[] }

/** Returns null if there are no role permissions. `hasUsers` is whether the archive's users become accounts. */
export function tenantRoles(
  { rolePermissions = {}, testUsers }: Pick<Configuration, 'rolePermissions' | 'testUsers'>,
  hasUsers: boolean,
): TenantRoles | null {
  const types: Partial<Record<TestUserType, string[]>> = {}
  for (const [role, permissions] of Object.entries(rolePermissions)) {
    const type = typeOfRole(role)
    if (type) types[type] = [...(types[type] ?? []), ...permissions]
  }
  const users = hasUsers ? testUsers.flatMap(user => grantOf(user, rolePermissions)) : []
  if (Object.keys(types).length === 0 && users.length === 0) return null
  return { types, users: Object.fromEntries(users) }
}

/** Returns a grant only if one of the author's own roles has permissions. Roles without permissions count as employee. */
function grantOf(
  { username, roles }: TestUser,
  rolePermissions: Readonly<Record<string, readonly string[]>>,
): [string, RoleGrant][] {
  const isOwn = (role: string): boolean =>
    Object.hasOwn(rolePermissions, role) && typeOfRole(role) === undefined
  const own = roles.filter(isOwn)
  if (own.length === 0) return []
  const types = new Set(roles.filter(role => !isOwn(role)).map(userTypeOfRole))
  return [[username, { types: [...types], permissions: own.flatMap(role => rolePermissions[role]!) }]]
}
