import { env } from 'cloudflare:workers'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { hashPassword } from '../../src/access/passwords.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'

type Authentication = { authorizationToken: string; expiresTimestamp: string }
type Refused = { code: string; message: string; httpStatus: string; fieldErrors?: { ontologyUri: string }[] }

const PASSWORD = 'a long enough password'
const MOTOR = { locator: newUuid(0), name: 'admin-motor', hostName: 'admin-motor.co.local.bindery.test' }
const HOME = { locator: newUuid(0), name: 'admin-home', hostName: 'admin-home.co.local.bindery.test' }

const motor = () => boundDatabase(poolBinding(1))

async function insertAccount(database: D1Database, username: string, type: string, hash: string) {
  await database
    .prepare(
      `insert into account (locator, username, name, type, password_hash, source, created_at) values (?, ?, ?, ?, ?, 'archive', 0)`,
    )
    .bind(newUuid(0), username, `Name of ${username}`, type, hash)
    .run()
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  const hash = await hashPassword(PASSWORD, env.PASSWORD_PEPPER)
  for (const [at, { locator, name, hostName }] of [MOTOR, HOME].entries())
    await env.CONTROL.batch([
      env.CONTROL.prepare(
        `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at, former_units) values (?, ?, ?, 'test', 'active', 1, 1, 1, 0, null)`,
      ).bind(locator, name, hostName),
      env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 0, ?)').bind(
        locator,
        poolBinding(at + 1),
      ),
    ])
  await env.CONTROL.prepare(
    `insert into administrator (locator, username, name, password_hash, created_at) values (?, 'root', 'Administrator', ?, 0)`,
  )
    .bind(newUuid(0), hash)
    .run()
  await insertAccount(motor(), 'alice', 'account.tenant.employee', hash)
  await insertAccount(motor(), 'boss', 'account.tenant.admin', hash)
  await motor()
    .prepare(
      `insert into configuration_version (version, hash, time_zone, currency) values (1, 'a', 'UTC', 'EUR'), (2, 'b', 'Europe/Berlin', 'EUR')`,
    )
    .run()
})

const alice = { username: 'alice', password: PASSWORD }
const boss = { username: 'boss', password: PASSWORD }
const root = { username: 'root', password: PASSWORD }

const signIn = (body: unknown, query = '', path = '/account/authenticate') =>
  callApi<Authentication & Refused>('POST', `${path}${query}`, { body })
const signInAdmin = (body: unknown, query = '') => signIn(body, query, '/account/authenticateAdmin')
const ping = (token: string) => callApi('GET', '/v1/ping/authorized', { token })

const tokenIn = ({ status, body }: Answer<Authentication>): string => {
  expect(status).toBe(200)
  return body.authorizationToken
}

