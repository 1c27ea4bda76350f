// Accounts through HTTP: adding, listing, disabling and deleting them; their passwords; and where secrets must never appear.
import { env } from 'cloudflare:workers'
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AccountListResponse, AccountResponse } from '../../src/access/contract.ts'
import { MOST_FAILURES } from '../../src/access/lock-out.ts'
import { STRICT_RULES } from '../../src/access/password-rules/rules.ts'
import { accountRoutes } from '../../src/access/routes.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { mounted } from '../platform/http/mounted.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { type Authentication, addRoot, PASSWORD, type People, peopleOf, type Refused } from './people.ts'

const NEW_PASSWORD = 'Rhabarber-7-Kisten'

let people: People
let boss: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  people = await peopleOf(1)
  await addRoot()
  boss = await people.token('boss')
})
afterEach(() => vi.restoreAllMocks())

const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)
const carla = (changes: object = {}) => ({
  name: 'Carla Clausen',
  email: 'carla@example.com',
  password: NEW_PASSWORD,
  type: 'account.tenant.employee',
  username: 'carla',
  ...changes,
})
const add = (body: object, token = boss, headers: Record<string, string> = {}) =>
  callApi<AccountResponse & Refused>('POST', '/account/v1/account', { token, body, headers })
const change = (action: string, locator: string, token = boss) =>
  callApi<AccountResponse & Refused>('PATCH', `/account/v1/accounts/${locator}/${action}`, { token })
const changePassword = (token: string, oldPassword: string, password: string) =>
  callApi<Refused>('PATCH', '/account/v1/accounts/password', { token, body: { oldPassword, password } })
const ping = async (token: string) => (await callApi('GET', '/v1/ping/authorized', { token })).status
const auditEntries = async (action: string) =>
  (
    await callOk<{ entries: { subject: string; details: object; username: string }[] }>(
      'GET',
      `/audit/list?action=${action}`,
      { token: boss },
    )
  ).entries

