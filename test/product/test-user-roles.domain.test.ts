import { describe, expect, test } from 'vitest'
import { accountType, typeOfRole } from '../../src/product/roles.ts'

describe('a role', () => {
  test.each([
    ['admin', 'account.tenant.admin'],
    ['tenant.admin', 'account.tenant.admin'],
    ['account.test.tenant.admin', 'account.tenant.admin'],
    ['tenant.employee', 'account.tenant.employee'],
    ['Full Access', 'account.tenant.employee'],
    ...[
      ['read.only.user', 'tenant.read.only.user', 'account.tenant.read.only.user'],
      ['read-only', 'readonly', 'read_only', 'READ ONLY', 'readOnlyUser', 'reader', 'viewer'],
    ]
      .flat()
      .map(role => [role, 'account.tenant.read.only.user']),
    ...['claims.only.user', 'tenant.claims.only.user', 'claims-only', 'claimsOnly'].map(role => [
      role,
      'account.tenant.claims.only.user',
    ]),
  ])('named %s has the type %s', (role, type) => {
    expect(typeOfRole(role!)).toBe(type)
  })

  test.each(['agent', 'claims', 'internal', 'users', 'superadmin', 'constructor', '', '保険'])(
    'named %j has no type, since it is one of the author’s own',
    role => {
      expect(typeOfRole(role)).toBeUndefined()
    },
  )
})

describe('an account', () => {
  test.each<[string[], string]>([
    [[], 'account.tenant.employee'],
    [['agent'], 'account.tenant.employee'],
    [['read-only'], 'account.tenant.read.only.user'],
    [['read-only', 'claims-only'], 'account.tenant.claims.only.user'],
    [['read-only', 'agent'], 'account.tenant.employee'],
    [['agent', 'admin', 'reader'], 'account.tenant.admin'],
  ])('with the roles %j has the combined rights of them: %s', (roles, type) => {
    expect(accountType({ roles })).toBe(type)
  })
})
