// Roles that a tenant creates through the API: what they permit, who can have them, and who can give them.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { MOST_REVOCATIONS } from '../../src/access/revocation.ts'
import {
  MOST_ROLES,
  MOST_ROLES_OF_ACCOUNT,
  type RoleResponse,
  type UserResponse,
} from '../../src/access/roles/contract.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { archiveOf, deployForm, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'
import type { Refused } from './people.ts'

const PASSWORD = 'Rhabarber-7-Kisten'

const files = () => ({
  ...motorWithoutPapers(),
  'security/roles.json': JSON.stringify({
    agent: { displayName: 'Agent', permissions: ['policies.read'] },
    manager: { permissions: ['users.*', 'roles.*', 'policies.*', 'quotes.read'] },
    admin: 'Administrator',
  }),
  'security/test_users.json': JSON.stringify(
    [
      ['alice.agent', 'agent'],
      ['anna.admin', 'admin'],
      ['mary.manager', 'manager'],
    ].map(([username, role]) => ({ username, password: 'password', roles: [role] })),
  ),
})

let motor: Motor
let anna: string
let mary: string

type Made = RoleResponse & Refused

const make = (body: object, token = anna, headers: Record<string, string> = {}) =>
  callApi<Made>('POST', '/auth/roles', { token, body, headers })
const change = (name: string, body: object, token = anna, headers: Record<string, string> = {}) =>
  callApi<Made>('PUT', `/auth/roles/${name}`, { token, body, headers })
const remove = (name: string, token = anna, headers: Record<string, string> = {}) =>
  callApi<Refused>('DELETE', `/auth/roles/${name}`, { token, headers })
const give = (locator: string, roles: readonly string[], token = anna) =>
  callApi<UserResponse & Refused>('PUT', `/auth/users/${locator}/roles`, { token, body: { roles } })
const rolesNamed = async (name: string) =>
  (await callOk<RoleResponse[]>('GET', '/auth/roles', { token: anna })).filter(one => one.name === name)
const users = async (query: string) =>
  (await callOk<{ items: UserResponse[] }>('GET', `/auth/users?${query}`, { token: anna })).items
const user = async (username: string) => (await users(`username=${username}`))[0]!
const permissionsOf = async (token: string) =>
  (await callOk<{ permissions: string[] }>('GET', '/auth/permissions', { token })).permissions
const ping = async (token: string) => (await callApi('GET', '/v1/ping/authorized', { token })).status
const entries = async (action: string) =>
  (
    await callOk<{ entries: { subject: string; username: string; details: object }[] }>(
      'GET',
      `/audit/list?action=${action}`,
      { token: anna },
    )
  ).entries

async function add(username: string, type = 'read-only', token = anna): Promise<string> {
  const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
    token,
    body: { username, name: username, email: `${username}@example.com`, type, password: PASSWORD },
  })
  return id
}
const enter = async (username: string): Promise<string> =>
  (
    await callOk<{ authorizationToken: string }>('POST', '/account/authenticate', {
      body: { username, password: PASSWORD, tenantName: motor.tenantName },
    })
  ).authorizationToken

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('ownroles', files())
  anna = await motor.signIn('anna.admin')
  mary = await motor.signIn('mary.manager')
})
afterEach(() => vi.restoreAllMocks())

