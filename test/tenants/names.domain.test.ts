import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostNameOf, requireTenantName, testTenantName } from '../../src/access/tenant-names.ts'

test('the test tenant of an administrator is named after the folded user name and a suffix', () => {
  expect(testTenantName('alice', 'motor')).toBe('alice-motor')
  expect(testTenantName('Alice.B@example.org', 'motor')).toBe('alicebexampleorg-motor')
  expect(testTenantName('Zoë', undefined)).toBe('zoe-configeditor')
  expect(testTenantName('管理者', 'x')).toBe('user-x')
})

test('the host name of a tenant contains the environment and the domain', () => {
  expect(hostNameOf({ ENVIRONMENT: 'local', DOMAIN: 'bindery.test' }, 'alice-motor')).toBe(
    'alice-motor.co.local.bindery.test',
  )
})

test('the name of a test tenant is a valid host name for any user name', () => {
  const suffix = fc.stringMatching(/^[a-z0-9-]{0,39}[a-z0-9]$/)
  fc.assert(
    fc.property(fc.string(), suffix, (username, end) => {
      const name = testTenantName(username, end)
      expect(requireTenantName(name)).toBe(name)
      expect(name.length).toBeLessThanOrEqual(63)
    }),
    { seed: 20261121, numRuns: 500 },
  )
})
