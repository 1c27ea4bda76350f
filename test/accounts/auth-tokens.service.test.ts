// Long-lived tokens through HTTP: creating, using, listing and deleting them, and the limits of each.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AccountResponse, AuthTokenResponse } from '../../src/access/contract.ts'
import { MOST_REVOCATIONS } from '../../src/access/revocation.ts'
import { accountRoutes } from '../../src/access/routes.ts'
import { newAuthToken } from '../../src/access/tokens.ts'
import { integrationRoutes } from '../../src/extension/integrations/routes.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { withoutAuthTokens } from '../../src/platform/outbound/masking.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { secretRoutes } from '../../src/reference/secrets/routes.ts'
import { webhookRoutes } from '../../src/servicing/events/webhooks/routes.ts'
import { policyholderRoutes } from '../../src/servicing/policyholders/routes.ts'
import { mounted } from '../platform/http/mounted.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { type Authentication, addRoot, PASSWORD, type People, peopleOf, type Refused } from './people.ts'

let people: People
let other: People
let boss: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  people = await peopleOf(1)
  other = await peopleOf(2)
  await addRoot()
  boss = await people.token('boss')
})
afterEach(() => vi.restoreAllMocks())

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

let made = 0
const next = (): number => {
  made += 1
  return made
}
const wanted = (changes: object = {}) => ({
  name: `token ${next()}`,
  expiresAt: inDays(30),
  permissions: ['users.read', 'users.list', 'audit.list'],
  tenants: [people.tenant.name],
  ...changes,
})

const make = (body: object, token = boss, headers: Record<string, string> = {}) =>
  callApi<string & Refused>('POST', '/auth/users/tokens', { token, body, headers })
const made1 = async (changes: object = {}, token = boss): Promise<string> => {
  const { status, body } = await make(wanted(changes), token)
  expect([status, body]).toEqual([200, expect.stringMatching(/^bdy_[0-9A-Za-z]{58}$/)])
  return body
}
const listAccounts = (token: string) => callApi<Refused>('GET', '/account/v1/accounts/list', { token })
const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)

const addService = async (token = boss, username = `robot-${next()}`): Promise<AccountResponse> =>
  callOk<AccountResponse>('POST', '/account/v1/account', {
    token,
    body: { name: 'Robot', email: 'robot@example.com', type: 'service', username },
  })