describe('a role', () => {
  it('is created, listed, changed and deleted, and the audit trail records by whom', async () => {
    // Afterwards the isolate has cached the tenant and its configuration.
    expect(await rolesNamed('claims-desk')).toEqual([])
    const made = await make({
      name: 'claims-desk',
      title: 'Claims',
      permissions: ['claims.*', 'policies.read'],
    })
    const shown = { name: 'claims-desk', title: 'Claims', source: 'interface' }
    expect([made.status, made.body]).toEqual([200, { ...shown, permissions: ['policies.read', 'claims.*'] }])
    expect(roundTrips(made)).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
    expect(await rolesNamed('claims-desk')).toEqual([made.body])
    const list = await callApi<RoleResponse[]>('GET', '/auth/roles', { token: anna })
    expect(roundTrips(list)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect(list.body.slice(4).map(one => [one.name, one.source])).toEqual([
      ['admin', 'configuration'],
      ['agent', 'configuration'],
      ['claims-desk', 'interface'],
      ['manager', 'configuration'],
    ])
    const changed = await change('claims-desk', { permissions: ['claims.read'] })
    expect(changed.body).toEqual({ ...shown, title: 'claims-desk', permissions: ['claims.read'] })
    const gone = await remove('claims-desk')
    expect([gone.status, roundTrips(gone)]).toEqual([200, { d1: 2, object: 0, r2: 0, queue: 0 }])
    expect([
      (await remove('claims-desk')).status,
      (await change('claims-desk', { permissions: ['claims.read'] })).status,
    ]).toEqual([404, 404])
    expect(
      (await entries('roles.write')).map(({ subject, username, details }) => [subject, username, details]),
    ).toEqual([
      ['claims-desk', 'anna.admin', { title: 'Claims', permissions: ['claims.*', 'policies.read'] }],
      ['claims-desk', 'anna.admin', { title: 'claims-desk', permissions: ['claims.read'] }],
    ])
    expect((await entries('roles.delete')).map(({ subject }) => subject)).toEqual(['claims-desk'])
  })

  it('is returned by GET /auth/roles/{name}, including roles of the configuration and account types', async () => {
    const all = await callOk<RoleResponse[]>('GET', '/auth/roles', { token: anna })
    expect(all.length).toBeGreaterThan(6)
    for (const one of all) {
      const read = await callApi<RoleResponse>('GET', `/auth/roles/${one.name}`, { token: anna })
      expect([read.body, roundTrips(read)]).toEqual([one, { d1: 1, object: 0, r2: 0, queue: 0 }])
    }
    expect((await callApi('GET', '/auth/roles/employee', { token: anna })).status).toBe(404)
  })

  it('is not changed or deleted with an outdated ETag in If-Match (412)', async () => {
    const made = await make({ name: 'tagged', permissions: ['policies.read'] })
    const path = '/auth/roles/tagged'
    expect(made.headers.get('location')).toBe(path)
    const ifMatch = (tag: string | null) => ({ 'if-match': tag! })
    const first = (await callApi('GET', path, { token: anna })).headers.get('etag')
    expect(made.headers.get('etag')).toBe(first)
    const widened = await change('tagged', { permissions: ['policies.*'] }, anna, ifMatch(first))
    const second = widened.headers.get('etag')
    expect([widened.status, second === first]).toEqual([200, false])
    // One call reads it, one writes it, and one reads whose access tokens ended.
    expect(roundTrips(widened)).toEqual({ d1: 3, object: 0, r2: 0, queue: 0 })
    for (const late of [
      await change('tagged', { permissions: ['quotes.read'] }, mary, ifMatch(first)),
      await remove('tagged', anna, ifMatch(first)),
    ])
      expect([late.status, late.body]).toEqual([
        412,
        expect.objectContaining({ code: 'preconditionFailed', currentETag: second }),
      ])
    expect((await rolesNamed('tagged'))[0]!.permissions).toEqual(['policies.*'])
    expect((await remove('tagged', anna, ifMatch(second))).status).toBe(200)
    expect((await change('tagged', { permissions: ['quotes.read'] }, anna, ifMatch('*'))).status).toBe(404)
  })

  it('is created once when the request is repeated with the same key', async () => {
    const body = { name: 'once', permissions: ['policies.read'] }
    const first = await make(body, anna, { 'idempotency-key': 'role-once' })
    const again = await make(body, anna, { 'idempotency-key': 'role-once' })
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
    expect((await make(body)).body.code).toBe('alreadyExists')
    await remove('once')
  })

  it.each([
    ['no name', { name: '' }, 400],
    ['a name with capital letters', { name: 'Claims' }, 400],
    ['a name with a slash', { name: 'a/b' }, 400],
    ['a name that is too long', { name: 'a'.repeat(64) }, 400],
    ['the name of an account type', { name: 'admin' }, 400],
    ['another name for one', { name: 'read-only-user' }, 400],
    ['the name of a role of the configuration', { name: 'agent' }, 409],
    ['no permissions', { permissions: [] }, 400],
    ['a permission that does not exist', { permissions: ['policies.fly'] }, 400],
    ['a group that does not exist', { permissions: ['flights.*'] }, 400],
    ['permissions that no account of a tenant can have', { permissions: ['deployments.deploy'] }, 400],
    ['too many permissions', { permissions: Array.from({ length: 501 }, () => 'policies.read') }, 413],
    ['a title that is too long', { title: 'x'.repeat(129) }, 400],
  ])('is rejected if it has %s', async (_, changes, status) => {
    const answer = await make({ name: 'wrong', permissions: ['policies.read'], ...changes })
    expect([answer.status, answer.body.message]).toEqual([status, expect.any(String)])
    expect(await rolesNamed('wrong')).toEqual([])
  })

  it('of the configuration cannot be changed or deleted by the API: 409 names security/roles.json', async () => {
    for (const answer of [await change('agent', { permissions: ['policies.read'] }), await remove('agent')])
      expect([answer.status, answer.body.message]).toEqual([
        409,
        expect.stringContaining('security/roles.json'),
      ])
  })

  it('is rejected with 413 when the tenant has the maximum number of roles', async () => {
    const database = boundDatabase(poolBinding(1))
    await database
      .prepare(
        `insert into role (name, permissions, revision, created_at, updated_at)
         select 'r' || value, '["policies.read"]', value, 0, 0 from json_each(?)`,
      )
      .bind(JSON.stringify(Array.from({ length: MOST_ROLES }, (_, at) => at)))
      .run()
    expect((await make({ name: 'one-more', permissions: ['policies.read'] })).status).toBe(413)
    await database.prepare(`delete from role where name like 'r%'`).run()
  })
})

describe('the author of a role', () => {
  it('cannot create, change or delete a role with permissions that they lack themselves', async () => {
    const beyond = await make({ name: 'payers', permissions: ['policies.read', 'invoices.pay'] }, mary)
    expect([beyond.status, beyond.body.code, beyond.body.message]).toEqual([
      422,
      'beyondOwner',
      expect.stringContaining('invoices.pay'),
    ])
    expect((await make({ name: 'payers', permissions: ['invoices.pay'] })).status).toBe(200)
    for (const answer of [
      await change('payers', { permissions: ['policies.read'] }, mary),
      await remove('payers', mary),
    ])
      expect([answer.status, answer.body.code]).toEqual([422, 'beyondOwner'])
    expect((await make({ name: 'readers', permissions: ['policies.*'] }, mary)).status).toBe(200)
    expect((await change('readers', { permissions: ['policies.*', 'invoices.pay'] }, mary)).status).toBe(422)
    expect((await remove('readers', mary)).status).toBe(200)
    await remove('payers')
  })

  it('can reduce their own role: the response is sent, their token ends, and they cannot undo it', async () => {
    await make({ name: 'leads', permissions: ['roles.*', 'users.*', 'policies.read'] })
    const locator = await add('lena')
    await give(locator, ['leads'])
    const lena = await enter('lena')
    const changed = await change('leads', { permissions: ['roles.*', 'users.*'] }, lena)
    expect([changed.status, changed.body.permissions]).toEqual([200, ['users.*', 'roles.*']])
    expect(await ping(lena)).toBe(401)
    // Authors cannot give back a permission that their own role no longer has.
    const back = await change(
      'leads',
      { permissions: ['roles.*', 'users.*', 'policies.read'] },
      await enter('lena'),
    )
    expect([back.status, back.body.code]).toEqual([422, 'beyondOwner'])
    await callOk('DELETE', `/account/v1/accounts/${locator}`, { token: anna })
    await remove('leads')
  })

  it('needs permissions for roles: an account without them gets 403', async () => {
    const alice = await motor.signIn('alice.agent')
    expect((await make({ name: 'mine', permissions: ['policies.read'] }, alice)).status).toBe(403)
    expect((await change('mine', { permissions: ['policies.read'] }, alice)).status).toBe(403)
    expect((await remove('mine', alice)).status).toBe(403)
  })
})

describe('an account', () => {
  it('may do what its roles permit together, instead of its type, until it has no role', async () => {
    await make({ name: 'quoting', permissions: ['quotes.read', 'quotes.write'] })
    const locator = await add('rolf')
    const before = await enter('rolf')
    const given = await give(locator, ['quoting', 'claims-only'])
    expect(given.body).toMatchObject({
      username: 'rolf',
      roles: ['account.tenant.claims.only.user', 'quoting'],
    })
    expect(roundTrips(given).d1).toBe(5)
    expect(given.body.permissions).toEqual(expect.arrayContaining(['quotes.write', 'claims.*']))
    // The token with the former permissions has ended; signing in again gives the new ones.
    expect(await ping(before)).toBe(401)
    expect((await give(locator, ['quoting'])).status).toBe(200)
    const token = await enter('rolf')
    expect(await permissionsOf(token)).toEqual(['quotes.read', 'quotes.write'])
    expect(await user('rolf')).toMatchObject({
      roles: ['quoting'],
      permissions: ['quotes.read', 'quotes.write'],
    })
    expect((await users('role=quoting')).map(one => one.username)).toEqual(['rolf'])
    // Giving the same roles again changes nothing.
    expect((await give(locator, ['quoting'])).status).toBe(200)
    expect(await ping(token)).toBe(200)
    expect((await give(locator, [])).body).toMatchObject({ roles: [] })
    expect(await ping(token)).toBe(401)
    expect(await permissionsOf(await enter('rolf'))).toContain('policies.list')
    expect((await entries('accounts.roles')).map(({ details }) => details)).toContainEqual({
      username: 'rolf',
      roles: ['quoting'],
    })
    await callOk('DELETE', `/account/v1/accounts/${locator}`, { token: anna })
  })

  it('loses access tokens as soon as its role changes, and its long-lived tokens lose what the role lost', async () => {
    await make({ name: 'desk', permissions: ['policies.read', 'policies.list', 'users.token'] })
    const [locator, other] = [await add('dora'), await add('otto')]
    await give(locator, ['desk'])
    const [dora, otto] = [await enter('dora'), await enter('otto')]
    const longLived = await callOk<string>('POST', '/auth/users/tokens', {
      token: dora,
      body: {
        name: 'own',
        expiresAt: Date.now() + 3_600_000,
        permissions: ['policies.read', 'policies.list'],
      },
    })
    // Changing only the title ends no tokens.
    await change('desk', { title: 'Desk', permissions: ['policies.read', 'policies.list', 'users.token'] })
    expect(await ping(dora)).toBe(200)
    const changed = await change('desk', { permissions: ['policies.read', 'users.token'] })
    expect([changed.status, roundTrips(changed).d1]).toEqual([200, 4])
    expect([await ping(dora), await ping(otto)]).toEqual([401, 200])
    expect((await callApi('POST', '/account/renewAuthentication', { token: dora })).status).toBe(401)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + TENANT_TRUST_MS + 1)
    expect(await permissionsOf(longLived)).toEqual(['policies.read'])
    vi.restoreAllMocks()
    expect(await permissionsOf(await enter('dora'))).toEqual(['policies.read', 'users.token'])
    const used = await remove('desk')
    expect([used.status, used.body.message]).toEqual([
      409,
      expect.stringMatching(/is in use: the accounts dora have it\./),
    ])
    for (const one of [locator, other]) await callOk('DELETE', `/account/v1/accounts/${one}`, { token: anna })
    expect((await remove('desk')).status).toBe(200)
    const rows = await boundDatabase(poolBinding(1)).prepare('select * from account_role').all()
    expect(rows.results).toEqual([])
  })

  it('with a widely held role loses its tokens in no more round trips; beyond 500, the whole tenant does', async () => {
    await make({ name: 'crowd', permissions: ['policies.read'] })
    const locator = await add('member')
    await give(locator, ['crowd'])
    const [member, alice] = [await enter('member'), await motor.signIn('alice.agent')]
    const database = boundDatabase(poolBinding(1))
    const many = JSON.stringify(Array.from({ length: MOST_REVOCATIONS + 1 }, (_, at) => `crowd-${at}`))
    await database.batch([
      database
        .prepare(
          `insert into account (locator, username, name, type, source, created_at)
           select value, value, value, 'account.tenant.read.only.user', 'interface', 0 from json_each(?)`,
        )
        .bind(many),
      database
        .prepare(`insert into account_role (account_locator, role) select value, 'crowd' from json_each(?)`)
        .bind(many),
    ])
    const changed = await change('crowd', { permissions: ['policies.list'] })
    expect([changed.status, roundTrips(changed).d1]).toEqual([200, 4])
    expect([await ping(member), await ping(alice)]).toEqual([401, 401])
    anna = await motor.signIn('anna.admin')
    mary = await motor.signIn('mary.manager')
    expect(await permissionsOf(await enter('member'))).toEqual(['policies.list'])
    const used = await remove('crowd')
    expect([used.status, used.body.message]).toEqual([409, expect.stringMatching(/crowd-0, .* and more/)])
    await database.prepare(`delete from account where username like 'crowd-%'`).run()
    await callOk('DELETE', `/account/v1/accounts/${locator}`, { token: anna })
    await remove('crowd')
    await database.prepare('delete from account_role').run()
  })

  it('of type service has roles too, and its tokens cannot exceed them', async () => {
    await make({ name: 'feed', permissions: ['policies.read', 'events.read'] })
    const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
      token: anna,
      body: { username: 'feeder', name: 'Feeder', email: 'f@example.com', type: 'service' },
    })
    const expiresAt = Date.now() + 3_600_000
    const token = await callOk<string>('POST', `/auth/users/${id}/tokens`, {
      token: anna,
      body: { name: 'own', expiresAt, permissions: ['policies.*', 'events.read'] },
    })
    expect((await give(id, ['feed'])).status).toBe(200)
    expect(await permissionsOf(token)).toEqual(['policies.read', 'events.read'])
    const more = await callApi<Refused>('POST', `/auth/users/${id}/tokens`, {
      token: anna,
      body: { name: 'more', expiresAt, permissions: ['policies.list'] },
    })
    expect([more.status, more.body.code]).toEqual([422, 'beyondOwner'])
    await callOk('DELETE', `/account/v1/accounts/${id}`, { token: anna })
    await remove('feed')
  })

  it('cannot be given unknown roles, or roles that permit more than the caller may do', async () => {
    await make({ name: 'payers', permissions: ['invoices.pay'] })
    await make({ name: 'viewers', permissions: ['policies.read'] })
    const locator = await add('gina')
    await give(locator, ['viewers'])
    for (const roles of [['payers'], ['employee'], []])
      expect([roles, (await give(locator, roles, mary)).body.code]).toEqual([roles, 'beyondOwner'])
    expect((await give(locator, ['viewers'], mary)).status).toBe(200)
    // Nor can the caller change the roles of an account that may do more.
    await give(locator, ['payers'])
    expect((await give(locator, ['viewers'], mary)).body.code).toBe('beyondOwner')
    for (const name of ['nobody', 'agent', 'constructor'])
      expect((await give(locator, [name])).status).toBe(400)
    const tooMany = Array.from({ length: MOST_ROLES_OF_ACCOUNT + 1 }, () => 'payers')
    expect((await give(locator, tooMany)).status).toBe(413)
    expect((await give(crypto.randomUUID(), ['viewers'])).status).toBe(404)
    expect((await give(locator, ['viewers'], await motor.signIn('alice.agent'))).status).toBe(403)
    await callOk('DELETE', `/account/v1/accounts/${locator}`, { token: anna })
    for (const name of ['payers', 'viewers']) await remove(name)
  })

  it('of the configuration keeps its roles, and no account can change its own roles', async () => {
    const alice = await user('alice.agent')
    const fixed = await give(alice.id, ['read-only'])
    expect([fixed.status, fixed.body.message]).toEqual([
      409,
      expect.stringContaining('security/test_users.json'),
    ])
    const { accountLocator } = await callOk<{ accountLocator: string }>('GET', '/auth/whoami', {
      token: anna,
    })
    const own = await give(accountLocator, ['read-only'])
    expect([own.status, own.body.message]).toEqual([409, expect.stringContaining('your own account')])
  })
})

