import { describe, expect, it } from 'vitest'
import { requireReach } from '../../src/access/rights.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import {
  holds,
  PERMISSION_GROUPS,
  type Permission,
  permissionsHeld,
  requirePermission,
} from '../../src/platform/http/permissions.ts'

const ALL = Object.entries(PERMISSION_GROUPS).flatMap(([group, { actions }]) =>
  actions.map(action => `${group}.${action}` as Permission),
)
const heldBy = (type: string): Permission[] => ALL.filter(permission => holds(type, permission))

describe('permissions', () => {
  it('a tenant administrator may everything in the tenant but deploy', () => {
    expect(ALL.filter(permission => !holds('account.tenant.admin', permission))).toEqual([
      'deployments.deploy',
    ])
  })

  it('the administration account may deploy', () => {
    expect(heldBy('account.internal')).toEqual(ALL)
  })

  it('an employee has full access to policy data and reads resources', () => {
    expect(holds('account.tenant.employee', 'policies.issue')).toBe(true)
    expect(holds('account.tenant.employee', 'tables.read')).toBe(true)
    expect(holds('account.tenant.employee', 'tenants.clock')).toBe(true)
    for (const permission of ['tables.upload', 'users.list', 'secrets.read', 'webhooks.write'] as const)
      expect(holds('account.tenant.employee', permission)).toBe(false)
  })

  it('a read-only user changes nothing and sees no secrets', () => {
    const held = heldBy('account.tenant.read.only.user')
    expect(held.filter(permission => !/\.(read|list)$/.test(permission))).toEqual(['users.custom'])
    expect(held).not.toContain('secrets.read')
    expect(held).not.toContain('tenants.clock')
  })

  it('a claims user writes claims, media and quotes, and checks calculations', () => {
    const held = heldBy('account.tenant.claims.only.user')
    const more = held.filter(permission => !/\.(read|list)$/.test(permission))
    expect(new Set(more.map(permission => permission.split('.')[0]))).toEqual(
      new Set(['quotes', 'calculations', 'media', 'claims', 'users']),
    )
    expect(held).toContain('quotes.accept')
  })

  it('who decides in underwriting’s place is an employee or an administrator', () => {
    for (const group of ['quotes', 'endorsements', 'renewals'] as const) {
      const permission: Permission = `${group}.underwrite`
      expect(holds('account.tenant.employee', permission)).toBe(true)
      expect(holds('account.tenant.claims.only.user', permission)).toBe(false)
      expect(holds('account.tenant.read.only.user', permission)).toBe(false)
    }
  })

  it('a list that a caller brings counts in the place of its type', () => {
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

  it('an unknown account type holds nothing', () => {
    expect(heldBy('account.unauthenticated')).toEqual([])
    expect(heldBy('constructor')).toEqual([])
  })

  it('any one of the permissions is enough, and a refusal names them all', () => {
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

  it('who may act on their own alone reaches themselves and what they made', () => {
    const me = '00000000-0000-4000-8000-000000000001' as Uuid
    const other = '00000000-0000-4000-8000-000000000002' as Uuid
    const caller = { accountLocator: me, username: 'rita', accountType: 'account.tenant.read.only.user' }
    const reaching =
      (who: typeof caller & { permissions?: string[] }, locator: Uuid, createdBy: Uuid | null) => () =>
        requireReach(who, { locator, createdBy }, ['users.write'])
    expect(reaching(caller, me, null)).not.toThrow()
    expect(reaching(caller, other, me)).not.toThrow()
    expect(reaching(caller, other, null)).toThrow('users.write')
    expect(reaching({ ...caller, permissions: ['users.write'] }, other, null)).not.toThrow()
  })

  it('what a caller may is told by the whole names of permissions that exist', () => {
    const caller = { accountLocator: '' as Uuid, username: 'x', accountType: 'account.tenant.admin' }
    expect(permissionsHeld({ ...caller, permissions: ['tables.*', 'policies.read', 'none.such'] })).toEqual([
      'policies.read',
      'tables.read',
      'tables.upload',
    ])
    expect(permissionsHeld(caller)).toEqual(heldBy('account.tenant.admin'))
  })
})
