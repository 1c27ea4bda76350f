// Users with their permissions, and the roles that give them.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RoleResponse, UserListResponse, UserResponse } from '../../src/access/roles/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

const json = (content: unknown): string => JSON.stringify(content)

const ROLES = {
  agent: { displayName: 'Sales agent', permissions: ['policies.read', 'policies.list', 'quotes.*'] },
  reader: { displayName: 'Reader', permissions: ['policies.read'] },
  underwriter: 'Underwriter',
  admin: 'Administrator',
}

let motor: Motor
let other: Motor
let admin: string

const ask = (query = '', token = admin) => callApi<UserListResponse>('GET', `/auth/users${query}`, { token })
const users = async (query = ''): Promise<UserResponse[]> => (await ask(query)).body.items
const names = async (query = ''): Promise<string[]> => (await users(query)).map(one => one.username)

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  const files: Record<string, string | Uint8Array> = { ...motorWithoutPapers() }
  files['security/roles.json'] = json(ROLES)
  files['security/test_users.json'] = json(
    [
      ['alice.agent', 'agent'],
      ['anna.admin', 'admin'],
      ['ulrich.underwriter', 'underwriter'],
    ].map(([username, role]) => ({ username, name: username, password: 'password', roles: [role] })),
  )
  motor = await motorTenant('users', files)
  other = await motorTenant('usersother')
  admin = await motor.signIn('anna.admin')
  const add = (username: string, type: string, email: string) =>
    callOk('POST', '/account/v1/account', {
      token: admin,
      body: { username, type, email, name: username, password: 'Rhabarber-7-Kisten' },
    })
  await add('rita', 'account.tenant.read.only.user', 'rita@example.com')
  await add('pipeline', 'service', 'pipeline@example.com')
  const [rita] = await users('?username=rita')
  await callOk('PATCH', `/account/v1/accounts/${rita!.id}/disable`, { token: admin })
}, 60_000)

describe('GET /auth/users', () => {
  it('lists users with the permissions that their roles give them, in one round trip', async () => {
    const answer = await ask()
    expect(roundTrips(answer)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    const of = Object.fromEntries(answer.body.items.map(one => [one.username, one]))
    expect(of['alice.agent']!.permissions).toEqual(['policies.read', 'policies.list', 'quotes.*'])
    expect(of['alice.agent']).toMatchObject({ accountType: 'account.tenant.employee', disabled: false })
    expect(of['ulrich.underwriter']!.permissions).toContain('policies.*')
    expect(of['anna.admin']!.permissions).toContain('users.*')
    // The role 'reader' is that of the account type.
    expect(of.rita).toMatchObject({ disabled: true, permissions: ['policies.read'] })
    expect(answer.body.listCompleted).toBe(true)
  })

  it('shows the same permissions as each user gets from GET /auth/permissions', async () => {
    for (const username of ['alice.agent', 'ulrich.underwriter', 'anna.admin']) {
      const [user] = await users(`?username=${username}`)
      const { permissions } = await callOk<{ permissions: string[] }>('GET', '/auth/permissions', {
        token: await motor.signIn(username),
      })
      const groups = new Set(user!.permissions.filter(one => one.endsWith('.*')).map(one => one.slice(0, -1)))
      const alone = permissions.filter(one => ![...groups].some(group => one.startsWith(group)))
      expect(alone).toEqual(user!.permissions.filter(one => !one.endsWith('.*')))
      for (const group of groups) expect(permissions.some(one => one.startsWith(group))).toBe(true)
    }
  })

  it('filters by user name, type and state, and pages', async () => {
    expect((await names('?username=a')).sort()).toEqual(['alice.agent', 'anna.admin'])
    expect(await names('?username=A')).toEqual([])
    expect(await names('?accountType=account.tenant.admin')).toContain('anna.admin')
    expect(await names('?disabled=true')).toEqual(['rita'])
    expect(await names('?service=true')).toEqual(['pipeline'])
    const all = await names()
    const paged: string[] = []
    for (let offset = 0; ; offset += 2) {
      const { body } = await ask(`?offset=${offset}&count=2`)
      paged.push(...body.items.map(one => one.username))
      if (body.listCompleted) break
    }
    expect(paged).toEqual(all)
  })

  it('rejects invalid queries and callers without the permission, and lists no user of another tenant', async () => {
    for (const query of ['?accountType=boss', '?disabled=perhaps', '?offset=-1', '?count=0'])
      expect([query, (await ask(query)).status]).toEqual([query, 400])
    expect((await ask('', await motor.signIn('alice.agent'))).status).toBe(403)
    const { body } = await ask('', await other.signIn('anna.admin'))
    expect(body.items.map(one => one.username)).not.toContain('rita')
  })
})

describe('GET /auth/roles', () => {
  it('lists account types and the roles of the configuration with their permissions', async () => {
    const { body } = await callApi<RoleResponse[]>('GET', '/auth/roles', { token: admin })
    const of = Object.fromEntries(body.map(one => [one.name, one]))
    expect(body.slice(0, 4).map(one => [one.name, one.source])).toEqual([
      ['account.tenant.admin', 'accountType'],
      ['account.tenant.employee', 'accountType'],
      ['account.tenant.claims.only.user', 'accountType'],
      ['account.tenant.read.only.user', 'accountType'],
    ])
    expect(of.agent).toEqual({
      name: 'agent',
      title: 'Sales agent',
      source: 'configuration',
      accountType: 'account.tenant.employee',
      permissions: ['policies.read', 'policies.list', 'quotes.*'],
    })
    expect(of['account.tenant.read.only.user']!.permissions).toEqual(['policies.read'])
    expect(of.underwriter!.permissions).toEqual(of['account.tenant.employee']!.permissions)
    expect(of.admin!.permissions).toContain('users.*')
  })

  it('returns 403 without users.read', async () => {
    const token = await motor.signIn('alice.agent')
    expect((await callApi('GET', '/auth/roles', { token })).status).toBe(403)
  })
})
