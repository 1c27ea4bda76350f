// Roles that a tenant's configuration defines (security/roles.json), and what they make of who signs in.
import type { Caller } from '../platform/context.ts'
import { ALL_PERMISSIONS, groupOf, holds, isReserved, type Permission } from '../platform/http/permissions.ts'
import type { TenantRoles, TestUserType } from '../product/roles.ts'

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