describe('an account', () => {
  it('is added by an administrator, whom the audit trail names, and can sign in', async () => {
    const { status, body } = await add(carla())
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Carla Clausen',
        createdTimestamp: expect.stringMatching(/^\d{13}$/),
        accountType: 'account.tenant.employee',
        deleted: false,
        email: 'carla@example.com',
        locked: false,
        tenant: people.tenant.name,
        username: 'carla',
        disabled: false,
        service: false,
      },
    ])
    expect(await ping(await people.token('carla', NEW_PASSWORD))).toBe(200)
    expect((await auditEntries('accounts.write')).at(-1)).toMatchObject({
      subject: body.id,
      username: 'boss',
      details: { username: 'carla', accountType: 'account.tenant.employee' },
    })
    expect(await callOk('GET', `/account/v1/accounts/${body.id}`, { token: boss })).toEqual(body)
  })

  it('is rejected with a taken user name, an invalid type or e-mail address, or a weak password', async () => {
    for (const [changes, status, said] of [
      [{}, 409, /An account 'carla' already exists/],
      [{ username: ' ' }, 400, /'username' must have no blanks around it/],
      [{ username: 'carla ' }, 400, /'username' must have no blanks around it/],
      [{ username: 'car\u200bla' }, 400, /no control or invisible characters/],
      [{ username: '\u202ealrac' }, 400, /no control or invisible characters/],
      [{ username: 'car\tla' }, 400, /no control or invisible characters/],
      [{ username: 'dora', type: 'account.internal' }, 400, /'type' must be one of/],
      [{ username: 'dora', type: 'agent' }, 400, /'type' must be one of/],
      [{ username: 'dora', email: 'dora' }, 400, /'email' must be an e-mail address/],
      [{ username: 'dora', password: 'Rhabarber-7' }, 400, /must have at least 12 characters/],
      [{ username: 'dora', password: 'Password-2026' }, 400, /must not be a common password/],
      [{ username: 'dora', password: undefined }, 400, /must have at least 12 characters/],
    ] as const) {
      const answer = await add(carla(changes))
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(said)])
      expect(answer.body.httpStatus).toBe(String(status))
    }
    expect((await add(carla({ username: 'dora' }), await people.token('alice'))).body.code).toBe('forbidden')
  })

  it('can have every account type of the tenant in all its spellings, and a test type in test tenants only', async () => {
    for (const [type, expected] of [
      ['admin', 'account.tenant.admin'],
      ['account.test.tenant.admin', 'account.test.tenant.admin'],
      ['read-only', 'account.tenant.read.only.user'],
      ['claims.only.user', 'account.tenant.claims.only.user'],
    ])
      expect((await add(carla({ type, username: `a ${type}` }))).body.accountType).toBe(expected)
    const tester = await people.token('a account.test.tenant.admin', NEW_PASSWORD)
    expect((await callApi('GET', '/account/v1/accounts/list', { token: tester })).status).toBe(200)
    await env.CONTROL.prepare(`update tenant set type = 'production' where locator = ?`)
      .bind(people.tenant.locator)
      .run()
    // On a busy machine the control database may respond late; the tenant's earlier type then stays cached.
    let tried = 0
    const added = async () => {
      later(TENANT_TRUST_MS)
      tried += 1
      return (await add(carla({ type: 'account.test.tenant.admin', username: `tester ${tried}` }))).status
    }
    await expect.poll(added).toBe(400)
    await env.CONTROL.prepare(`update tenant set type = 'test' where locator = ?`)
      .bind(people.tenant.locator)
      .run()
  })

  it('cannot be added, or given a password, by a caller with fewer permissions than its type (422)', async () => {
    const token = await callOk<string>('POST', '/auth/users/tokens', {
      token: boss,
      body: {
        name: 'porter',
        expiresAt: new Date(Date.now() + 86_400_000),
        permissions: ['users.write', 'policies.*'],
        tenants: [],
      },
    })
    const { status, body } = await add(carla({ username: 'dora' }), token)
    expect([status, body.code, body.message]).toEqual([
      422,
      'beyondOwner',
      expect.stringMatching(
        /^Accounts of type account.tenant.employee have permissions that you lack: accounts\.read, /,
      ),
    ])
    const path = `/account/v1/accounts/${people.locators.alice}/password`
    expect((await callApi<Refused>('PUT', path, { token, body: { password: NEW_PASSWORD } })).body.code).toBe(
      'beyondOwner',
    )
  })

  it('with users.custom alone can read and disable itself and accounts that it created, and no other', async () => {
    const token = await callOk<string>('POST', '/auth/users/tokens', {
      token: boss,
      body: {
        name: 'custom',
        expiresAt: new Date(Date.now() + 86_400_000),
        permissions: ['users.custom'],
        tenants: [],
      },
    })
    const robot = (await add(carla({ type: 'service', username: 'robot' }))).body
    expect(robot).toMatchObject({ service: true, accountType: 'account.tenant.admin' })
    const read = async (locator: string) =>
      (await callApi('GET', `/account/v1/accounts/${locator}`, { token })).status
    expect([
      await read(robot.id),
      await read(people.locators.boss!),
      await read(people.locators.alice!),
    ]).toEqual([200, 200, 403])
    expect((await change('disable', people.locators.alice!, token)).status).toBe(403)
    const path = `/account/v1/accounts/${people.locators.alice!}`
    expect((await callApi('DELETE', path, { token })).status).toBe(403)
    expect((await change('disable', robot.id, token)).status).toBe(200)
    // Somebody with more rights may have disabled it on purpose.
    expect((await change('enable', robot.id, token)).status).toBe(403)
  })

  it('is added once for an Idempotency-Key, and the stored request hash does not reveal the password', async () => {
    const key = { 'idempotency-key': 'add-1' }
    const first = await add(carla({ username: 'emil' }), boss, key)
    const again = await add(carla({ username: 'emil' }), boss, key)
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
    expect((await add(carla({ username: 'fritz' }), boss, key)).body.code).toBe('idempotencyConflict')
    const { hash } = (await people.database
      .prepare(`select body_hash as hash from write where key like '%:add-1'`)
      .first<{ hash: string }>())!
    const sent = `POST /account/v1/account\n${JSON.stringify(carla({ username: 'emil' }))}`
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sent))
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(hash).not.toBe(Buffer.from(digest).toString('hex'))
  })

  it('is listed with all others, page by page, in order of creation', async () => {
    const list = (query: string) =>
      callOk<AccountListResponse>('GET', `/account/v1/accounts/list${query}`, { token: boss })
    const all = await list('')
    expect(all.listCompleted).toBe(true)
    expect(all.items.map(one => one.username)).toEqual(expect.arrayContaining(['boss', 'alice', 'carla']))
    const [first, second] = [await list('?count=2'), await list('?offset=2&count=1000')]
    expect([first.listCompleted, first.items.length, second.listCompleted]).toEqual([false, 2, true])
    expect([...first.items, ...second.items]).toEqual(all.items)
    expect((await callApi('GET', '/account/v1/accounts/list?offset=-1', { token: boss })).status).toBe(400)
    expect(
      (await callApi('GET', '/account/v1/accounts/list', { token: await people.token('alice') })).status,
    ).toBe(403)
  })
})

