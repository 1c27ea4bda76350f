// Permissions as people read them, by group, and the names of account types and roles.
import { h, type View } from '../element.ts'
import { words } from '../format.ts'
import { emptyNote, facts } from '../parts.ts'
import type { Role } from '../wire.ts'
import { USERS } from './words.ts'

/** Groups permissions by their resource: `policies.read` belongs to `policies`. */
export const byGroup = (permissions: readonly string[]): Map<string, string[]> =>
  Map.groupBy(permissions, permission => permission.slice(0, permission.lastIndexOf('.')))

function action(permission: string): string {
  const name = permission.slice(permission.lastIndexOf('.') + 1)
  return name === '*' ? USERS.everything : name
}

export const permissionList = (permissions: readonly string[]): View =>
  permissions.length === 0
    ? emptyNote(USERS.noPermissions)
    : facts(
        [...byGroup(permissions)].map(([group, some]) => [
          words(group),
          h('code', {}, some.map(action).join(', ')),
        ]),
      )

/** Formats `account.tenant.read.only.user` as "Read only user". */
export const typeName = (type: string): string => words(type.replace(/^account\.(?:tenant\.)?/, ''))

export const roleName = ({ name, title }: Pick<Role, 'name' | 'title'>): string => title ?? typeName(name)
