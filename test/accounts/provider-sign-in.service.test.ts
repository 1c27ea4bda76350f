// Signing in with ID tokens of a real OpenID provider, which runs next to the service.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { MOST_ACCOUNTS } from '../../src/access/administration/service.ts'
import { FAILED_AGAIN_MS, KEYS_AGAIN_MS } from '../../src/access/identity-providers/discovery.ts'
import type { UserListResponse } from '../../src/access/roles/contract.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { openProvider, type RemoteProvider } from '../support/oidc.ts'
import type { MadeToken } from '../support/oidc-provider.ts'
import { type Authentication, addRoot, PASSWORD, type People, peopleOf, type Refused } from './people.ts'

const ANN = { name: 'Ann Arbor', preferred_username: 'ann', email: 'ann@example.com', groups: ['staff'] }
const PERSONS = {
  'subject-ann': ANN,
  'subject-bea': { name: 'Bea', preferred_username: 'bea', groups: ['staff', 'heads'] },
  'subject-boss': {
    name: 'Another Boss',
    preferred_username: 'boss',
    email: 'boss@example.com',
    groups: ['heads'],
  },
  'subject-cid': { name: 'Cid', preferred_username: 'cid', groups: ['visitors'] },
}
const MAPPINGS = [
  { claim: 'groups', value: 'staff', roles: ['employee'] },
  { claim: 'groups', value: 'heads', roles: ['account.tenant.admin'] },
]

let people: People
let others: People
let boss: string
let acme: RemoteProvider
let rival: RemoteProvider

const setUp = (provider: RemoteProvider, changes: object = {}) => ({
  issuer: provider.issuer,
  clientId: 'bindery',
  label: 'Acme',
  mappings: MAPPINGS,
  ...changes,
})
const put = (name: string, body: object, token = boss) =>
  callApi<Record<string, unknown> & Refused>('PUT', `/auth/providers/${name}`, { token, body })
const exchange = (idToken: string, more: object = {}) =>
  callApi<Authentication & Refused>('POST', '/account/authenticateByProvider', {
    body: { tenantName: people.tenant.name, idToken, ...more },
  })
const callback = ({ tenant }: People, provider: string) =>
  `/account/authenticateByProvider/callback/${tenant.name}/${provider}`
const ping = async (token: string) => (await callApi('GET', '/v1/ping/authorized', { token })).status
const whoAmI = (token: string) =>
  callOk<{ accountLocator: string; username: string; accountType: string }>('GET', '/auth/whoami', { token })
const entries = async (action: string) =>
  (
    await callOk<{ entries: { subject: string; details: Record<string, unknown>; username: string }[] }>(
      'GET',
      `/audit/list?action=${action}`,
      { token: boss },
    )
  ).entries
const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)
const seconds = () => Math.floor(Date.now() / 1000)

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  ;[people, others, acme, rival] = await Promise.all([
    peopleOf(1),
    peopleOf(2),
    openProvider(PERSONS),
    openProvider(PERSONS),
  ])
  await addRoot()
  boss = await people.token('boss')
  expect((await put('acme', setUp(acme))).status).toBe(200)
  const theirs = await others.token('boss')
  expect((await put('rival', setUp(rival), theirs)).status).toBe(200)
})
afterEach(() => vi.restoreAllMocks())