describe('disabling an account', () => {
  it('ends tokens in every instance within 5 s and blocks sign-in until the account is enabled again', async () => {
    const call = mounted(accountRoutes)
    const elsewhere = async (token: string) =>
      (
        await call('PATCH', '/account/v1/accounts/password', {
          headers: { authorization: token, 'content-type': 'application/json' },
          body: '{}',
        })
      ).status
    const locator = await people.add('gone', 'account.tenant.employee')
    const token = await people.token('gone')
    expect(await elsewhere(token)).toBe(400)
    const disabled = await change('disable', locator)
    expect(disabled.body).toMatchObject({ id: locator, disabled: true })
    // A read, the commit, and a write to the control database.
    expect(roundTrips(disabled).d1).toBe(3)
    expect(await ping(token)).toBe(401)
    const clock = later(TENANT_TRUST_MS)
    expect(await elsewhere(token)).toBe(401)
    clock.mockRestore()
    expect((await people.tryToEnter('gone')).status).toBe(401)
    expect((await change('disable', locator)).status).toBe(200)
    expect((await change('enable', locator)).body).toMatchObject({ disabled: false })
    expect(await ping(await people.token('gone'))).toBe(200)
    expect(await ping(token)).toBe(401)
    expect(await auditEntries(`accounts.disable&subject=${locator}`)).toHaveLength(2)
    expect(await auditEntries(`accounts.enable&subject=${locator}`)).toHaveLength(1)
  })

  it('requires administration permissions, and rejects disabling your own account', async () => {
    expect((await change('disable', people.locators.boss!)).body.code).toBe('wrongState')
    expect((await change('disable', people.locators.boss!, await people.token('alice'))).status).toBe(403)
    expect((await change('disable', newUuid(0))).status).toBe(404)
  })
})

describe('deleting an account', () => {
  it('ends all sessions of the account and frees its user name', async () => {
    const { id } = (await add(carla({ username: 'hugo' }))).body
    const token = await people.token('hugo', NEW_PASSWORD)
    const remove = () => callApi<Refused>('DELETE', `/account/v1/accounts/${id}`, { token: boss })
    expect((await remove()).status).toBe(200)
    expect(await ping(token)).toBe(401)
    expect((await people.tryToEnter('hugo', NEW_PASSWORD)).status).toBe(401)
    expect((await remove()).body.code).toBe('notFound')
    expect((await callApi('GET', `/account/v1/accounts/${id}`, { token: boss })).status).toBe(404)
    const again = await add(carla({ username: 'hugo' }))
    expect([again.status, again.body.id === id]).toEqual([200, false])
    expect(await ping(token)).toBe(401)
    const own = await callApi<Refused>('DELETE', `/account/v1/accounts/${people.locators.boss}`, {
      token: boss,
    })
    expect(own.body.code).toBe('wrongState')
  })
})

