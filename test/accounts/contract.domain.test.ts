import { expect, test } from 'vitest'
import { AuthenticateAdminQuery, AuthenticateRequest } from '../../src/access/contract.ts'

test('signing in needs a user name and a password, which keeps its blanks', () => {
  expect(AuthenticateRequest.parse({ username: 'ann', password: '  a b ' })).toEqual({
    username: 'ann',
    password: '  a b ',
  })
})

test('an error about a password does not repeat its value', () => {
  const { error } = AuthenticateRequest.safeParse({ username: 'ann', password: 's3cret'.repeat(200) })
  expect(error!.issues.map(issue => issue.message)).toEqual(["'password' must have at most 1024 characters."])
})

test('an empty hostName in the query counts as absent', () => {
  expect(AuthenticateAdminQuery.parse({ hostName: '', tenantName: 'acme' }).hostName).toBeUndefined()
})