describe('an ID token', () => {
  it('creates an account at the first sign-in, and finds it by issuer and subject from then on', async () => {
    const first = await exchange(await acme.idToken('subject-ann'))
    expect([first.status, first.body.message]).toEqual([200, undefined])
    const ann = await whoAmI(first.body.authorizationToken)
    expect(ann).toMatchObject({ username: 'ann', accountType: 'account.tenant.employee' })
    expect(await callOk('GET', `/account/v1/accounts/${ann.accountLocator}`, { token: boss })).toMatchObject({
      name: 'Ann Arbor',
      email: 'ann@example.com',
      service: false,
      disabled: false,
    })
    const listed = async (username: string) =>
      (await callOk<UserListResponse>('GET', `/auth/users?username=${username}`, { token: boss })).items[0]
    expect(await listed('ann')).toMatchObject({ id: ann.accountLocator, identityProvider: 'acme' })
    expect(await listed('boss')).not.toHaveProperty('identityProvider')
    expect((await entries('login.success')).at(-1)).toEqual(
      expect.objectContaining({
        subject: ann.accountLocator,
        username: 'ann',
        details: { accountType: 'account.tenant.employee', provider: 'acme', made: true },
      }),
    )
    await acme.setPersons({ ...PERSONS, 'subject-ann': { ...ANN, preferred_username: 'ann.married' } })
    const second = await exchange(await acme.idToken('subject-ann'))
    expect(await whoAmI(second.body.authorizationToken)).toEqual(ann)
    await acme.setPersons(PERSONS)
  })

  it('needs four round trips: the tenant, its providers, the current state, and the batch', async () => {
    const { status, headers } = await exchange(await acme.idToken('subject-ann'))
    expect([status, roundTrips({ headers })]).toEqual([200, { d1: 4, object: 0, r2: 0, queue: 0 }])
  })

  it('signs in once: every later or simultaneous use of the same token returns 401', async () => {
    const idToken = await acme.idToken('subject-ann')
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(idToken)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    const again = await exchange(idToken)
    expect([again.status, again.body.message]).toEqual([
      401,
      expect.stringMatching(/it has already been used/),
    ])
    // Nor with another spelling of the same signature, whose last character has spare bits.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const spelled = await exchange(idToken.slice(0, -1) + digits[digits.indexOf(idToken.at(-1)!) ^ 1])
    expect([spelled.status, spelled.body.message]).toEqual([401, again.body.message])
    // Nor after other sign-ins: a used token is remembered until it expires.
    expect((await exchange(await acme.idToken('subject-ann'))).status).toBe(200)
    expect((await exchange(idToken)).body.message).toBe(again.body.message)
  })

  it('never takes over an account with the same user name or e-mail address', async () => {
    const { body } = await exchange(await acme.idToken('subject-boss'))
    const made = await whoAmI(body.authorizationToken)
    expect(made.accountLocator).not.toBe(people.locators.boss)
    expect(made.username).toMatch(/^boss#[0-9a-f]{16}$/)
    expect((await people.tryToEnter('boss')).status).toBe(200)
    expect((await people.tryToEnter(made.username)).status).toBe(401)
    // A name that looks the same.
    const look = await exchange(
      await acme.make({ claims: { sub: 'looks', preferred_username: 'bo\u200bss\u202e', groups: 'staff' } }),
    )
    expect((await whoAmI(look.body.authorizationToken)).username).toMatch(/^boss#[0-9a-f]{16}$/)
    // The same person signs in again.
    const next = await exchange(await acme.idToken('subject-boss'))
    expect(await whoAmI(next.body.authorizationToken)).toEqual(made)
  })

  it.each([
    ['of another audience', { claims: { aud: 'another' } }, /'aud'/],
    ['of several audiences without azp', { claims: { aud: ['bindery', 'another'] } }, /no 'azp'/],
    ['of another client', { claims: { azp: 'another' } }, /'azp' names another client/],
    ['of an unknown issuer', { claims: { iss: 'https://login.example.com' } }, /not an identity provider/],
    ['that has expired', { claims: { exp: 1_700_000_000, iat: 1_699_999_000 } }, /has expired/],
    ['that is not valid yet', { claims: { nbf: 4_000_000_000 } }, /'nbf'/],
    ['from the future', { claims: { iat: 4_000_000_000, exp: 4_000_000_600 } }, /'iat'/],
    ['that expired some minutes ago', { claims: { exp: seconds() - 300 } }, /has expired/],
    ['from long ago', { claims: { iat: 1_700_000_000 } }, /expired|'iat'/],
    ['from the day before yesterday', { claims: { iat: seconds() - 2 * 86_400 } }, /expired|'iat'/],
    ['without a time of issue', { claims: { iat: null } }, /'iat'/],
    ['without an end', { claims: { exp: null } }, /'exp'/],
    ['without a subject', { claims: { sub: '' } }, /'sub'/],
    ['whose subject has half of a surrogate pair', { claims: { sub: 'ann\ud800' } }, /'sub'/],
    ['with a nonce that nobody sent', { claims: { nonce: 'of a browser' } }, /'nonce'/],
    ['for access', { header: { typ: 'at+jwt' } }, /it is not an ID token/],
    ['for signing out', { claims: { events: {} } }, /it is not an ID token/],
    ['of a key that the provider does not have', { foreignKey: true }, /signature/],
  ] as const)('%s is rejected with 401', async (_, token, message) => {
    const { status, body } = await exchange(await acme.make(token as never))
    expect([status, body.code, body.message]).toEqual([
      401,
      'unauthenticated',
      expect.stringMatching(message),
    ])
  })

  it('must carry exactly the nonce that the client sent', async () => {
    const withNonce = await acme.idToken('subject-ann', 'mine')
    expect((await exchange(withNonce, { nonce: 'other' })).status).toBe(401)
    expect((await exchange(withNonce)).status).toBe(401)
    expect((await exchange(await acme.idToken('subject-ann'), { nonce: 'mine' })).status).toBe(401)
    expect((await exchange(withNonce, { nonce: 'mine' })).status).toBe(200)
  })

  it('is rejected without a signature, with a symmetric one, or when malformed', async () => {
    const [, payload] = (await acme.make()).split('.')
    const header = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const token of [
      `${header({ alg: 'none' })}.${payload}.`,
      `${header({ alg: 'HS256' })}.${payload}.c2ln`,
      `${header({ alg: 'RS256', kid: 'x', crit: ['b64'], b64: false })}.${payload}.c2ln`,
    ])
      expect((await exchange(token)).status).toBe(401)
    for (const token of ['', 'a.b.c', 'x', `${header({ alg: 'RS256' })}.e30.c2ln`])
      expect([400, 401]).toContain((await exchange(token)).status)
    expect((await exchange('x'.repeat(20_000))).status).toBe(400)
  })

  it('of the provider of another tenant is rejected, with the same response as for an unknown tenant', async () => {
    const idToken = await rival.idToken('subject-ann')
    const here = await exchange(idToken)
    expect([here.status, here.body.message]).toEqual([401, expect.stringMatching(/not an identity provider/)])
    const there = await exchange(idToken, { tenantName: others.tenant.name })
    expect(there.status).toBe(200)
    const nowhere = await exchange(idToken, { tenantName: 'nobody-has-this' })
    expect([nowhere.status, nowhere.body.message]).toEqual([401, here.body.message])
    expect(roundTrips(nowhere)).toEqual(roundTrips(here))
    const [noToken, noTokenNowhere] = await Promise.all([
      exchange('no.token'),
      exchange('no.token', { tenantName: 'nobody-has-this' }),
    ])
    expect([noTokenNowhere.status, noTokenNowhere.body.message]).toEqual([401, noToken.body.message])
    expect((await callApi('POST', '/account/authenticateByProvider', { body: { idToken } })).status).toBe(400)
  })

  it('of a provider that two tenants share creates a separate account in each', async () => {
    const theirs = await others.token('boss')
    await put('shared', setUp(acme), theirs)
    const [here, there] = await Promise.all(
      [people, others].map(async ({ tenant }) => {
        const { body } = await exchange(await acme.idToken('subject-ann'), { tenantName: tenant.name })
        return await whoAmI(body.authorizationToken)
      }),
    )
    expect(here!.accountLocator).not.toBe(there!.accountLocator)
    const foreign = await callApi('GET', `/account/v1/accounts/${there!.accountLocator}`, { token: boss })
    expect(foreign.status).toBe(404)
    await callOk('DELETE', '/auth/providers/shared', { token: theirs })
  })
})

describe("roles of a provider's mapping", () => {
  it('follow the mapping at each sign-in, and tokens with former roles end', async () => {
    const first = (await exchange(await acme.idToken('subject-bea'))).body.authorizationToken
    expect((await whoAmI(first)).accountType).toBe('account.tenant.admin')
    await acme.setPersons({ ...PERSONS, 'subject-bea': { ...PERSONS['subject-bea'], groups: ['staff'] } })
    const second = (await exchange(await acme.idToken('subject-bea'))).body.authorizationToken
    expect((await whoAmI(second)).accountType).toBe('account.tenant.employee')
    expect(await ping(first)).toBe(401)
    expect(await ping(second)).toBe(200)
    await acme.setPersons(PERSONS)
  })

  it('are found by a path into nested claims and by a claim name that contains dots', async () => {
    const mappings = [
      { claim: 'realm_access.roles', value: 'reader', roles: ['readOnly'] },
      { claim: 'https://acme.example/roles', value: 'writer', roles: ['employee', 'readOnly'] },
    ]
    await put('acme', setUp(acme, { mappings }))
    const read = await exchange(
      await acme.make({ claims: { sub: 'p1', realm_access: { roles: ['reader'] } } }),
    )
    expect((await whoAmI(read.body.authorizationToken)).accountType).toBe('account.tenant.read.only.user')
    const write = await exchange(
      await acme.make({ claims: { sub: 'p2', 'https://acme.example/roles': 'writer' } }),
    )
    expect((await whoAmI(write.body.authorizationToken)).accountType).toBe('account.tenant.employee')
    for (const realm_access of ['reader', { roles: ['readers', 'a reader'] }]) {
      const neither = await exchange(await acme.make({ claims: { sub: 'p3', realm_access } }))
      expect(neither.status).toBe(403)
    }
    await put('acme', setUp(acme))
  })

  it('can be roles of the tenant, with or without an account type', async () => {
    const clerk = { name: 'clerks', permissions: ['policies.read', 'quotes.read'] }
    await callOk('POST', '/auth/roles', { token: boss, body: clerk })
    const mappings = [
      { claim: 'groups', value: 'desk', roles: ['clerks'] },
      { claim: 'groups', value: 'claims', roles: ['claims-only'] },
    ]
    expect((await put('acme', setUp(acme, { mappings }))).body.mappings).toEqual([
      mappings[0],
      { claim: 'groups', value: 'claims', roles: ['account.tenant.claims.only.user'] },
    ])
    const enter = async (...groups: string[]) =>
      (await exchange(await acme.make({ claims: { sub: 'clerk', groups } }))).body.authorizationToken
    type Who = { accountLocator: string; accountType: string; permissions: string[] }
    const who = (token: string) => callOk<Who>('GET', '/auth/whoami', { token })
    const alone = await enter('desk')
    const first = await who(alone)
    expect([first.accountType, first.permissions]).toEqual([
      'account.tenant.read.only.user',
      ['policies.read', 'quotes.read'],
    ])
    expect(await ping(await enter('desk'))).toBe(200)
    expect(await ping(alone)).toBe(200)
    const both = await enter('desk', 'claims')
    expect(await ping(alone)).toBe(401)
    expect((await who(both)).permissions).toEqual(expect.arrayContaining(['quotes.read', 'claims.write']))
    // Nobody can set them by hand, and the role cannot be deleted while the mapping gives it.
    const roles = await callApi<Refused>('PUT', `/auth/users/${first.accountLocator}/roles`, {
      token: boss,
      body: { roles: [] },
    })
    expect([roles.status, roles.body.message]).toEqual([409, expect.stringMatching(/identity provider/)])
    const used = await callApi<Refused>('DELETE', '/auth/roles/clerks', { token: boss })
    expect([used.status, used.body.message]).toEqual([
      409,
      expect.stringMatching(/: the accounts clerk.* have it, and the identity providers acme give it\./),
    ])
    const adjuster = await enter('claims')
    expect(await ping(both)).toBe(401)
    const claims = await who(adjuster)
    expect([claims.accountType, claims.permissions.includes('quotes.read')]).toEqual([
      'account.tenant.claims.only.user',
      true,
    ])
    await put('acme', setUp(acme))
    expect((await callApi('DELETE', '/auth/roles/clerks', { token: boss })).status).toBe(200)
    const unknown = [{ claim: 'groups', value: 'desk', roles: ['clerks'] }]
    expect((await put('acme', setUp(acme, { mappings: unknown }))).status).toBe(400)
  })

  it('are not given for an e-mail address that the provider reports as unverified', async () => {
    const byAddress = [{ claim: 'email', value: 'chief@example.com', roles: ['admin'] }]
    expect((await put('acme', setUp(acme, { mappings: byAddress }))).status).toBe(200)
    const claim = async (sub: string, more: object) =>
      (await exchange(await acme.make({ claims: { sub, email: 'chief@example.com', ...more } }))).status
    expect(await claim('typed', { email_verified: false })).toBe(403)
    expect(await claim('typed', { email_verified: 'false' })).toBe(403)
    expect(await claim('chief', { email_verified: true })).toBe(200)
    // Many providers do not send email_verified.
    expect(await claim('chief', {})).toBe(200)
    expect((await put('acme', setUp(acme))).status).toBe(200)
  })

  it('are required: a person without any gets 403, and no account is created', async () => {
    const { status, body } = await exchange(await acme.idToken('subject-cid'))
    expect([status, body.code, body.message]).toEqual([
      403,
      'forbidden',
      expect.stringMatching(/none of the roles/),
    ])
    expect((await entries('login.failure')).at(-1)).toMatchObject({
      username: 'cid',
      details: { provider: 'acme', reason: 'noRole' },
    })
    const list = await callOk<{ items: { username: string }[] }>('GET', '/account/v1/accounts/list', {
      token: boss,
    })
    expect(list.items.map(({ username }) => username)).not.toContain('cid')
  })

  it('disable the account and end its tokens when none is left, and enable it when they return', async () => {
    const token = (await exchange(await acme.idToken('subject-ann'))).body.authorizationToken
    const { accountLocator } = await whoAmI(token)
    const account = () =>
      callOk<{ disabled: boolean }>('GET', `/account/v1/accounts/${accountLocator}`, { token: boss })
    await acme.setPersons({ ...PERSONS, 'subject-ann': { ...ANN, groups: [] } })
    for (let time = 0; time < 2; time += 1) {
      expect((await exchange(await acme.idToken('subject-ann'))).status).toBe(403)
      expect((await account()).disabled).toBe(true)
    }
    expect(await ping(token)).toBe(401)
    await acme.setPersons(PERSONS)
    const back = await exchange(await acme.idToken('subject-ann'))
    expect([back.status, (await account()).disabled]).toEqual([200, false])
    expect(await ping(token)).toBe(401)
    expect(await ping(back.body.authorizationToken)).toBe(200)
  })

  it('do not enable an account that an administrator disabled', async () => {
    const token = (await exchange(await acme.idToken('subject-bea'))).body.authorizationToken
    const { accountLocator } = await whoAmI(token)
    await callOk('PATCH', `/account/v1/accounts/${accountLocator}/disable`, { token: boss })
    const refused = await exchange(await acme.idToken('subject-bea'))
    expect([refused.status, refused.body.code]).toEqual([401, 'signInFailed'])
    // Nor after roles that were removed and restored.
    await acme.setPersons({ ...PERSONS, 'subject-bea': { groups: [] } as never })
    expect((await exchange(await acme.idToken('subject-bea'))).status).toBe(403)
    await acme.setPersons(PERSONS)
    expect((await exchange(await acme.idToken('subject-bea'))).status).toBe(401)
    await callOk('PATCH', `/account/v1/accounts/${accountLocator}/enable`, { token: boss })
    expect((await exchange(await acme.idToken('subject-bea'))).status).toBe(200)
  })

  it('do not enable an account that an administrator disabled after the provider had', async () => {
    const token = (await exchange(await acme.idToken('subject-bea'))).body.authorizationToken
    const { accountLocator } = await whoAmI(token)
    const change = (what: string) =>
      callOk('PATCH', `/account/v1/accounts/${accountLocator}/${what}`, { token: boss })
    await acme.setPersons({ ...PERSONS, 'subject-bea': { groups: [] } as never })
    expect((await exchange(await acme.idToken('subject-bea'))).status).toBe(403)
    await change('disable')
    await acme.setPersons(PERSONS)
    expect((await exchange(await acme.idToken('subject-bea'))).status).toBe(401)
    await change('enable')
    expect((await exchange(await acme.idToken('subject-bea'))).status).toBe(200)
  })

  it('create no account beyond 10,000 in the tenant (413), but existing accounts can still sign in', async () => {
    const database = env.TENANT_001
    const { results } = await database
      .prepare('select count(*) as count from account where deleted_at is null')
      .all()
    await database
      .prepare(
        `insert into account (locator, username, name, type, created_at, source)
         select 'filler' || value, 'filler' || value, 'Filler', 'account.tenant.employee', 0, 'interface' from json_each(?)`,
      )
      .bind(JSON.stringify(Array.from({ length: MOST_ACCOUNTS - Number(results[0]!.count) }, (_, at) => at)))
      .run()
    const one = { username: 'one-more', name: 'One More', email: 'one@example.com', type: 'employee' }
    const added = await callApi('POST', '/account/v1/account', {
      token: boss,
      body: { ...one, password: PASSWORD },
    })
    expect(added.status).toBe(413)
    const stranger = await acme.make({ claims: { sub: 'one-more', groups: ['staff'] } })
    expect((await exchange(stranger)).status).toBe(413)
    expect((await exchange(await acme.idToken('subject-ann'))).status).toBe(200)
    await database.prepare(`delete from account where username like 'filler%'`).run()
    expect((await exchange(stranger)).status).toBe(200)
  })

  it('create a new account for a person whose account was deleted', async () => {
    const { body } = await exchange(await acme.make({ claims: { sub: 'gone', groups: 'staff' } }))
    const before = await whoAmI(body.authorizationToken)
    await callOk('DELETE', `/account/v1/accounts/${before.accountLocator}`, { token: boss })
    expect(await ping(body.authorizationToken)).toBe(401)
    const next = await exchange(await acme.make({ claims: { sub: 'gone', groups: 'staff' } }))
    const after = await whoAmI(next.body.authorizationToken)
    expect(after.username).toBe(before.username)
    expect(after.accountLocator).not.toBe(before.accountLocator)
  })
})

describe('the sign-in of a browser', () => {
  it('begins with a URL of the provider and an HttpOnly cookie', async () => {
    const { status, body, headers } = await callApi<{ location: string }>(
      'POST',
      '/account/authenticateByProvider/begin',
      { body: { tenantName: people.tenant.name, provider: 'acme' } },
    )
    expect([status, roundTrips({ headers })]).toEqual([200, { d1: 2, object: 0, r2: 0, queue: 0 }])
    const { origin, pathname, searchParams } = new URL(body.location)
    expect(origin + pathname).toBe(`${acme.issuer}/auth`)
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: 'bindery',
      redirect_uri: `http://bindery.test${callback(people, 'acme')}`,
      scope: 'openid profile email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(headers.get('set-cookie')).toMatch(
      /^bindery-sign-in=v1\.\w+\.[\w-]+; Path=\/account\/authenticateByProvider; Max-Age=600; HttpOnly; SameSite=Lax$/,
    )
  })

  it('fails if it returns with another state, without a code, or after ten minutes', async () => {
    const begun = await callApi<{ location: string }>('POST', '/account/authenticateByProvider/begin', {
      body: { tenantName: people.tenant.name, provider: 'acme' },
    })
    const cookie = begun.headers.get('set-cookie')!.split(';')[0]!
    const state = new URL(begun.body.location).searchParams.get('state')!
    const comeBack = async (query: Record<string, string>) =>
      (
        await callApi('GET', `${callback(people, 'acme')}?${new URLSearchParams(query)}`, {
          headers: { cookie },
        })
      ).headers.get('location')
    const sent = async () => (await acme.calls())['/token'] ?? 0
    const before = await sent()
    expect(await comeBack({ state: `${state}x`, code: 'c' })).toBe('/console#/signed-in?failed=expired')
    expect(await comeBack({ state, error: 'access_denied', code: 'c' })).toBe(
      '/console#/signed-in?failed=denied',
    )
    expect(await comeBack({ state })).toBe('/console#/signed-in?failed=denied')
    later(11 * 60_000)
    expect(await comeBack({ state, code: 'c' })).toBe('/console#/signed-in?failed=expired')
    expect(await sent()).toBe(before)
  })

  // A dishonest provider could redirect people to another provider with the state of their sign-in here, and wait for the code.
  it('does not send a provider the code of another provider, in any tenant', async () => {
    const begun = await callApi<{ location: string }>('POST', '/account/authenticateByProvider/begin', {
      body: { tenantName: others.tenant.name, provider: 'rival' },
    })
    const cookie = begun.headers.get('set-cookie')!.split(';')[0]!
    const state = new URL(begun.body.location).searchParams.get('state')!
    const sent = async () => (await rival.calls())['/token'] ?? 0
    const comeBack = async (path: string, query: Record<string, string>) => {
      const { status, headers } = await callApi(
        'GET',
        `${path}?${new URLSearchParams({ state, code: 'the code of another', ...query })}`,
        { headers: { cookie } },
      )
      expect([status, headers.get('location')]).toEqual([302, '/console#/signed-in?failed=provider'])
      return await sent()
    }
    const own = callback(others, 'rival')
    const before = await sent()
    expect(await comeBack(callback(people, 'acme'), { iss: rival.issuer })).toBe(before)
    expect(await comeBack(callback(people, 'rival'), { iss: rival.issuer })).toBe(before)
    expect(await comeBack(callback(others, 'acme'), { iss: rival.issuer })).toBe(before)
    expect(await comeBack(own, { iss: acme.issuer })).toBe(before)
    // This provider announces that it sends its issuer with the code (RFC 9207).
    expect(await comeBack(own, {})).toBe(before)
    expect(await comeBack(own, { iss: rival.issuer })).toBe(before + 1)
  })
})