describe('a long-lived token', () => {
  it('authenticates its owner, with or without a scheme, for the permissions that it lists only', async () => {
    const token = await made1()
    expect((await listAccounts(token)).status).toBe(200)
    for (const authorization of [token, `bearer ${token}`, `JWT ${token}`])
      expect((await callApi('GET', '/v1/ping/authorized', { headers: { authorization } })).body).toBe('api')
    const refused = await callApi<Refused>('GET', '/auth/users/tokens', {
      token: await made1({ permissions: ['audit.*'] }),
    })
    expect(refused.body).toMatchObject({
      code: 'forbidden',
      message: "The account 'boss' (account.tenant.admin) lacks the permission users.read or users.custom.",
    })
  })

  it('returns 403 from every route that needs a permission when the token lists none', async () => {
    const token = await made1({ permissions: [] })
    expect((await callApi('GET', '/v1/ping/authorized', { token })).status).toBe(200)
    expect((await listAccounts(token)).status).toBe(403)
  })

  it('is shown once and kept as a hash: it is in no table, list or audit entry', async () => {
    const token = await made1({ name: 'kept' }, boss)
    const again = await make(wanted({ name: 'kept with key' }), boss, { 'idempotency-key': 'token-1' })
    const text = JSON.stringify(
      await Promise.all(
        ['auth_token', 'write', 'event', 'audit', 'account', 'timer'].map(
          async table => (await people.database.prepare(`select * from ${table}`).all()).results,
        ),
      ),
    )
    for (const secret of [token, again.body]) expect(text).not.toContain(secret.slice(26, 56))
    const listed = await callOk<AuthTokenResponse[]>('GET', '/auth/users/tokens', { token: boss })
    expect(listed.find(one => one.name === 'kept')).toEqual({
      name: 'kept',
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      permissions: ['users.read', 'users.list', 'audit.list'],
      tenants: [people.tenant.name],
    })
    const { body } = await callApi<{ entries: { details: object }[] }>(
      'GET',
      '/audit/list?action=tokens.write',
      {
        token: boss,
      },
    )
    expect(body.entries.map(one => one.details)).toContainEqual({
      name: 'kept',
      permissions: ['users.read', 'users.list', 'audit.list'],
      expiresAt: listed.find(one => one.name === 'kept')!.expiresAt,
    })
  })

  it('is not shown again when its creation is repeated with the same key: the repeat returns alreadyExists', async () => {
    const body = wanted()
    const first = await make(body, boss, { 'idempotency-key': 'token-2' })
    expect(first.status).toBe(200)
    expect((await make(body, boss, { 'idempotency-key': 'token-2' })).body).toMatchObject({
      code: 'alreadyExists',
      message: expect.stringContaining('shown then'),
    })
  })

  it('needs no round trip once it is cached, and one to each database every 5 s', async () => {
    const token = await made1()
    const clock = later(TENANT_TRUST_MS)
    // The look-up of the tenant counts as a renewal if the tenant was cached. It is not needed if a queue delivery has just read
    // the tenant.
    const trips = async () => {
      const { headers } = await callApi('GET', '/v1/ping/authorized', { token })
      return Number(/d1;desc="(\d+)"/.exec(headers.get('server-timing')!)![1])
    }
    const oneOfEach = expect.toSatisfy((d1: number) => d1 === 1 || d1 === 2)
    expect([await trips(), await trips(), await trips()]).toEqual([oneOfEach, 0, 0])
    clock.mockReturnValue(Date.now() + TENANT_TRUST_MS)
    expect([await trips(), await trips()]).toEqual([oneOfEach, 0])
  })

  it('is rejected without a look-up if it is malformed, and with one if it is well formed but unknown', async () => {
    const token = await made1()
    await callApi('GET', '/v1/ping/authorized', { token })
    const wrong = token.replace(/.$/, last => (last === 'a' ? 'b' : 'a'))
    for (const [presented, trips] of [
      [wrong, 0],
      [token.slice(0, -1), 0],
      [`${token}0`, 0],
      ['bdy_', 0],
      [newAuthToken(people.tenant.locator), 1],
      [newAuthToken(newUuid(0)), 1],
    ] as const) {
      const answer = await callApi<Refused>('GET', '/v1/ping/authorized', { token: presented })
      expect([presented, answer.body.code, roundTrips(answer).d1]).toEqual([
        presented,
        'unauthenticated',
        trips,
      ])
    }
  })

  it('expires at its expiresAt', async () => {
    const token = await made1({ expiresAt: inDays(1) })
    const clock = later(86_400_000 - 60_000)
    expect((await callApi('GET', '/v1/ping/authorized', { token })).status).toBe(200)
    clock.mockReturnValue(Date.now() + 60_001)
    expect((await callApi('GET', '/v1/ping/authorized', { token })).status).toBe(401)
  })

  it('follows the current rights of its owner: a lower type, disabling and deletion apply to it', async () => {
    const locator = await people.add('falling', 'account.tenant.admin')
    const token = await made1({}, await people.token('falling'))
    expect((await listAccounts(token)).status).toBe(200)
    const set = (what: string) =>
      people.database.prepare(`update account set ${what} where locator = ?`).bind(locator).run()
    const clock = later(TENANT_TRUST_MS)
    const pass = () => clock.mockReturnValue(Date.now() + TENANT_TRUST_MS)
    await set(`type = 'account.tenant.employee'`)
    pass()
    expect((await listAccounts(token)).status).toBe(403)
    await set(`type = 'account.tenant.admin', locked_until = 99999999999999`)
    pass()
    expect((await listAccounts(token)).status).toBe(200)
    await set('disabled_at = 1')
    pass()
    expect((await listAccounts(token)).status).toBe(401)
    await set('disabled_at = null, deleted_at = 1')
    pass()
    expect((await listAccounts(token)).status).toBe(401)
  })

  it('cannot renew a sign-in or change a password', async () => {
    const token = await made1()
    for (const [method, path, body] of [
      ['POST', '/account/renewAuthentication', undefined],
      ['PATCH', '/account/v1/accounts/password', { oldPassword: PASSWORD, password: 'Rhabarber-7-Kisten' }],
    ] as const)
      expect((await callApi<Refused>(method, path, { token, body })).body.code).toBe('forbidden')
  })

  it('belongs to one tenant: paths of another tenant return 404', async () => {
    const token = await made1({ permissions: ['policies.*', 'invoices.*', 'transactions.*'] })
    const path = (locator: string) => `/billing/${locator}/jobs/invoices/policies/100000000/list`
    const own = await callApi<Refused>('GET', path(people.tenant.locator), { token })
    expect(own.body.message).not.toContain('tenant')
    const answer = await callApi<Refused>('GET', path(other.tenant.locator), { token })
    expect(answer.body.message).toBe(`There is no tenant '${other.tenant.locator}'.`)
    expect(answer.body.code).toBe('notFound')
  })
})

