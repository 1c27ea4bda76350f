// No account changes, disables or resets an account that may do more than itself, by any operation on another account.
import { beforeAll, describe, expect, it } from 'vitest'
import { accountAdministrationRoutes } from '../../src/access/administration/routes.ts'
import { authTokenRoutes } from '../../src/access/auth-tokens/routes.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { PASSWORD, type People, peopleOf, type Refused } from './people.ts'

let people: People
let boss: string
let helpdesk: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  people = await peopleOf(1)
  boss = await people.token('boss')
  helpdesk = await callOk<string>('POST', '/auth/users/tokens', {
    token: boss,
    body: {
      name: 'helpdesk',
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      permissions: ['users.*'],
      tenants: ['any'],
    },
  })
})

const ACCOUNTS = '/account/v1/accounts/{locator}'

/** The body that each operation sends. */
const OPERATIONS: Readonly<Record<string, unknown>> = {
  [`PATCH ${ACCOUNTS}/disable`]: undefined,
  [`PATCH ${ACCOUNTS}/enable`]: undefined,
  [`PUT ${ACCOUNTS}/password`]: { password: 'Holunderblatt-9-Jahre' },
  [`DELETE ${ACCOUNTS}`]: undefined,
  'DELETE /auth/users/{locator}/tokens/{tokenOrName}': undefined,
  'POST /auth/users/{locator}/revoke': undefined,
  'DELETE /auth/users/{locator}/credentials': undefined,
  'POST /account/unlock': 'username',
}

/** Gives a service account a token. The rights of the caller and the type of the account limit it in a different way. */
const BOUND_OTHERWISE = ['POST /auth/users/{locator}/tokens']

const writes = [...accountAdministrationRoutes, ...authTokenRoutes].filter(
  ({ method, path }) => method !== 'get' && (path.includes('{locator}') || path === '/account/unlock'),
)

it('the table lists every operation that writes to another account', () => {
  const named = writes.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(named.sort()).toEqual([...Object.keys(OPERATIONS), ...BOUND_OTHERWISE].sort())
})

describe.each(Object.entries(OPERATIONS))('%s', (operation, sent) => {
  const call = (username: string, token: string) => {
    const [method, path] = operation.split(' ') as [string, string]
    const at = path.replace('{locator}', people.locators[username]!).replace('{tokenOrName}', 'own')
    const body = sent === 'username' ? { username, tenantName: people.tenant.name } : sent
    return callApi<Refused>(method, at, { token, ...(body !== undefined && { body }) })
  }

  it.each(['account.tenant.admin', 'account.tenant.employee', 'account.tenant.read.only.user'])(
    'returns 422 to a caller with fewer rights than an %s',
    async type => {
      const username = `${type}-${Object.keys(OPERATIONS).indexOf(operation)}`
      await people.add(username, type)
      const own = await people.token(username)
      const { status, body } = await call(username, helpdesk)
      expect([status, body.code, body.message]).toEqual([
        422,
        'beyondOwner',
        expect.stringContaining('permissions that you lack'),
      ])
      expect((await callApi('GET', '/auth/permissions', { token: own })).status).toBe(200)
      expect((await people.tryToEnter(username, PASSWORD)).status).toBe(200)
      const permitted = await call(username, boss)
      // The token does not exist: a caller with enough rights gets 404.
      expect(permitted.status).toBe(operation.includes('tokenOrName') ? 404 : 200)
    },
  )
})
