import { describe, expect, it } from 'vitest'
import { rolePermissions } from '../../src/access/rights.ts'
import {
  ALL_PERMISSIONS,
  grants,
  isGrantable,
  typeHasPermission,
} from '../../src/platform/http/permissions.ts'
import { tenantRoles } from '../../src/product/roles.ts'

const user = (username: string, ...roles: string[]) => ({ username, name: username, password: 'x', roles })

const ROLES = {
  agent: ['policies.*', 'quotes.read'],
  referrer: ['quotes.underwrite'],
  'read-only': ['policies.read'],
}
const USERS = [
  user('amy', 'agent'),
  user('both', 'agent', 'referrer'),
  user('mixed', 'referrer', 'readOnly'),
  user('named', 'agent', 'clerk'),
  user('plain', 'clerk'),
  user('rita', 'read-only'),
]
const roles = tenantRoles({ rolePermissions: ROLES, testUsers: USERS }, true)

const source = 'archive'

const may = (username: string, accountType = 'account.tenant.employee') =>
  ALL_PERMISSIONS.filter(permission =>
    grants(rolePermissions({ username, accountType, source }, roles) ?? ['nothing said'], permission),
  )
const all = (group: string) => ALL_PERMISSIONS.filter(permission => permission.startsWith(`${group}.`))

describe('roles of a configuration', () => {
  it('give a user the union of the permissions of all its roles', () => {
    expect(may('amy')).toEqual([...all('policies'), 'quotes.read'])
    expect(may('both')).toEqual([...all('policies'), 'quotes.read', 'quotes.underwrite'])
  })

  it('named like an account type redefine it for all accounts of the type and for users with more roles', () => {
    expect(may('rita', 'account.tenant.read.only.user')).toEqual(['policies.read'])
    expect(may('made-by-hand', 'account.tenant.read.only.user')).toEqual(['policies.read'])
    expect(may('mixed')).toEqual(['policies.read', 'quotes.underwrite'])
  })

  it('without permissions leave users the permissions of their account type', () => {
    const employee = ALL_PERMISSIONS.filter(permission =>
      typeHasPermission('account.tenant.employee', permission),
    )
    expect(may('named')).toEqual(employee)
    expect(
      rolePermissions({ username: 'plain', accountType: 'account.tenant.employee', source }, roles),
    ).toBeUndefined()
  })

  it('apply to users of the archive, not to an account added under the same user name', () => {
    const added = (username: string, accountType: string) =>
      rolePermissions({ username, accountType, source: 'interface' }, roles)
    expect(added('amy', 'account.tenant.employee')).toBeUndefined()
    expect(added('amy', 'account.tenant.read.only.user')).toEqual(['policies.read'])
  })

  it('are null when no role has permissions or test users are not accounts', () => {
    expect(tenantRoles({ testUsers: USERS }, true)).toBeNull()
    expect(tenantRoles({ rolePermissions: { agent: ['policies.*'] }, testUsers: USERS }, false)).toBeNull()
    expect(
      rolePermissions({ username: 'amy', accountType: 'account.tenant.employee', source }, null),
    ).toBeUndefined()
    expect(
      rolePermissions({ username: 'constructor', accountType: 'constructor', source }, roles),
    ).toBeUndefined()
  })

  it('are abbreviated in a token: a complete group becomes one entry', () => {
    const list = rolePermissions({ username: 'amy', accountType: '', source }, roles)
    expect(list).toEqual(['policies.*', 'quotes.read'])
    const everything = tenantRoles(
      { rolePermissions: { all: ALL_PERMISSIONS.filter(isGrantable) }, testUsers: [user('x', 'all')] },
      true,
    )
    expect(
      JSON.stringify(rolePermissions({ username: 'x', accountType: '', source }, everything)).length,
    ).toBeLessThan(900)
  })

  it('never grant a permission of administration accounts, not even as part of a group', () => {
    const greedy = tenantRoles(
      { rolePermissions: { x: ['deployments.*'] }, testUsers: [user('x', 'x')] },
      true,
    )
    const list = rolePermissions({ username: 'x', accountType: '', source }, greedy)!
    expect(grants(list, 'deployments.deploy')).toBe(false)
    expect(grants(list, 'deployments.read')).toBe(true)
    expect(isGrantable('deployments.deploy')).toBe(false)
    for (const text of ['policies.fly', 'policies', '*', 'flights.*', '', 'toString.*'])
      expect(isGrantable(text), text).toBe(false)
    for (const text of ['policies.read', 'policies.*']) expect(isGrantable(text)).toBe(true)
  })
})