describe('keys of the provider', () => {
  it('are fetched immediately for a new key id, and at most once a minute for unknown ids', async () => {
    expect((await exchange(await acme.idToken('subject-ann'))).status).toBe(200)
    later(KEYS_AGAIN_MS + 1_000)
    await acme.changeKeys()
    const before = (await acme.calls())['/jwks']!
    // The clock of the tests is stopped, but the clock of the provider continues.
    expect(
      (await exchange(await acme.make({ claims: { sub: 'subject-ann', groups: 'staff' } }))).status,
    ).toBe(200)
    expect((await acme.calls())['/jwks']).toBe(before + 1)
    for (let time = 0; time < 3; time += 1) {
      const { status, body } = await exchange(await acme.make({ header: { kid: `unknown-${time}` } }))
      expect([status, body.message]).toEqual([
        401,
        expect.stringMatching(/the provider does not have its key/),
      ])
    }
    expect((await acme.calls())['/jwks']).toBe(before + 1)
  })

  it('are trusted for at most ten minutes after the provider withdraws them', async () => {
    const withdrawn = await acme.make({
      claims: { sub: 'subject-ann', groups: 'staff', exp: seconds() + 86_400 },
    })
    await acme.changeKeys()
    later(11 * 60_000)
    const { status, body } = await exchange(withdrawn)
    expect([status, body.message]).toEqual([401, expect.stringMatching(/the provider does not have its key/)])
  })
})