describe('creating a long-lived token', () => {
  it('rejects a taken name, a past or distant expiry, unknown permissions and other tenants', async () => {
    const taken = wanted()
    expect((await make(taken)).status).toBe(200)
    for (const [body, status, said] of [
      [taken, 409, /has a token 'token/],
      [wanted({ name: 'bdy_mine' }), 400, /'name' must not begin with 'bdy_'/],
      [wanted({ expiresAt: inDays(-1) }), 400, /'expiresAt' must be in the future/],
      [wanted({ expiresAt: inDays(366 * 6) }), 400, /five years/],
      [wanted({ expiresAt: 'soon' }), 400, /'expiresAt' must be a time/],
      [wanted({ permissions: ['policies.fly', 'x.*'] }), 400, /'policies.fly', 'x.\*'/],
      [wanted({ permissions: ['audit.list', 'deployments.deploy'] }), 422, /: deployments.deploy\.$/],
      [wanted({ permissions: ['deployments.*'] }), 422, /: deployments.deploy\.$/],
      [wanted({ tenants: [people.tenant.name, other.tenant.name] }), 422, /'people-2'/],
      [wanted({ tenants: ['type:production'] }), 422, /'type:production'/],
    ] as const) {
      const answer = await make(body)
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(said)])
    }
    for (const tenants of [[], ['any'], ['type:test'], [people.tenant.locator], [people.tenant.hostName]])
      expect((await make(wanted({ tenants }))).status).toBe(200)
  })

  it('rejects with 422 more permissions or a later expiry than the token that creates it', async () => {
    const token = await made1({ permissions: ['users.token', 'users.list'], expiresAt: inDays(3) })
    const more = await make(
      wanted({ permissions: ['users.list', 'users.write'], expiresAt: inDays(2) }),
      token,
    )
    expect([more.status, more.body.message]).toEqual([
      422,
      'You lack these permissions of the token: users.write.',
    ])
    const longer = await make(wanted({ permissions: ['users.list'], expiresAt: inDays(4) }), token)
    expect([longer.status, longer.body.code]).toEqual([422, 'beyondOwner'])
    expect((await make(wanted({ permissions: ['users.list'], expiresAt: inDays(2) }), token)).status).toBe(
      200,
    )
  })

  it('returns 403 to an account without users.write and users.token', async () => {
    expect((await make(wanted(), await people.token('alice'))).body.code).toBe('forbidden')
  })

  it('is not available to administration accounts, which do not belong to the tenant', async () => {
    const { authorizationToken: root } = await callOk<Authentication>(
      'POST',
      `/account/authenticateAdmin?tenantName=${people.tenant.name}`,
      { body: { username: 'root', password: PASSWORD } },
    )
    expect((await make(wanted(), root)).body.code).toBe('wrongState')
    expect(await callOk('GET', '/auth/users/tokens', { token: root })).toEqual([])
    const gone = await callApi<{ message: string }>('DELETE', '/auth/users/tokens/nightly', { token: root })
    expect([gone.status, gone.body.message]).toEqual([404, "The account 'root' has no such token 'nightly'."])
  })

  it('succeeds once when four requests use the same name simultaneously', async () => {
    const body = wanted()
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await make(body)).status))
    expect(statuses.sort()).toEqual([200, 409, 409, 409])
  })
})

