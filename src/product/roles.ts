// The roles that an archive defines (security/roles.json) and gives to its users. What an account may do follows from
// its account type (brief 7), unless roles.json lists permissions.
import type { Configuration, TestUser } from './configuration.ts'

/** Each type may do what those after it may, so that several roles together give the rights of all (resources brief 11). */
const FROM_MOST_TO_LEAST = [
  'account.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
] as const

/** Account types that a role can name. */
export type TestUserType = (typeof FROM_MOST_TO_LEAST)[number]

/** By the role's letters and digits, without `account.tenant.` before them and `user` after them. */
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

/** The account type that a role names, as `read.only.user`, `read-only`, `readOnly`, `reader`; undefined for the author's own. */
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

/** A role of the author's own is an employee's. */
const typeOrEmployee = (role: string): TestUserType => typeOfRole(role) ?? 'account.tenant.employee'

/**
 * The type of a user's account: the highest that one of the roles names. Roles of the author's own, and none at
 * all, make an employee, who has full access to policy data: so published archives mean their users, who have
 * no roles (resources brief 10.3).
 */
export function accountType({ roles }: Pick<TestUser, 'roles'>): TestUserType {
  const types = roles.map(typeOrEmployee)
  return FROM_MOST_TO_LEAST.find(type => types.includes(type)) ?? 'account.tenant.employee'
}

/** What a configuration says about permissions, stored with its version. It repeats nothing that account types define. */
export type TenantRoles = {
  /** Instead of what the type holds, for all its accounts; as `group.action` or `group.*`. */
  readonly types: Readonly<Partial<Record<TestUserType, readonly string[]>>>
  /** Of users of the archive whose roles have permissions of their own: what all their roles give together. */
  readonly users: Readonly<Record<string, RoleGrant>>
}

/** Types whose permissions count, as they are then, and permissions beside them. */
type RoleGrant = { readonly types: readonly TestUserType[]; readonly permissions: readonly string[] }

/** Null when the configuration gives no role permissions. `hasUsers`: whether its users become accounts. */
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

/** The grant of a user with an author's own role that has permissions. A role without permissions is an employee's. */
function grantOf(
  { username, roles }: TestUser,
  rolePermissions: Readonly<Record<string, readonly string[]>>,
): [string, RoleGrant][] {
  const isOwn = (role: string): boolean =>
    Object.hasOwn(rolePermissions, role) && typeOfRole(role) === undefined
  const own = roles.filter(isOwn)
  if (own.length === 0) return []
  const types = new Set(roles.filter(role => !isOwn(role)).map(typeOrEmployee))
  return [[username, { types: [...types], permissions: own.flatMap(role => rolePermissions[role]!) }]]
}