describe('signing in to a tenant', () => {
  it('works by tenant or host name, in query or body, with or without a trailing slash', async () => {
    for (const answer of [
      await signIn({ ...alice, tenantName: MOTOR.name }),
      await signIn({ ...alice, hostName: MOTOR.hostName.toUpperCase() }),
      await signIn(alice, `?tenantName=${MOTOR.name}`),
      await signIn({ ...alice, tenantName: null }, `/?hostName=${MOTOR.hostName}`),
      await signIn({ ...alice, tenantName: MOTOR.name, hostName: MOTOR.hostName }),
    ])
      expect((await ping(tokenIn(answer))).body).toBe('api')
  })

  it('returns a token with the claims that clients read, in the time zone of the newest configuration', async () => {
    const answer = await signIn({ ...alice, tenantName: MOTOR.name })
    const claims = decodeJwt(tokenIn(answer))
    expect(claims).toMatchObject({
      sub: 'alice',
      'account.name': 'Name of alice',
      'account.type': 'account.tenant.employee',
      'tenant.name': MOTOR.name,
      'tenant.uuid': MOTOR.locator,
      'tenant.type': 'test',
      'tenant.timezone': 'Europe/Berlin',
    })
    expect(answer.body.expiresTimestamp).toBe(String(claims.exp! * 1000))
  })

  it('needs one read and one write of the tenant database, and one read of the control database', async () => {
    const { headers } = await signIn({ ...alice, tenantName: MOTOR.name })
    expect(headers.get('server-timing')).toContain('d1;desc="3"')
  })

  it('adds an event to the stream of the tenant, both on success and on failure', async () => {
    const answer = await signIn({ ...alice, password: 'wrong', tenantName: MOTOR.name })
    const { results } = await motor()
      .prepare(`select type, data, username from ${EVERY_EVENT} where request_id = ?`)
      .bind(answer.headers.get('x-request-id'))
      .all<{ type: string; data: string; username: string }>()
    expect(results).toEqual([{ type: 'login.failure', username: 'alice', data: expect.any(String) }])
    expect(JSON.parse(results[0]!.data)).toEqual({
      username: 'alice',
      accountType: 'account.tenant.employee',
      reason: 'wrongPassword',
    })
    await signIn({ ...alice, tenantName: MOTOR.name })
    const newest = await motor()
      .prepare(`select type from ${EVERY_EVENT} order by sequence desc limit 1`)
      .first('type')
    expect(newest).toBe('login.success')
  })

  it('has the same response for a wrong password, user and tenant', async () => {
    const messages = new Set<string>()
    for (const [body, query] of [
      [{ ...alice, password: 'wrong' }, `?tenantName=${MOTOR.name}`],
      [{ ...alice, username: 'nobody' }, `?tenantName=${MOTOR.name}`],
      [alice, `?tenantName=${HOME.name}`],
      [alice, '?tenantName=nothing'],
      [alice, `?tenantName=${HOME.name}&hostName=${MOTOR.hostName}`],
    ] as const) {
      const answer = await signIn(body, query)
      expect(answer.body).toMatchObject({ code: 'signInFailed', httpStatus: '401', httpErrorCode: 401 })
      messages.add(answer.body.message)
    }
    expect(messages.size).toBe(1)
  })

  it('says that only administration accounts sign in without a tenant, for known and unknown user names', async () => {
    for (const body of [{ ...root, password: 'wrong' }, alice]) {
      const { status, body: refused } = await signIn(body)
      expect([status, refused.message]).toEqual([
        401,
        "User name or password is wrong, or the account is locked. Without 'hostName' or 'tenantName', only administration accounts can sign in.",
      ])
    }
  })

  it('returns 400 when query and body name different tenants', async () => {
    const answer = await signIn({ ...alice, tenantName: MOTOR.name }, `?tenantName=${HOME.name}`)
    expect(answer.body).toMatchObject({ code: 'invalidRequest', httpStatus: '400' })
  })

  it('accepts user name and password from the Authorization header when there is no body', async () => {
    const password = 'Gänse: vier, Schafe: elf'
    await insertAccount(
      motor(),
      'herder',
      'account.tenant.admin',
      await hashPassword(password, env.PASSWORD_PEPPER),
    )
    const withHeader = (text: string, path: string, body?: unknown) =>
      callApi<Authentication & Refused>('POST', path, {
        headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
        body,
      })
    const named = `?hostName=${MOTOR.hostName}`
    for (const path of ['/account/authenticate', '/account/authenticateAdmin']) {
      const token = tokenIn(await withHeader(`herder:${password}`, `${path}${named}`))
      expect(decodeJwt(token)).toMatchObject({ sub: 'herder' })
      expect((await withHeader('herder:wrong', `${path}${named}`)).body.code).toBe('signInFailed')
      for (const text of ['herder', 'herder:', `:${password}`, `herder:${'x'.repeat(1_025)}`]) {
        const { body } = await withHeader(text, `${path}${named}`)
        expect([body.code, body.message]).toEqual([
          'invalidRequest',
          expect.stringMatching(/Authorization.*base64/),
        ])
      }
      // A body takes precedence: the header may be left over from another request.
      tokenIn(await withHeader('herder:wrong', `${path}${named}`, boss))
    }
  })

  it('reports which fields are missing when the body is empty or incomplete', async () => {
    const empty = await callApi<Refused>('POST', '/account/authenticate', {
      headers: { 'content-type': 'application/json' },
    })
    expect(empty.status).toBe(400)
    expect(empty.body.message).toMatch(/username.*password/)
    const half = await signIn({ username: 'alice' })
    expect(half.body.fieldErrors?.map(problem => problem.ontologyUri)).toEqual(['password'])
  })

  it('hashes the password again when it was hashed at another cost', async () => {
    const { scryptSync, createHmac } = await import('node:crypto')
    const peppered = createHmac('sha256', env.PASSWORD_PEPPER).update(PASSWORD).digest()
    const hash = scryptSync(peppered, 'salt', 32, { N: 1024, r: 8, p: 1 })
      .toString('base64')
      .replace(/=+$/, '')
    await insertAccount(motor(), 'old', 'account.tenant.employee', `$scrypt$ln=10,r=8,p=1$c2FsdA$${hash}`)
    tokenIn(await signIn({ username: 'old', password: PASSWORD, tenantName: MOTOR.name }))
    const stored = await motor()
      .prepare(`select password_hash from account where username = 'old'`)
      .first('password_hash')
    // The cost in tests of the service: test/support/service-bundle.ts.
    expect(stored).toMatch(/^\$scrypt\$ln=4,r=8,p=5\$/)
    tokenIn(await signIn({ username: 'old', password: PASSWORD, tenantName: MOTOR.name }))
  })
})