describe('keys without an id', () => {
  type Key = Record<string, unknown>
  /** Returns the outcome of a sign-in with a token of a provider that publishes these keys. `own` is the provider's own key. */
  const published = async (keysOf: (own: Key, other: Key) => Key[], token: MadeToken = {}) => {
    const provider = await openProvider(PERSONS)
    const keyOf = async ({ issuer }: RemoteProvider): Promise<Key> => {
      const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: [Key] }
      return { ...keys[0], kid: undefined }
    }
    const body = JSON.stringify({ keys: keysOf(await keyOf(provider), await keyOf(acme)) })
    await provider.answer({ '/jwks': { body } })
    expect((await put('idless', setUp(provider))).status).toBe(200)
    const { status, body: answer } = await exchange(
      await provider.make({ claims: { groups: 'staff' }, ...token }),
    )
    return status === 200 ? 'signed in' : answer.message
  }
  const NO_KEY = 'The ID token is rejected: the provider does not have its key.'
  const SEVERAL = "The ID token is rejected: it does not say which of the provider's keys signed it."

  it('verify a token with any key id if only one of them fits', async () => {
    expect(await published(own => [own])).toBe('signed in')
    expect(await published(own => [own], { header: { kid: undefined } })).toBe('signed in')
    expect(await published((own, other) => [{ ...other, use: 'enc' }, own])).toBe('signed in')
    expect(await published((own, other) => [own, { ...other, alg: 'RS512' }])).toBe('signed in')
  })

  it('must match the signature, the algorithm and the use', async () => {
    expect(await published(own => [own], { foreignKey: true })).toMatch(/signature/)
    expect(await published((_, other) => [other])).toMatch(/signature/)
    expect(await published(own => [{ ...own, use: 'enc' }])).toBe(NO_KEY)
    expect(await published(own => [{ ...own, alg: 'RS512' }])).toBe(NO_KEY)
  })

  it('are not tried if several fit, or if another key has an id', async () => {
    expect(await published((own, other) => [own, other])).toBe(SEVERAL)
    expect(await published((own, other) => [own, { ...other, kid: 'other' }])).toBe(NO_KEY)
    expect(await published(own => [{ ...own, kid: 'another' }])).toBe(NO_KEY)
  })
})

