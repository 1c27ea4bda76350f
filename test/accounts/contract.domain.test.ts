import { expect, test } from 'vitest'
import { AuthenticateAdminQuery, AuthenticateRequest } from '../../src/access/contract.ts'

test('signing in needs a user name and a password, kept as it is', () => {
  expect(AuthenticateRequest.parse({ username: 'ann', password: '  a b ' })).toEqual({
    username: 'ann',
    password: '  a b ',
  })
})

test('a wrong password value is never repeated in the answer', () => {
  const { error } = AuthenticateRequest.safeParse({ username: 'ann', password: 's3cret'.repeat(200) })
  expect(error!.issues.map(issue => issue.message)).toEqual(["'password' must have at most 1024 characters."])
})

test('an empty tenant in the query is no tenant', () => {
  expect(AuthenticateAdminQuery.parse({ hostName: '', tenantName: 'acme' }).hostName).toBeUndefined()
})
