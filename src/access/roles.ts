// The roles that a tenant's configuration defines (security/roles.json), and the permissions that they give an account.
import type { Caller } from '../platform/context.ts'
import { ALL_PERMISSIONS, groupOf, holds, isReserved, type Permission } from '../platform/http/permissions.ts'
import type { TenantRoles, TestUserType } from '../product/roles.ts'

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