describe('an identity provider of a tenant', () => {
  const DISCOVERY = '/.well-known/openid-configuration'
  const trouble = async (answers: Parameters<RemoteProvider['answer']>[0]) => {
    const provider = await openProvider(PERSONS)
    expect((await put('troubled', setUp(provider))).status).toBe(200)
    const idToken = await provider.make({ claims: { groups: 'staff' } })
    await provider.answer(answers)
    return { provider, idToken, answer: await exchange(idToken) }
  }

  it('that is down causes 502, and is not called again for some seconds', async () => {
    const { provider, idToken, answer } = await trouble('down')
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      502,
      'identityProviderFailed',
      expect.stringMatching(/cannot be reached/),
    ])
    const calls = (await provider.calls())[DISCOVERY]
    expect((await exchange(idToken)).status).toBe(502)
    expect((await provider.calls())[DISCOVERY]).toBe(calls)
    await provider.answer({})
    later(FAILED_AGAIN_MS + 1_000)
    expect((await exchange(idToken)).status).toBe(200)
  })

  it.each([
    ['another issuer', { issuer: 'https://login.example.com' }, /names a different issuer/],
    ['a private address', { jwks_uri: 'https://10.0.0.7/keys' }, /must not be called: 'jwks_uri'/],
    [
      'an address without encryption',
      { jwks_uri: 'http://keys.example.com/' },
      /must not be called: 'jwks_uri'/,
    ],
    ['no keys', { jwks_uri: undefined }, /lacks 'jwks_uri'/],
    ['keys that are a number', { jwks_uri: 7 }, /must not be called/],
  ])('whose discovery document has %s causes 502', async (_, changes, message) => {
    const provider = await openProvider(PERSONS)
    const document = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks`, ...changes }
    await put('troubled', setUp(provider))
    await provider.answer({ [DISCOVERY]: { body: JSON.stringify(document) } })
    const { status, body } = await exchange(await provider.make())
    expect([status, body.code, body.message]).toEqual([
      502,
      'identityProviderFailed',
      expect.stringMatching(message),
    ])
    expect((await provider.calls())['/jwks']).toBeUndefined()
  })

  it.each([
    [
      'a huge document',
      { [DISCOVERY]: { body: `{"issuer":"${'x'.repeat(300_000)}"}` } },
      /larger than 262144 bytes/,
    ],
    [
      'a redirect',
      { [DISCOVERY]: { status: 302, headers: { location: 'http://127.0.0.1:1/' } } },
      /responded with 302 .* redirects are not followed/,
    ],
    ['a list', { [DISCOVERY]: { body: '[]' } }, /not a JSON object/],
    ['bytes that are no text', { [DISCOVERY]: { body: '{"a":' } }, /not a JSON object/],
    ['a fault', { [DISCOVERY]: { status: 500 } }, /responded with 500/],
    ['no key set', { '/jwks': { body: '{"keys":{}}' } }, /not a key set/],
    ['keys of no kind', { '/jwks': { body: '{"keys":[{"kty":"none"},{}]}' } }, undefined],
  ])(
    'that sends %s causes the sign-in to fail, but not with an internal error',
    async (_, answers, message) => {
      const { answer } = await trouble(answers)
      if (message) expect([answer.status, answer.body.message]).toEqual([502, expect.stringMatching(message)])
      else expect(answer.status).toBe(401)
    },
  )

  it('that was deleted appears by its issuer in the list of users', async () => {
    const provider = await openProvider(PERSONS)
    await put('passing', setUp(provider))
    const { authorizationToken } = (await exchange(await provider.idToken('subject-bea'))).body
    const { accountLocator } = await whoAmI(authorizationToken)
    await callOk('DELETE', '/auth/providers/passing', { token: boss })
    const { items } = await callOk<UserListResponse>('GET', '/auth/users?username=bea', { token: boss })
    expect(items.find(({ id }) => id === accountLocator)!.identityProvider).toBe(provider.issuer)
  })

  it('that was deleted ends the tokens of its accounts and signs nobody in', async () => {
    const provider = await openProvider(PERSONS)
    await put('short-lived', setUp(provider))
    const token = (await exchange(await provider.idToken('subject-ann'))).body.authorizationToken
    const gone = await callApi('DELETE', '/auth/providers/short-lived', { token: boss })
    expect([gone.status, roundTrips(gone).d1]).toEqual([200, 4])
    expect((await exchange(await provider.idToken('subject-ann'))).status).toBe(401)
    expect(await ping(token)).toBe(401)
  })

  it('disables only its own accounts when it is deleted or its issuer changes, until it admits them again', async () => {
    const provider = await openProvider(PERSONS)
    const mappings = [...MAPPINGS, { claim: 'groups', value: 'visitors', roles: ['readOnly'] }]
    const enter = async (subject: string) =>
      (await exchange(await provider.idToken(subject))).body.authorizationToken
    const accountOf = async (token: string) => (await whoAmI(token)).accountLocator
    const isDisabled = async (locator: string) =>
      (await callOk<{ disabled: boolean }>('GET', `/account/v1/accounts/${locator}`, { token: boss }))
        .disabled
    await put('closing', setUp(provider, { mappings }))
    const [bea, cid] = [await enter('subject-bea'), await enter('subject-cid')]
    const locators = [await accountOf(bea), await accountOf(cid)]
    const longLived = await callOk<string>('POST', '/auth/users/tokens', {
      token: bea,
      body: { name: 'own', expiresAt: Date.now() + 3_600_000, permissions: ['policies.read'] },
    })
    // An administrator disabled this one, and it stays disabled.
    await callOk('PATCH', `/account/v1/accounts/${locators[1]}/disable`, { token: boss })
    const own = await callApi<Refused>('DELETE', '/auth/providers/closing', { token: bea })
    expect([own.status, own.body.message]).toEqual([409, expect.stringMatching(/lock yourself out/)])
    const stranger = (await exchange(await acme.idToken('subject-ann'))).body.authorizationToken
    await callOk('DELETE', '/auth/providers/closing', { token: boss })
    expect([await ping(bea), await ping(longLived), await ping(stranger)]).toEqual([401, 401, 200])
    expect(await Promise.all(locators.map(isDisabled))).toEqual([true, true])

    await put('closing', setUp(provider, { mappings }))
    const back = await enter('subject-bea')
    expect([await accountOf(back), await isDisabled(locators[0]!)]).toEqual([locators[0], false])
    expect([await ping(bea), await ping(back), await ping(longLived)]).toEqual([401, 200, 200])
    expect((await exchange(await provider.idToken('subject-cid'))).status).toBe(401)

    expect((await put('closing', setUp(provider, { mappings, label: 'Closing' }))).status).toBe(200)
    expect(await ping(back)).toBe(200)
    const elsewhere = { mappings, issuer: 'https://login.moved.example' }
    expect((await put('closing', setUp(provider, elsewhere), back)).status).toBe(409)
    expect((await put('closing', setUp(provider, elsewhere))).status).toBe(200)
    expect([await ping(back), await isDisabled(locators[0]!)]).toEqual([401, true])
    await callOk('DELETE', '/auth/providers/closing', { token: boss })
  })
})

describe('passwords in a tenant with a provider', () => {
  it('are replaced only after an administrator has used the provider; operators keep theirs', async () => {
    await exchange(await rival.idToken('subject-ann'), { tenantName: others.tenant.name })
    const theirs = await others.token('boss')
    const early = await put('rival', setUp(rival, { replacesPasswords: true }), theirs)
    expect([early.status, early.body.code]).toEqual([409, 'wrongState'])
    const head = await exchange(await rival.idToken('subject-bea'), { tenantName: others.tenant.name })
    expect(head.status).toBe(200)
    expect((await put('rival', setUp(rival, { replacesPasswords: true }), theirs)).status).toBe(200)
    expect([(await others.tryToEnter('boss')).status, (await others.tryToEnter('alice')).status]).toEqual([
      401, 401,
    ])
    const asAdministrator = (username: string) =>
      callApi<Authentication>('POST', '/account/authenticateAdmin', {
        body: { username, password: PASSWORD, tenantName: others.tenant.name },
      })
    expect((await asAdministrator('boss')).status).toBe(401)
    const operator = await asAdministrator('root')
    expect(operator.status).toBe(200)
    // The earlier session remains valid; the operator restores passwords.
    expect(await ping(theirs)).toBe(200)
    expect((await put('rival', setUp(rival), operator.body.authorizationToken)).status).toBe(200)
    expect((await others.tryToEnter('boss')).status).toBe(200)
  })

  it('cannot be set for an account that signs in by a provider', async () => {
    const { body } = await exchange(await acme.idToken('subject-ann'))
    const { accountLocator } = await whoAmI(body.authorizationToken)
    const { status, body: refused } = await callApi<Refused>(
      'PUT',
      `/account/v1/accounts/${accountLocator}/password`,
      { token: boss, body: { password: 'Rhabarber-7-Kisten' } },
    )
    expect([status, refused.code]).toEqual([409, 'wrongState'])
  })
})

describe('a tenant whose database the providers migration has not reached', () => {
  it('gets 503 for requests about providers, while password sign-in still works', async () => {
    await env.CONTROL.prepare(
      `update pool_database set migration = '0012_notes' where binding = 'TENANT_002'`,
    ).run()
    later(TENANT_TRUST_MS + 1_000)
    const theirs = await others.token('boss')
    const list = await callApi<Refused>('GET', '/auth/providers', { token: theirs })
    expect([list.status, list.body.code]).toEqual([503, 'unavailable'])
    const idToken = await rival.make({ claims: { groups: 'staff', exp: seconds() + 600 } })
    expect((await exchange(idToken, { tenantName: others.tenant.name })).status).toBe(401)
  })
})
