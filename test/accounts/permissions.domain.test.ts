import { describe, expect, it } from 'vitest'
import { requireAccountAccess, requireAuthority } from '../../src/access/rights.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import {
  PERMISSION_GROUPS,
  type Permission,
  permissionsHeld,
  requirePermission,
  typeHasPermission,
} from '../../src/platform/http/permissions.ts'

const ALL = Object.entries(PERMISSION_GROUPS).flatMap(([group, { actions }]) =>
  actions.map(action => `${group}.${action}` as Permission),
)
const heldBy = (type: string): Permission[] => ALL.filter(permission => typeHasPermission(type, permission))

describe('permissions', () => {
  it('a tenant administrator has every permission except deployments.deploy', () => {
    expect(ALL.filter(permission => !typeHasPermission('account.tenant.admin', permission))).toEqual([
      'deployments.deploy',
    ])
  })

  it('the administration account has every permission', () => {
    expect(heldBy('account.internal')).toEqual(ALL)
  })

  it('an employee has full access to policy data and can read resources', () => {
    expect(typeHasPermission('account.tenant.employee', 'policies.issue')).toBe(true)
    expect(typeHasPermission('account.tenant.employee', 'tables.read')).toBe(true)
    expect(typeHasPermission('account.tenant.employee', 'tenants.clock')).toBe(true)
    for (const permission of ['tables.upload', 'users.list', 'secrets.read', 'webhooks.write'] as const)
      expect(typeHasPermission('account.tenant.employee', permission)).toBe(false)
  })

  it('a read-only user can change nothing and cannot read secrets', () => {
    const held = heldBy('account.tenant.read.only.user')
    expect(held.filter(permission => !/\.(read|list)$/.test(permission))).toEqual(['users.custom'])
    expect(held).not.toContain('secrets.read')
    expect(held).not.toContain('tenants.clock')
  })

  it('a claims user can write claims, media and quotes, and check calculations', () => {
    const held = heldBy('account.tenant.claims.only.user')
    const more = held.filter(permission => !/\.(read|list)$/.test(permission))
    expect(new Set(more.map(permission => permission.split('.')[0]))).toEqual(
      new Set(['quotes', 'calculations', 'media', 'claims', 'users']),
    )
    expect(held).toContain('quotes.accept')
  })

  it('employees and administrators can decide in place of underwriting; other types cannot', () => {
    for (const group of ['quotes', 'endorsements', 'renewals'] as const) {
      const permission: Permission = `${group}.underwrite`
      expect(typeHasPermission('account.tenant.employee', permission)).toBe(true)
      expect(typeHasPermission('account.tenant.claims.only.user', permission)).toBe(false)
      expect(typeHasPermission('account.tenant.read.only.user', permission)).toBe(false)
    }
  })

  it('the permissions listed in the token of a caller replace those of its account type', () => {
    const caller = {
      accountLocator: '00000000-0000-4000-8000-000000000001' as Uuid,
      username: 'anna',
      accountType: 'account.tenant.read.only.user',
      permissions: ['policies.write', 'tables.*'],
    }
    for (const permission of ['policies.write', 'tables.read', 'tables.upload'] as const)
      expect(() => requirePermission(caller, [permission])).not.toThrow()
    for (const permission of ['policies.read', 'tenants.clock'] as const)
      expect(() => requirePermission(caller, [permission])).toThrow(permission)
  })

  it('an unknown account type has no permissions', () => {
    expect(heldBy('account.unauthenticated')).toEqual([])
    expect(heldBy('constructor')).toEqual([])
  })

  it('any one of the required permissions is enough, and the error names them all', () => {
    const caller = {
      accountLocator: '' as Uuid,
      username: 'carla',
      accountType: 'account.tenant.claims.only.user',
    }
    requirePermission(caller, ['policies.issue', 'quotes.issue'])
    expect(() => requirePermission(caller, ['policies.issue', 'policies.write'])).toThrow(
      new Refusal(
        'forbidden',
        "The account 'carla' (account.tenant.claims.only.user) lacks the permission policies.issue or policies.write.",
      ),
    )
  })

  it('a caller with users.custom alone reaches its own account and accounts that it created', () => {
    const me = '00000000-0000-4000-8000-000000000001' as Uuid
    const other = '00000000-0000-4000-8000-000000000002' as Uuid
    const caller = { accountLocator: me, username: 'rita', accountType: 'account.tenant.read.only.user' }
    const reaching =
      (who: typeof caller & { permissions?: string[] }, locator: Uuid, createdBy: Uuid | null) => () =>
        requireAccountAccess(who, { locator, createdBy }, ['users.write'])
    expect(reaching(caller, me, null)).not.toThrow()
    expect(reaching(caller, other, me)).not.toThrow()
    expect(reaching(caller, other, null)).toThrow('users.write')
    expect(reaching({ ...caller, permissions: ['users.write'] }, other, null)).not.toThrow()
  })

  it('of accounts with more permissions than the caller, only a service account that it created is in reach', () => {
    const me = '00000000-0000-4000-8000-000000000001' as Uuid
    const other = '00000000-0000-4000-8000-000000000002' as Uuid
    const caller = { accountLocator: me, username: 'rita', accountType: 'account.tenant.read.only.user' }
    const actingOn = (isService: boolean, createdBy: Uuid | null, locator: Uuid, type: string) => () =>
      requireAuthority(caller, { locator, createdBy, isService, username: 'admin', accountType: type })
    const admin = 'account.tenant.admin'
    expect(actingOn(true, me, other, admin)).not.toThrow()
    expect(actingOn(true, other, other, admin)).toThrow("'admin' has permissions that you lack")
    expect(actingOn(true, null, other, admin)).toThrow("'admin' has permissions that you lack")
    expect(actingOn(false, me, other, admin)).toThrow("'admin' has permissions that you lack")
    expect(actingOn(false, null, me, admin)).not.toThrow()
    expect(actingOn(false, null, other, caller.accountType)).not.toThrow()
  })

  it('permissionsHeld expands groups and omits permissions that do not exist', () => {
    const caller = { accountLocator: '' as Uuid, username: 'x', accountType: 'account.tenant.admin' }
    expect(permissionsHeld({ ...caller, permissions: ['tables.*', 'policies.read', 'none.such'] })).toEqual([
      'policies.read',
      'tables.read',
      'tables.upload',
    ])
    expect(permissionsHeld(caller)).toEqual(heldBy('account.tenant.admin'))
  })
})
