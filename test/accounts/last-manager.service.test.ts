// At least one person who can sign in and change users always remains. An account that cannot sign in does not count.
import { beforeAll, expect, it } from 'vitest'
import { callApi, callOk } from '../support/api.ts'
import { afterBatches } from '../support/between-batches.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { openProvider, type RemoteProvider } from '../support/oidc.ts'
import { PASSWORD, type People, peopleOf, type Refused } from './people.ts'

const MAPPINGS = [{ claim: 'groups', value: 'heads', roles: ['admin'] }]

let people: People
/** The token of a service account, which is not a person and has all permissions of an administrator. */
let program: string
let acme: RemoteProvider
let first: string
let second: string

const call = (method: string, path: string, body?: object, token = program) =>
  callApi<Refused>(method, path, { token, ...(body && { body }) })

async function add(username: string): Promise<string> {
  const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
    token: program,
    body: { username, name: username, email: `${username}@example.com`, type: 'admin', password: PASSWORD },
  })
  return id
}

const disable = (locator: string) => call('PATCH', `/account/v1/accounts/${locator}/disable`)
const enable = (locator: string) => call('PATCH', `/account/v1/accounts/${locator}/enable`)
const remove = (locator: string) => call('DELETE', `/account/v1/accounts/${locator}`)
const removeCredentials = (locator: string, token = program) =>
  call('DELETE', `/auth/users/${locator}/credentials`, undefined, token)
const setPassword = (locator: string) =>
  call('PUT', `/account/v1/accounts/${locator}/password`, { password: 'Rhabarber-7-Kisten' })
const give = (locator: string, roles: string[]) => call('PUT', `/auth/users/${locator}/roles`, { roles })
const changeRole = (permissions: string[]) => call('PUT', '/auth/roles/heads', { permissions })
const setProvider = (changes: object = {}) =>
  call('PUT', '/auth/providers/acme', {
    issuer: acme.issuer,
    clientId: 'bindery',
    mappings: MAPPINGS,
    ...changes,
  })
const enterByProvider = async (): Promise<string> => {
  const { authorizationToken } = await callOk<{ authorizationToken: string }>(
    'POST',
    '/account/authenticateByProvider',
    { body: { tenantName: people.tenant.name, idToken: await acme.idToken('subject-bea') } },
  )
  const { accountLocator } = await callOk<{ accountLocator: string }>('GET', '/auth/whoami', {
    token: authorizationToken,
  })
  return accountLocator
}

const refused = { status: 409, message: expect.stringContaining('No person would be left') }
const outcome = async (answer: Promise<{ status: number; body: Refused }>) => {
  const { status, body } = await answer
  return { status, message: body?.message }
}
const ok = async (answer: Promise<{ status: number }>) => expect((await answer).status).toBe(200)

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  people = await peopleOf(1)
  acme = await openProvider({ 'subject-bea': { preferred_username: 'bea', groups: ['heads'] } })
  const boss = await people.token('boss')
  const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
    token: boss,
    body: { username: 'program', name: 'Program', email: 'p@example.com', type: 'service' },
  })
  const permissions = (await callOk<{ permissions: string[] }>('GET', '/auth/permissions', { token: boss }))
    .permissions
  program = await callOk<string>('POST', `/auth/users/${id}/tokens`, {
    token: boss,
    body: { name: 'own', expiresAt: Date.now() + 3_600_000, permissions },
  })
  ;[first, second] = [await add('first'), await add('second')]
  await ok(disable(people.locators.boss!))
})

it('an account without credentials does not count as the last person who can manage users', async () => {
  await ok(removeCredentials(second))
  for (const refusal of [disable, remove, removeCredentials])
    expect(await outcome(refusal(first))).toEqual(refused)
  expect(await outcome(give(first, ['read-only']))).toEqual(refused)
  // Nor can the person remove their own credentials.
  expect(await outcome(removeCredentials(first, await people.token('first')))).toEqual(refused)
  // An account that cannot sign in may be disabled: nothing is lost.
  await ok(disable(second))
  await ok(enable(second))
  await ok(give(second, ['read-only']))
  await ok(give(second, []))

  await ok(setPassword(second))
  // Round trips: the token, the account, the batch, and publishing the revocation.
  const removed = await removeCredentials(first)
  expect([removed.status, roundTrips(removed)]).toEqual([200, { d1: 4, object: 0, r2: 0, queue: 0 }])
  expect(await outcome(disable(second))).toEqual(refused)
  await ok(setPassword(first))
  await ok(disable(second))
  await ok(enable(second))
})

it('a role keeps users.write while its holder is the only manager of users who can sign in', async () => {
  await ok(call('POST', '/auth/roles', { name: 'heads', permissions: ['users.*', 'policies.read'] }))
  await ok(give(first, ['heads']))
  await ok(removeCredentials(second))
  expect(await outcome(changeRole(['policies.read']))).toEqual(refused)
  await ok(changeRole(['users.write']))
  await ok(setPassword(second))
  await ok(changeRole(['policies.read']))
  await ok(give(first, []))
})

it('an account that signs in by a provider counts only while the tenant has the provider', async () => {
  await ok(setProvider())
  const bea = await enterByProvider()
  await ok(removeCredentials(first))
  await ok(removeCredentials(second))
  const elsewhere = { issuer: 'https://login.moved.example' }
  for (const refusal of [
    () => call('DELETE', '/auth/providers/acme'),
    () => setProvider(elsewhere),
    () => disable(bea),
    () => remove(bea),
    () => give(bea, ['read-only']),
  ])
    expect((await refusal()).status).toBe(409)
  expect(await outcome(call('DELETE', '/auth/providers/acme'))).toEqual(refused)
  expect(await outcome(setProvider(elsewhere))).toEqual(refused)
  await ok(setProvider({ label: 'Acme' }))
  expect(
    (await callOk<{ disabled: boolean }>('GET', `/account/v1/accounts/${bea}`, { token: program })).disabled,
  ).toBe(false)

  await ok(setPassword(first))
  // Round trips: the token, the current state, the batch, and two to read and publish whose tokens ended.
  const deleted = await call('DELETE', '/auth/providers/acme')
  expect([deleted.status, roundTrips(deleted).d1]).toEqual([200, 5])
  // The account that was linked to the provider can no longer sign in.
  expect(await outcome(disable(first))).toEqual(refused)
})

it('an account with a password does not count while a provider replaces passwords', async () => {
  await ok(setProvider())
  const bea = await enterByProvider()
  await ok(setPassword(second))
  // The administrator whom the provider admits is disabled while the provider is about to replace passwords.
  const raced = await afterBatches(
    2,
    () => setProvider({ replacesPasswords: true }),
    () => disable(bea),
  )
  expect([raced?.sent.status, raced?.acted.status]).toEqual([409, 200])
  await ok(enable(bea))
  await ok(setProvider({ replacesPasswords: true }))
  expect(await outcome(disable(bea))).toEqual(refused)
  await ok(disable(second))
  await ok(setProvider())
  await ok(disable(bea))
  expect(await outcome(disable(first))).toEqual(refused)
})