describe('an administration account', () => {
  it('signs in without a tenant and gets a token without a tenant', async () => {
    const claims = decodeJwt(tokenIn(await signIn(root)))
    expect(claims).toMatchObject({ sub: 'root', 'account.type': 'account.internal' })
    expect(claims['tenant.uuid']).toBeUndefined()
  })

  it('cannot sign in as a user of a tenant', async () => {
    expect((await signIn({ ...root, tenantName: MOTOR.name })).body.code).toBe('signInFailed')
  })

  it('signs in to any tenant, as an administrator of that tenant only', async () => {
    for (const query of [
      `?tenantLocator=${HOME.locator}`,
      `?tenantName=${HOME.name}`,
      `?hostName=${HOME.hostName}`,
    ]) {
      const claims = decodeJwt(tokenIn(await signInAdmin(root, query)))
      expect(claims).toMatchObject({
        'account.type': 'account.tenant.admin',
        'tenant.uuid': HOME.locator,
        'tenant.timezone': 'UTC',
      })
    }
  })
})

describe('POST /account/authenticateAdmin', () => {
  it('names the tenant in the body or in the query, by one property', async () => {
    for (const named of [
      { tenantLocator: HOME.locator },
      { tenantLocator: HOME.locator.toUpperCase(), tenantName: null, hostName: '' },
      { tenantName: HOME.name },
      { hostName: HOME.hostName },
    ]) {
      const claims = decodeJwt(tokenIn(await signInAdmin({ ...root, ...named })))
      expect(claims['tenant.uuid']).toBe(HOME.locator)
    }
    const both = { ...root, tenantLocator: HOME.locator, tenantName: HOME.name }
    for (const answer of [
      await signInAdmin(both),
      await signInAdmin({ ...root, tenantLocator: HOME.locator }, `?tenantLocator=${MOTOR.locator}`),
    ])
      expect([answer.status, answer.body.code]).toEqual([400, 'invalidRequest'])
  })

  it('signs in administrators of the tenant only', async () => {
    tokenIn(await signInAdmin(boss, `?tenantName=${MOTOR.name}`))
    expect((await signInAdmin(alice, `?tenantName=${MOTOR.name}`)).body.code).toBe('signInFailed')
    expect((await signInAdmin(boss, `?tenantName=${HOME.name}`)).body.code).toBe('signInFailed')
  })

  it('requires exactly one tenant', async () => {
    for (const query of ['', `?tenantName=${MOTOR.name}&hostName=${MOTOR.hostName}`])
      expect((await signInAdmin(boss, query)).body).toMatchObject({
        code: 'invalidRequest',
        httpStatus: '400',
      })
    tokenIn(await signInAdmin({ ...boss, hostName: MOTOR.hostName }, ''))
  })
})