describe('a service account', () => {
  it('has no password and signs in with its tokens only', async () => {
    const robot = await addService()
    expect(robot).toMatchObject({ service: true, accountType: 'account.tenant.admin', locked: false })
    expect((await people.tryToEnter(robot.username, '')).status).toBe(400)
    expect((await people.tryToEnter(robot.username)).status).toBe(401)
    const token = await callOk<string>('POST', `/auth/users/${robot.id}/tokens`, {
      token: boss,
      body: wanted(),
    })
    expect((await listAccounts(token)).status).toBe(200)
    expect(
      await callOk<AuthTokenResponse[]>('GET', `/auth/users/${robot.id}/tokens`, { token: boss }),
    ).toHaveLength(1)
  })

  it('gets tokens from its creator with users.custom alone; an account of a person cannot get tokens this way', async () => {
    const custom = await made1({ permissions: ['users.custom', 'users.list'] })
    await people.add('second', 'account.tenant.admin')
    const [mine, theirs] = [await addService(), await addService(await people.token('second'))]
    const body = wanted({ permissions: ['users.list'], expiresAt: inDays(2) })
    const ask = (locator: string, token: string) =>
      callApi<Refused>('POST', `/auth/users/${locator}/tokens`, { token, body })
    expect((await ask(mine.id, custom)).status).toBe(200)
    expect((await ask(theirs.id, custom)).body.code).toBe('forbidden')
    expect((await ask(theirs.id, boss)).status).toBe(200)
    expect((await ask(people.locators.alice!, boss)).body.code).toBe('wrongState')
    expect((await ask(newUuid(0), boss)).body.code).toBe('notFound')
    expect((await ask('nonsense', boss)).body.code).toBe('notFound')
    expect(
      (await callApi<Refused>('GET', `/auth/users/${theirs.id}/tokens`, { token: custom })).body.code,
    ).toBe('forbidden')
    const ended = (locator: string) =>
      callApi<Refused>('DELETE', `/auth/users/${locator}/tokens/${encodeURIComponent(body.name)}`, {
        token: custom,
      })
    expect((await ended(theirs.id)).body.code).toBe('forbidden')
    expect((await ended(mine.id)).status).toBe(200)
  })
})

