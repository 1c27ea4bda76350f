// A tenant always has a person who may change its users. Roles decide who that is, so no change of roles may leave nobody.
import type { Caller } from '../../platform/context.ts'
import { TENANT_ACCOUNT_TYPES } from '../../platform/http/account-types.ts'
import { may } from '../../platform/http/permissions.ts'
import type { TenantRoles } from '../../product/roles.ts'
import { listedPermissions, rolePermissions } from '../rights.ts'
import type { HoldersOf } from './store.ts'

const MANAGING = 'users.write'

export const manages = (held: Pick<Caller, 'accountType' | 'permissions'>): boolean => may(held, MANAGING)

/** Whether a role with these permissions lets its accounts change users. */
export const givesManaging = (permissions: readonly string[]): boolean =>
  listedPermissions(permissions).includes(MANAGING)

type OwnRole = { readonly name: string; readonly permissions: readonly string[] }

/** By what accounts may change users, with these roles of the configuration and of the interface. */
export function managersOf(configured: TenantRoles | null | undefined, own: readonly OwnRole[]): HoldersOf {
  const heldBy = (username: string, accountType: string, source: 'archive' | 'interface'): boolean => {
    const permissions = rolePermissions({ username, accountType, source }, configured)
    return manages({ accountType, ...(permissions && { permissions }) })
  }
  const types = TENANT_ACCOUNT_TYPES.filter(type => heldBy('', type, 'interface'))
  const all = Object.keys(configured?.users ?? {})
  return {
    types,
    roles: [...types, ...own.flatMap(({ name, permissions }) => (givesManaging(permissions) ? [name] : []))],
    users: { all, holding: all.filter(username => heldBy(username, '', 'archive')) },
  }
}