describe('an access token', () => {
  let signedIn: string | undefined
  /** Shared by many tests: each sign-in takes a fifth of a second. */
  const aliceToken = async (): Promise<string> => {
    signedIn ??= tokenIn(await signIn({ ...alice, tenantName: MOTOR.name }))
    return signedIn
  }
  const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)

  it('is accepted without a scheme, as Bearer and as JWT', async () => {
    const token = await aliceToken()
    for (const authorization of [token, `Bearer ${token}`, `bearer ${token}`, `JWT ${token}`, `jwt ${token}`])
      expect((await callApi('GET', '/v1/ping/authorized/', { headers: { authorization } })).body).toBe('api')
  })

  it('that is missing or malformed is rejected with 401', async () => {
    for (const authorization of ['', 'Bearer x.y.z', 'nonsense']) {
      const answer = await callApi<Refused>('GET', '/v1/ping/authorized', { headers: { authorization } })
      expect(answer.body).toMatchObject({ code: 'unauthenticated', httpStatus: 401 })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  it('needs no round trip except reading the tenant every 5 s', async () => {
    const token = await aliceToken()
    const clock = later(TENANT_TRUST_MS)
    expect((await ping(token)).headers.get('server-timing')).toContain('d1;desc="1"')
    expect((await ping(token)).headers.get('server-timing')).toContain('d1;desc="0"')
    clock.mockRestore()
  })

  it('is rejected once the tenant is recreated or deleted, or its tokens are revoked', async () => {
    const token = await aliceToken()
    const clock = later(TENANT_TRUST_MS)
    for (const [change, undo] of [
      ['generation = generation + 1', 'generation = generation - 1'],
      ['token_epoch = token_epoch + 1', 'token_epoch = token_epoch - 1'],
      [`status = 'deleted'`, `status = 'active'`],
    ]) {
      const set = (what: string) =>
        env.CONTROL.prepare(`update tenant set ${what} where locator = ?`).bind(MOTOR.locator).run()
      await set(change!)
      clock.mockReturnValue(Date.now() + TENANT_TRUST_MS)
      expect((await ping(token)).status).toBe(401)
      await set(undo!)
      clock.mockReturnValue(Date.now() + TENANT_TRUST_MS)
    }
    clock.mockRestore()
  })

  it('can be renewed until 12 hours after the sign-in', async () => {
    let token = await aliceToken()
    const began = Date.now()
    const clock = vi.spyOn(Date, 'now')
    for (let minutes = 50; minutes < 12 * 60; minutes += 50) {
      clock.mockReturnValue(began + minutes * 60_000)
      token = (await callOk<Authentication>('POST', '/account/renewAuthentication', { token }))
        .authorizationToken
    }
    clock.mockReturnValue(began + 12 * 3_600_000 + 1000)
    expect((await ping(token)).status).toBe(200)
    const tooLate = await callApi<Refused>('POST', '/account/renewAuthentication', { token })
    expect(tooLate.body).toMatchObject({ code: 'unauthenticated', httpStatus: '401' })
    clock.mockRestore()
  })

  it('that has expired is neither accepted nor renewed', async () => {
    const token = await aliceToken()
    const clock = later(3_600_000)
    expect((await ping(token)).status).toBe(401)
    expect((await callApi('POST', '/account/renewAuthentication', { token })).status).toBe(401)
    clock.mockRestore()
  })

  it('of a deleted account is not renewed', async () => {
    await insertAccount(
      motor(),
      'guest',
      'account.tenant.employee',
      await hashPassword(PASSWORD, env.PASSWORD_PEPPER),
    )
    const token = tokenIn(await signIn({ username: 'guest', password: PASSWORD, tenantName: MOTOR.name }))
    await motor().prepare(`delete from account where username = 'guest'`).run()
    expect((await callApi('POST', '/account/renewAuthentication', { token })).status).toBe(401)
  })

  it('of the administration account can be renewed', async () => {
    const token = tokenIn(await signIn(root))
    tokenIn(await callApi<Authentication>('POST', '/account/renewAuthentication', { token }))
  })
})