describe('the last person who can change users', () => {
  it('cannot lose that permission by any change of roles, nor be disabled or deleted', async () => {
    // The accounts of the configuration are disabled, and the caller is a service account, which is not a person.
    const boss = await add('boss', 'admin')
    const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
      token: anna,
      body: { username: 'program', name: 'Program', email: 'p@example.com', type: 'service' },
    })
    const program = await callOk<string>('POST', `/auth/users/${id}/tokens`, {
      token: anna,
      body: {
        name: 'own',
        expiresAt: Date.now() + 3_600_000,
        permissions: await permissionsOf(anna),
      },
    })
    await make({ name: 'heads', permissions: ['users.*', 'roles.*', 'policies.read'] })
    const database = boundDatabase(poolBinding(1))
    await database.prepare(`update account set disabled_at = 1 where source = 'archive'`).run()
    const nobody = async (answer: Promise<{ status: number; body: Refused }>) => {
      const { status, body } = await answer
      expect([status, body.message]).toEqual([409, expect.stringContaining('No person would be left')])
    }
    await nobody(give(boss, ['read-only'], program))
    expect((await give(boss, ['heads'], program)).status).toBe(200)
    await nobody(change('heads', { permissions: ['policies.read'] }, program))
    const second = await add('second', 'admin', program)
    expect((await change('heads', { permissions: ['policies.read'] }, program)).status).toBe(200)
    await nobody(give(second, ['heads'], program))
    // Two managers take the permission from each other simultaneously: one of them keeps it.
    expect((await give(boss, ['admin'], program)).status).toBe(200)
    const [ofBoss, ofSecond] = [await enter('boss'), await enter('second')]
    const answers = await Promise.all([
      give(second, ['read-only'], ofBoss),
      give(boss, ['read-only'], ofSecond),
    ])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const left = await callOk<{ items: UserResponse[] }>('GET', '/auth/users?disabled=false&service=false', {
      token: program,
    })
    const managers = left.items.filter(one => one.permissions.includes('users.*'))
    expect(managers).toHaveLength(1)
    // Nor can the last manager be disabled or deleted.
    const last = managers[0]!.id
    const path = `/account/v1/accounts/${last}`
    await nobody(callApi<Refused>('PATCH', `${path}/disable`, { token: program }))
    await nobody(callApi<Refused>('DELETE', path, { token: program }))
    const other = last === boss ? second : boss
    expect((await give(other, ['admin'], program)).status).toBe(200)
    const both = await Promise.all([enter('boss'), enter('second')])
    const mutual = await Promise.all([
      callApi('PATCH', `/account/v1/accounts/${second}/disable`, { token: both[0] }),
      callApi('PATCH', `/account/v1/accounts/${boss}/disable`, { token: both[1] }),
    ])
    expect(mutual.filter(({ status }) => status === 200)).toHaveLength(1)
    const rest = await callOk<{ items: UserResponse[] }>('GET', '/auth/users?disabled=false&service=false', {
      token: program,
    })
    expect(rest.items.filter(one => one.permissions.includes('users.*'))).toHaveLength(1)
    await database.prepare(`update account set disabled_at = null where source = 'archive'`).run()
  })
})