describe('a password', () => {
  it('is changed by its owner with the old password, which ends every session', async () => {
    await people.add('ida', 'account.tenant.employee')
    const [one, two] = [await people.token('ida'), await people.token('ida')]
    expect((await changePassword(one, PASSWORD, 'Rhabarber-7')).body.code).toBe('weakPassword')
    expect((await changePassword(one, PASSWORD, PASSWORD)).body.code).toBe('weakPassword')
    expect((await changePassword(one, PASSWORD, NEW_PASSWORD)).status).toBe(200)
    expect([await ping(one), await ping(two)]).toEqual([401, 401])
    expect((await people.tryToEnter('ida')).status).toBe(401)
    expect(await ping(await people.token('ida', NEW_PASSWORD))).toBe(200)
    expect((await auditEntries('accounts.password')).at(-1)).toMatchObject({ username: 'ida', details: {} })
  })

  it('cannot be guessed with a valid token: five wrong attempts lock the account', async () => {
    await people.add('jan', 'account.tenant.employee')
    const token = await people.token('jan')
    for (let time = 0; time < MOST_FAILURES; time += 1)
      expect((await changePassword(token, 'wrong', NEW_PASSWORD)).body).toMatchObject({
        code: 'wrongPassword',
        httpStatus: '403',
      })
    expect((await changePassword(token, PASSWORD, NEW_PASSWORD)).body.code).toBe('wrongPassword')
    expect((await people.tryToEnter('jan')).status).toBe(401)
  })

  it('is changed in the same way by an administration account, whose tokens then end', async () => {
    const enter = (password: string) =>
      callApi<Authentication & Refused>('POST', '/account/authenticate', {
        body: { username: 'root', password },
      })
    const token = (await enter(PASSWORD)).body.authorizationToken
    const within = (
      await callOk<Authentication>('POST', `/account/authenticateAdmin?tenantName=${people.tenant.name}`, {
        body: { username: 'root', password: PASSWORD },
      })
    ).authorizationToken
    expect((await changePassword(token, 'wrong', NEW_PASSWORD)).body.code).toBe('wrongPassword')
    expect((await changePassword(token, PASSWORD, NEW_PASSWORD)).status).toBe(200)
    expect([await ping(token), await ping(within)]).toEqual([401, 401])
    expect((await enter(PASSWORD)).status).toBe(401)
    const next = (await enter(NEW_PASSWORD)).body.authorizationToken
    expect((await changePassword(next, NEW_PASSWORD, PASSWORD)).status).toBe(200)
    const last = (await enter(PASSWORD)).body.authorizationToken
    const { entries } = await callOk<{ entries: { action: string; username: string; details: object }[] }>(
      'GET',
      '/audit/administration/list?username=root',
      { token: last },
    )
    // Signing in to the tenant is recorded in the trail of the tenant.
    expect(entries.map(({ action }) => action)).toEqual([
      'login.success',
      'accounts.password',
      'accounts.password',
      'login.failure',
      'login.success',
      'accounts.password',
      'login.success',
    ])
    expect(entries[1]).toMatchObject({ username: 'root', details: { refused: 'wrongPassword' } })
  })

  it('can be reset by an administrator, which also unlocks the account', async () => {
    const locator = await people.add('kai', 'account.tenant.employee')
    const token = await people.token('kai')
    for (let time = 0; time < MOST_FAILURES; time += 1) await people.tryToEnter('kai', 'wrong')
    const set = (who: string, by: string) =>
      callApi<Refused>('PUT', `/account/v1/accounts/${who}/password`, {
        token: by,
        body: { password: NEW_PASSWORD },
      })
    expect((await set(locator, await people.token('alice'))).body.code).toBe('forbidden')
    expect((await set(people.locators.boss!, boss)).body.code).toBe('wrongState')
    expect((await set(locator, boss)).status).toBe(200)
    expect(await ping(token)).toBe(401)
    expect(await ping(await people.token('kai', NEW_PASSWORD))).toBe(200)
  })

  it('must satisfy the stricter rules of the tenant on characters, history and age', async () => {
    const path = '/account/v1/passwordRules'
    const rules = (body: object, headers: Record<string, string> = {}) =>
      callApi<Refused>('PUT', path, { token: boss, body, headers })
    expect((await rules({ minimumLength: 11 })).status).toBe(400)
    expect((await rules({ minimumLength: 20, maximumLength: 19 })).status).toBe(400)
    expect((await rules({ history: 1 })).body).toEqual({ ...STRICT_RULES, history: 1 })
    const read = await callApi('GET', path, { token: boss })
    expect(read.body).toMatchObject({ history: 1 })
    // Two callers write simultaneously with the same ETag: one succeeds.
    const asRead = { 'if-match': read.headers.get('etag')! }
    const both = await Promise.all([2, 3].map(history => rules({ history }, asRead)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    const winner = both.find(({ status }) => status === 200)!
    // One call reads the rules and one writes them.
    expect(roundTrips(winner)).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
    expect((await rules({ history: 1 }, { 'if-match': winner.headers.get('etag')! })).status).toBe(200)
    expect((await add(carla({ username: 'lena', password: 'rhabarberkisten7' }))).body.message).toBe(
      'The password must have an upper-case letter; it must have a character that is neither a letter nor a digit. Choose another.',
    )
    const [first, second, third] = ['Rhabarber-7-Kisten!', 'Stachelbeer+9+Schalen', 'Quitten_4_Marmelade']
    expect((await add(carla({ username: 'lena', password: first }))).status).toBe(200)
    const token = await people.token('lena', first)
    expect((await changePassword(token, first!, second!)).status).toBe(200)
    const next = await people.token('lena', second)
    expect((await changePassword(next, second!, first!)).body.code).toBe('weakPassword')
    expect((await changePassword(next, second!, third!)).status).toBe(200)
    expect((await changePassword(await people.token('lena', third), third!, first!)).status).toBe(200)
    const clock = later(90 * 86_400_000)
    const old = await people.token('lena', first)
    const refused = await callApi<Refused>('GET', '/account/v1/accounts/list', { token: old })
    expect(refused.body).toMatchObject({ code: 'forbidden', message: expect.stringContaining('older') })
    for (const [method, path] of [
      ['GET', '/deployments/versions'],
      ['POST', '/account/unlock'],
    ] as const)
      expect((await callApi<Refused>(method, path, { token: old })).body.message).toContain('older')
    expect((await changePassword(old, first!, second!)).status).toBe(200)
    const fresh = await people.token('lena', second)
    expect(
      (await callApi<Refused>('GET', '/account/v1/accounts/list', { token: fresh })).body.message,
    ).toContain('lacks')
    // Passwords that an archive set do not expire.
    const alice = await people.token('alice')
    expect(
      (await callApi<Refused>('GET', '/account/v1/accounts/list', { token: alice })).body.message,
    ).toContain('lacks')
    clock.mockRestore()
    await rules({
      minimumLength: 12,
      maximumLength: 256,
      digit: false,
      upper: false,
      lower: false,
      special: false,
      history: 0,
      expiryDays: 0,
    })
  })
})

describe('secrets', () => {
  it('never appear in logs, responses or stored rows: passwords, tokens and keys', async () => {
    const printed: unknown[] = []
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation((...values) => void printed.push(values))
    const secret = 'Geheimnis-9-Kraemer'
    const answers = [
      await add(carla({ username: 'mia', password: secret })),
      await add(carla({ username: 'mia', password: secret })),
      await add(carla({ username: 'nora', password: secret, email: 5 })),
      await callApi('POST', '/account/v1/account', { token: boss, body: `{"password": "${secret}"` }),
      await people.tryToEnter('mia', `${secret}!`),
      await callApi('DELETE', `/auth/users/tokens/bdy_${secret.replaceAll('-', '')}`, { token: boss }),
      await callApi('GET', '/v1/ping/authorized', { token: `bdy_${secret.replaceAll('-', '')}` }),
    ]
    const token = await people.token('mia', secret)
    answers.push(await changePassword(token, secret, `${secret}`), await changePassword(token, 'x', secret))
    const kept = await Promise.all(
      ['event', 'audit', 'write', 'delivery', 'timer', 'account'].map(
        async table => (await people.database.prepare(`select * from ${table}`).all()).results,
      ),
    )
    const all = JSON.stringify([printed, answers.map(({ body }) => body), kept])
    expect(all).not.toMatch(/Geheimnis-?9/)
    expect(all).not.toContain(token)
  })
})

describe('GET /.well-known/jwks.json', () => {
  it('publishes the keys that verify tokens', async () => {
    const keys = await callOk<JSONWebKeySet>('GET', '/.well-known/jwks.json')
    expect(keys).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.stringMatching(/^[\w-]{43}$/),
          kid: decodeProtectedHeader(boss).kid,
          alg: 'EdDSA',
          use: 'sig',
        },
      ],
    })
    const { payload } = await jwtVerify(await people.token('boss'), createLocalJWKSet(keys))
    expect(payload.sub).toBe('boss')
  })
})
