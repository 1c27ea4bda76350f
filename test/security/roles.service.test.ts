// Roles that a configuration defines, through HTTP: what a sign-in gives, what a deploy with other roles changes, and what is
// rejected.
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AccountResponse } from '../../src/access/contract.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import {
  type ArchiveFiles,
  archiveOf,
  type DeployAnswer,
  deployForm,
  motorWithoutPapers,
} from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'
import { madeToken } from '../support/test-tokens.ts'

const files = (roles: unknown, users?: unknown): ArchiveFiles => ({
  ...motorWithoutPapers(),
  'security/roles.json': JSON.stringify(roles),
  ...(users !== undefined && { 'security/test_users.json': JSON.stringify(users) }),
})

const user = (username: string, role: string) => ({ username, password: 'password', roles: [role] })
const USERS = [
  user('alice.agent', 'agent'),
  user('rita.reader', 'read-only'),
  user('anna.admin', 'admin'),
  user('mary.manager', 'manager'),
]

const FIRST = {
  agent: { displayName: 'Agent', permissions: ['policyholders.*', 'policies.read', 'policies.list'] },
  'read-only': { permissions: ['policies.read'] },
  manager: { displayName: 'Manages users', permissions: ['users.*', 'policies.*', 'quotes.read'] },
  admin: 'Administrator',
}

let motor: Motor

const deploy = async (roles: unknown, users: readonly object[] = USERS): Promise<DeployAnswer> =>
  callOk<DeployAnswer>('POST', '/configuration/deployTest', {
    token: await administrator(),
    body: deployForm(archiveOf(files(roles, users)), { tenantNameSuffix: 'roles' }),
  })

const permissionsOf = async (token: string): Promise<string[]> =>
  (await callOk<{ permissions: string[] }>('GET', '/auth/permissions', { token })).permissions

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('roles', files(FIRST, USERS))
})

describe('a role with permissions', () => {
  it('gives its users exactly its permissions', async () => {
    expect(await permissionsOf(motor.token)).toEqual([
      'policies.read',
      'policies.list',
      'policyholders.read',
      'policyholders.list',
      'policyholders.write',
      'policyholders.overwrite',
    ])
    await motor.newPolicyholder()
    const refused = await motor.createPolicy()
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { message: expect.stringContaining('policies.write') },
    ])
  })

  it('redefines an account type if it has its name', async () => {
    expect(await permissionsOf(await motor.signIn('rita.reader'))).toEqual(['policies.read'])
    expect(await permissionsOf(await motor.signIn('anna.admin'))).toContain('audit.list')
  })

  it('keeps its permissions when a token is renewed', async () => {
    const { authorizationToken } = await callOk<{ authorizationToken: string }>(
      'POST',
      '/account/renewAuthentication',
      { token: motor.token },
    )
    expect(await permissionsOf(authorizationToken)).toEqual(await permissionsOf(motor.token))
  })
})

describe('a deploy', () => {
  it('with unknown permissions is rejected, and the log gives the name and place of each', async () => {
    const before = await permissionsOf(motor.token)
    const answer = await deploy({
      agent: { permissions: ['policies.read', 'policies.fly', 'flights.*'] },
      chief: { permissions: ['deployments.deploy'] },
    })
    expect(answer.success).toBe(false)
    expect(answer.logfile.match(/unknownPermission/g)).toHaveLength(3)
    expect(answer.logfile).toMatch(/ERROR security\/roles\.json:\d+:\d+ unknownPermission .*'policies\.fly'/)
    expect(answer.logfile).toContain("'flights.*'")
    expect(answer.logfile).toMatch(/'deployments\.deploy', which only administration accounts can have/)
    expect(await permissionsOf(motor.token)).toEqual(before)
  })

  it('with the same roles keeps tokens valid, and with other roles ends them', async () => {
    const before = motor.token
    expect((await deploy(FIRST)).success).toBe(true)
    expect((await callApi('GET', '/auth/permissions', { token: before })).status).toBe(200)
    const more = { ...FIRST, agent: { permissions: ['quotes.read'] } }
    expect((await deploy(more)).success).toBe(true)
    expect((await callApi('GET', '/auth/permissions', { token: before })).status).toBe(401)
    expect(await permissionsOf(await motor.signIn('alice.agent'))).toEqual(['quotes.read'])
    const plain = { agent: 'Agent', 'read-only': 'Reader', manager: 'Manager', admin: 'Admin' }
    expect((await deploy(plain)).success).toBe(true)
    expect(await permissionsOf(await motor.signIn('alice.agent'))).toContain('policies.issue')
  })
})

type Refused = { code: string; message: string }