describe('a deploy', () => {
  it('keeps the roles of the API and the accounts that have them', async () => {
    await make({ name: 'stays', permissions: ['policies.read'] })
    const locator = await add('sam')
    await give(locator, ['stays', 'claims-only'])
    const deployed = await callOk<{ success: boolean }>('POST', '/configuration/deployTest', {
      token: await administrator(),
      body: deployForm(archiveOf(files()), { tenantNameSuffix: 'ownroles' }),
    })
    expect(deployed.success).toBe(true)
    expect(await user('sam')).toMatchObject({ roles: ['account.tenant.claims.only.user', 'stays'] })
    expect(await rolesNamed('stays')).toHaveLength(1)
  })

  it('may define a role with the name of one created by the API, which GET and PUT still address', async () => {
    const { body: own } = await make({ name: 'given', permissions: ['policies.read'] })
    const roles = JSON.parse(files()['security/roles.json'])
    const brought = {
      ...files(),
      'security/roles.json': JSON.stringify({ ...roles, given: { permissions: ['quotes.read'] } }),
    }
    const deployed = await callOk<{ success: boolean }>('POST', '/configuration/deployTest', {
      token: await administrator(),
      body: deployForm(archiveOf(brought), { tenantNameSuffix: 'ownroles' }),
    })
    expect(deployed.success).toBe(true)
    anna = await motor.signIn('anna.admin')
    expect((await rolesNamed('given')).map(({ source }) => source).sort()).toEqual([
      'configuration',
      'interface',
    ])
    const read = await callApi('GET', '/auth/roles/given', { token: anna })
    expect(read.body).toEqual(own)
    const asRead = { 'if-match': read.headers.get('etag')! }
    const changed = await change('given', { permissions: ['policies.*'] }, anna, asRead)
    expect([changed.status, changed.body.permissions]).toEqual([200, ['policies.*']])
  })
})

describe('a tenant whose database the roles migration has not reached', () => {
  it('gets 503 for writes of roles, has no roles of its own, and works otherwise', async () => {
    await env.CONTROL.prepare(
      `update pool_database set migration = '0013_identity_providers' where binding = ?`,
    )
      .bind(poolBinding(1))
      .run()
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + TENANT_TRUST_MS + 1)
    const refused = await make({ name: 'early', permissions: ['policies.read'] })
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
    expect((await give(crypto.randomUUID(), [])).status).toBe(503)
    expect(await rolesNamed('stays')).toEqual([])
    expect(await users('role=stays')).toEqual([])
    expect((await user('sam')).roles).toEqual([])
    expect(await permissionsOf(await motor.signIn('alice.agent'))).toEqual(['policies.read'])
  })
})