describe('ending tokens', () => {
  it('deletes a token by name or by value, and every instance rejects it within 5 s', async () => {
    const call = mounted(accountRoutes)
    const ping = async (token: string) =>
      (await call('GET', '/account/v1/accounts/list', { headers: { authorization: token } })).status
    for (const by of ['name', 'value'] as const) {
      const body = wanted()
      const token = (await make(body)).body
      // Another instance of the service has cached the token, and trusts its cache for 5 s.
      expect(await ping(token)).toBe(200)
      const path = `/auth/users/tokens/${encodeURIComponent(by === 'name' ? body.name : token)}`
      expect((await callApi('DELETE', path, { token: boss })).status).toBe(200)
      expect((await listAccounts(token)).status).toBe(401)
      const clock = later(TENANT_TRUST_MS)
      expect(await ping(token)).toBe(401)
      clock.mockRestore()
      const again = await callApi<Refused>('DELETE', path, { token: boss })
      expect([again.status, JSON.stringify(again.body)]).toEqual([404, expect.not.stringContaining(token)])
      expect(again.body.requestUri).toBe(
        decodeURIComponent(by === 'name' ? path : withoutAuthTokens(path)).replaceAll(' ', '%20'),
      )
    }
  })

  it('deletes only tokens of the account in the path', async () => {
    const robot = await addService()
    const body = wanted()
    await callOk('POST', `/auth/users/${robot.id}/tokens`, { token: boss, body })
    const path = (locator: string) => `/auth/users/${locator}/tokens/${encodeURIComponent(body.name)}`
    expect(
      (await callApi('DELETE', `/auth/users/tokens/${encodeURIComponent(body.name)}`, { token: boss }))
        .status,
    ).toBe(404)
    expect((await callApi('DELETE', path(people.locators.alice!), { token: boss })).status).toBe(404)
    expect((await callApi('DELETE', path(robot.id), { token: boss })).status).toBe(200)
  })

  it('revokes every token of an account in every instance of the service within 5 s', async () => {
    const call = mounted(accountRoutes)
    const elsewhere = async (token: string) =>
      (await call('POST', '/account/renewAuthentication', { headers: { authorization: token } })).status
    const locator = await people.add('leaving', 'account.tenant.admin')
    const [access, bystander] = [await people.token('leaving'), await people.token('alice')]
    const token = await made1({}, access)
    expect([await elsewhere(access), await elsewhere(bystander)]).toEqual([200, 200])
    expect((await callApi('POST', `/auth/users/${locator}/revoke`, { token: bystander })).status).toBe(403)
    expect((await callApi('POST', `/auth/users/${locator}/revoke`, { token: boss })).status).toBe(200)
    // Immediately in the instance that revoked them, and for renewals in every instance.
    for (const ended of [access, token])
      expect((await callApi('GET', '/v1/ping/authorized', { token: ended })).status).toBe(401)
    expect(await elsewhere(access)).toBe(401)
    const clock = later(TENANT_TRUST_MS)
    const reply = await call('PATCH', '/account/v1/accounts/password', {
      headers: { authorization: access, 'content-type': 'application/json' },
      body: JSON.stringify({ oldPassword: 'wrong', password: 'Rhabarber-7-Kisten' }),
    })
    expect(reply.json()).toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('revoked'),
    })
    expect(await elsewhere(bystander)).toBe(200)
    clock.mockRestore()
    expect(
      (await callApi('GET', '/v1/ping/authorized', { token: await people.token('leaving') })).status,
    ).toBe(200)
  })

  it('rejects creating a token with a revoked session, even in an isolate that does not know of it yet', async () => {
    const call = mounted(accountRoutes)
    const locator = await people.add('stolen', 'account.tenant.admin')
    const authorization = await people.token('stolen')
    const make = () =>
      call('POST', '/auth/users/tokens', { headers: { authorization }, body: JSON.stringify(wanted()) })
    expect((await make()).status).toBe(200)
    expect((await callApi('POST', `/auth/users/${locator}/revoke`, { token: boss })).status).toBe(200)
    expect((await make()).json()).toMatchObject({ code: 'unauthenticated' })
    expect(await callOk('GET', `/auth/users/${locator}/tokens`, { token: boss })).toEqual([])
  })

  it.each([
    ['its deletion', 'DELETE', '/auth/users/LOCATOR/tokens/stolen'],
    ['a revocation', 'POST', '/auth/users/LOCATOR/revoke'],
    ['disabling its account', 'PATCH', '/account/v1/accounts/LOCATOR/disable'],
    ['deleting its account', 'DELETE', '/account/v1/accounts/LOCATOR'],
  ])(
    'rejects every write after %s, even in an isolate that still trusts the token',
    async (_, method, path) => {
      const call = mounted([
        ...accountRoutes,
        ...webhookRoutes,
        ...secretRoutes,
        ...integrationRoutes,
        ...policyholderRoutes,
      ])
      const username = `owner-${next()}`
      const locator = await people.add(username, 'account.tenant.admin')
      const permissions = ['users.*', 'webhooks.*', 'secrets.*', 'integrations.*', 'policyholders.*']
      const body = wanted({ name: 'stolen', permissions })
      const authorization = (await make(body, await people.token(username))).body
      const send = async (to: string, sent: object) => {
        const headers = { authorization, 'content-type': 'application/json' }
        const { status, text } = await call('POST', to, { headers, body: JSON.stringify(sent) })
        return [status, text.includes('unauthenticated')]
      }
      const tenantLocator = people.tenant.locator
      const integration = { apiVersion: '3', url: 'https://rater.example.com/', type: 'external_rater' }
      const writeAll = async (name: string) => ({
        account: await send('/account/v1/account', {
          username: `${name}-${username}`,
          name,
          email: 'r@example.com',
          type: 'service',
        }),
        token: await send(
          '/auth/users/tokens',
          wanted({ permissions: ['users.read'], expiresAt: inDays(1) }),
        ),
        webhook: await send(`/event/${tenantLocator}/webhooks`, {
          name: `${name}-${username}`,
          enabled: true,
          endpoint: { url: 'https://hooks.example.com/' },
          eventTypes: ['policy.issue'],
        }),
        secret: await send(`/resource/${tenantLocator}/secrets`, {
          name: `${name}-${username}`,
          staticName: `${name}_${next()}`,
          secret: { key: 'chalk' },
        }),
        integration: await send('/integrations', { ...integration, name: `${name}-${username}` }),
        policyholder: await send('/policyholder/create', { values: {} }),
      })
      const kinds = ['account', 'token', 'webhook', 'secret', 'integration', 'policyholder']
      const each = (outcome: [number, boolean]) => Object.fromEntries(kinds.map(kind => [kind, outcome]))
      expect(await writeAll('before')).toEqual(each([200, false]))
      await callOk(method, path.replace('LOCATOR', locator), { token: boss })
      expect(await writeAll('after')).toEqual(each([401, true]))
    },
  )

  it('publishes a revocation by a timer if the request that revoked was interrupted', async () => {
    const locator = await people.add('cut', 'account.tenant.employee')
    const token = await people.token('cut')
    expect((await callApi('POST', `/auth/users/${locator}/revoke`, { token: boss })).status).toBe(200)
    const told = await env.CONTROL.prepare(
      'select tenant_locator, epoch from revocation where account_locator = ?',
    )
      .bind(locator)
      .first()
    expect(told).toEqual({ tenant_locator: people.tenant.locator, epoch: 1 })
    await env.CONTROL.prepare('delete from revocation where account_locator = ?').bind(locator).run()
    const { fireRevocation } = await import('../../src/access/revocation.ts')
    const { findTenant } = await import('../../src/platform/tenancy.ts')
    const { noCalls } = await import('../../src/platform/calls.ts')
    const tenant = (await findTenant(env, { locator: people.tenant.locator }, noCalls()))!
    await fireRevocation({ subject: locator, payload: { epoch: '1' } }, { env, tenant, calls: noCalls() })
    later(TENANT_TRUST_MS)
    expect((await callApi('GET', '/v1/ping/authorized', { token })).status).toBe(401)
  })

  it('ends all tokens of the tenant when more accounts are revoked than an isolate can remember', async () => {
    const rows = JSON.stringify(Array.from({ length: MOST_REVOCATIONS }, () => newUuid(0)))
    await env.CONTROL.prepare(
      `insert into revocation (account_locator, tenant_locator, epoch, at)
       select value, ?, 1, ? from json_each(?)`,
    )
      .bind(other.tenant.locator, Date.now(), rows)
      .run()
    const [alice, chief] = [await other.token('alice'), await other.token('boss')]
    const path = `/auth/users/${other.locators.alice}/revoke`
    expect((await callApi('POST', path, { token: chief })).status).toBe(200)
    for (const token of [alice, chief])
      expect((await callApi('GET', '/v1/ping/authorized', { token })).status).toBe(401)
    const left = await env.CONTROL.prepare(
      'select count(*) as count from revocation where tenant_locator = ?',
    )
      .bind(other.tenant.locator)
      .first('count')
    expect(left).toBe(0)
    await other.token('boss')
  })

  it('removes the credentials: nobody can sign in to the account until a password is set', async () => {
    const locator = await people.add('bare', 'account.tenant.admin')
    const access = await people.token('bare')
    const token = await made1({}, access)
    expect((await callApi('DELETE', `/auth/users/${locator}/credentials`, { token: boss })).status).toBe(200)
    for (const ended of [access, token])
      expect((await callApi('GET', '/v1/ping/authorized', { token: ended })).status).toBe(401)
    expect((await people.tryToEnter('bare')).status).toBe(401)
    expect(
      (
        await callApi('PUT', `/account/v1/accounts/${locator}/password`, {
          token: boss,
          body: { password: 'Rhabarber-7-Kisten' },
        })
      ).status,
    ).toBe(200)
    expect((await people.tryToEnter('bare', 'Rhabarber-7-Kisten')).status).toBe(200)
  })
})
