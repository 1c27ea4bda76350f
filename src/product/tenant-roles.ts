// What a configuration says of permissions, as sign-ins need it.
import type { RoleGrant, RoleType, TenantRoles } from '../access/rights.ts'
import type { Configuration, TestUser } from './configuration.ts'
import { typeOfRole } from './test-user-roles.ts'

type Said = Pick<Configuration, 'rolePermissions' | 'testUsers'>

/** Null when the configuration gives no role permissions. `hasUsers`: whether its users become accounts. */
export function tenantRoles(
  { rolePermissions = {}, testUsers }: Said,
  hasUsers: boolean,
): TenantRoles | null {
  const types: Partial<Record<RoleType, string[]>> = {}
  for (const [role, permissions] of Object.entries(rolePermissions)) {
    const type = typeOfRole(role)
    if (type) types[type] = [...(types[type] ?? []), ...permissions]
  }
  const users = hasUsers ? testUsers.flatMap(user => grantOf(user, rolePermissions)) : []
  if (Object.keys(types).length === 0 && users.length === 0) return null
  return { types, users: Object.fromEntries(users) }
}

/** Of a user with a role of the author's own that has permissions. One that has none is an employee's. */
function grantOf(
  { username, roles }: TestUser,
  rolePermissions: Readonly<Record<string, readonly string[]>>,
): [string, RoleGrant][] {
  const isOwn = (role: string): boolean =>
    Object.hasOwn(rolePermissions, role) && typeOfRole(role) === undefined
  const own = roles.filter(isOwn)
  if (own.length === 0) return []
  const types = roles
    .filter(role => !isOwn(role))
    .map((role): RoleType => typeOfRole(role) ?? 'account.tenant.employee')
  return [
    [username, { types: [...new Set(types)], permissions: own.flatMap(role => rolePermissions[role]!) }],
  ]
}