describe('an account whose role permits less than its account type', () => {
  const MANAGER = ['users.write', 'users.token', 'users.custom', 'policies.read']
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)
  afterEach(() => vi.restoreAllMocks())

  let mary: string
  let made = 0
  const wanted = (permissions: readonly string[]) => {
    made += 1
    return { name: `token ${made}`, expiresAt: inDays(30), permissions, tenants: [] }
  }
  const make = (permissions: readonly string[], token = mary, path = '/auth/users/tokens') =>
    callApi<string & Refused>('POST', path, { token, body: wanted(permissions) })
  const add = (changes: object, token = mary) =>
    callApi<AccountResponse & Refused>('POST', '/account/v1/account', {
      token,
      body: {
        name: 'Somebody',
        email: 'somebody@example.com',
        password: 'Rhabarber-7-Kisten',
        type: 'employee',
        username: 'somebody',
        ...changes,
      },
    })
  const lacking = (permission: string) => ({
    code: 'beyondOwner',
    message: expect.stringContaining(permission),
  })

  beforeAll(async () => {
    expect((await deploy(FIRST)).success).toBe(true)
    mary = await motor.signIn('mary.manager')
  })

  it('can create tokens with permissions of the role only', async () => {
    const refused = await make(['policies.read', 'invoices.pay'])
    expect([refused.status, refused.body]).toMatchObject([422, lacking('invoices.pay')])
    const { body: token } = await make(['policies.*', 'users.list'])
    expect(await permissionsOf(token)).toEqual([
      'policies.read',
      'policies.list',
      'policies.write',
      'policies.price',
      'policies.issue',
      'policies.discard',
      'users.list',
    ])
  })

  it('can add accounts and set passwords only if those accounts may do no more', async () => {
    const employee = await add({ username: 'eve' })
    expect([employee.status, employee.body]).toMatchObject([422, lacking('policyholders.read')])
    // A role of the configuration limits readers, so mary has all of their permissions.
    const reader = await add({ username: 'ron', type: 'read-only' })
    expect(reader.status).toBe(200)
    const ron = await callOk<{ authorizationToken: string }>('POST', '/account/authenticate', {
      body: { username: 'ron', password: 'Rhabarber-7-Kisten', tenantName: motor.tenantName },
    })
    expect(await permissionsOf(ron.authorizationToken)).toEqual(['policies.read'])
    const anna = await motor.signIn('anna.admin')
    const { items } = await callOk<{ items: AccountResponse[] }>('GET', '/account/v1/accounts/list', {
      token: anna,
    })
    const locatorOf = (username: string) => items.find(one => one.username === username)!.id
    const set = (username: string) =>
      callApi<Refused>('PUT', `/account/v1/accounts/${locatorOf(username)}/password`, {
        token: mary,
        body: { password: 'Stachelbeer+9+Schalen' },
      })
    expect((await set('anna.admin')).body).toMatchObject(lacking('policyholders.read'))
    expect((await set('alice.agent')).body).toMatchObject(lacking('policyholders.read'))
    expect((await set('ron')).status).toBe(200)
  })

  it('can create tokens of service accounts with permissions of the role only', async () => {
    const { body: robot } = await add({ username: 'robot', type: 'service' })
    expect(robot).toMatchObject({ service: true, accountType: 'account.tenant.employee' })
    const path = `/auth/users/${robot.id}/tokens`
    expect((await make(['invoices.pay'], mary, path)).body).toMatchObject(lacking('invoices.pay'))
    expect(await permissionsOf((await make(['policies.read'], mary, path)).body)).toEqual(['policies.read'])
  })

  it('gains nothing from a user of an archive with the same user name', async () => {
    const anna = await motor.signIn('anna.admin')
    expect((await add({ username: 'chief', type: 'read-only' }, anna)).status).toBe(200)
    const everything = { ...FIRST, chief: { permissions: ['policies.*', 'users.*', 'audit.*'] } }
    const answer = await deploy(everything, [...USERS, user('chief', 'chief')])
    expect([answer.success, answer.logfile]).toEqual([true, expect.stringContaining('usernameTaken')])
    const { authorizationToken } = await callOk<{ authorizationToken: string }>(
      'POST',
      '/account/authenticate',
      { body: { username: 'chief', password: 'Rhabarber-7-Kisten', tenantName: motor.tenantName } },
    )
    expect(await permissionsOf(authorizationToken)).toEqual(['policies.read'])
    mary = await motor.signIn('mary.manager')
  })

  it('loses what a later deploy removes: tokens within 5 s, renewals immediately', async () => {
    const { body: token } = await make(MANAGER)
    expect(await permissionsOf(token)).toEqual([
      'policies.read',
      'users.write',
      'users.token',
      'users.custom',
    ])
    const narrower = { ...FIRST, manager: { permissions: ['users.custom', 'policies.read', 'quotes.read'] } }
    expect((await deploy(narrower)).success).toBe(true)
    later(TENANT_TRUST_MS)
    expect(await permissionsOf(token)).toEqual(['policies.read', 'users.custom'])
    expect((await make(['policies.read'], token)).body.message).toContain('users.write or users.token')
    expect((await callApi('POST', '/account/renewAuthentication', { token: mary })).status).toBe(401)
    // A token that was signed just before by an isolate that did not know of the deploy. Renewing it reads the roles.
    const claims = JSON.parse(Buffer.from(mary.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      string
    >
    const late = await madeToken({
      accountLocator: claims['account.uuid']!,
      accountType: claims['account.type']!,
      permissions: ['users.*', 'policies.*'],
      tenantLocator: motor.tenantLocator,
    })
    const { authorizationToken } = await callOk<{ authorizationToken: string }>(
      'POST',
      '/account/renewAuthentication',
      { token: late },
    )
    expect(await permissionsOf(authorizationToken)).toEqual(['policies.read', 'quotes.read', 'users.custom'])
    // A token regains a listed permission when the role does. It never has more than it lists.
    expect(
      (await deploy({ ...FIRST, manager: { permissions: ['policies.*', 'users.write'] } })).success,
    ).toBe(true)
    later(2 * TENANT_TRUST_MS)
    expect(await permissionsOf(token)).toEqual(['policies.read', 'users.write'])
  })
})
