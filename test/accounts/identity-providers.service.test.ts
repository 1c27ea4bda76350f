// Identity providers of a tenant: who can set them, which values are accepted, and which are shown.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { MOST_PROVIDERS } from '../../src/access/identity-providers/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'
import { addRoot, PASSWORD, type People, peopleOf, type Refused } from './people.ts'

const ISSUER = 'https://login.acme.example'
const SECRET = 'Rosinenbrot-mit-Schlangen'

let people: People
let boss: string

const provider = (changes: object = {}) => ({
  issuer: ISSUER,
  clientId: 'bindery',
  mappings: [{ claim: 'groups', value: 'staff', roles: ['employee'] }],
  ...changes,
})
const put = (name: string, body: object, token = boss, headers: Record<string, string> = {}) =>
  callApi<Record<string, unknown> & Refused>('PUT', `/auth/providers/${name}`, { token, body, headers })
const list = (token = boss) => callOk<{ name: string }[]>('GET', '/auth/providers', { token })

/** Returns a token of a service account with only these permissions. */
async function tokenWith(permissions: string[]): Promise<string> {
  const { id } = await callOk<{ id: string }>('POST', '/account/v1/account', {
    token: boss,
    body: { username: crypto.randomUUID(), name: 'A program', email: 'a@example.com', type: 'service' },
  })
  return await callOk<string>('POST', `/auth/users/${id}/tokens`, {
    token: boss,
    body: { name: 'own', expiresAt: Date.now() + 3_600_000, permissions },
  })
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  people = await peopleOf(1)
  await addRoot()
  boss = await people.token('boss')
})

describe('an identity provider', () => {
  it('is set, read, changed and deleted with an audit entry each time, and never shows its secret', async () => {
    expect(await list()).toEqual([])
    const made = await put('acme', provider({ clientSecret: SECRET, label: 'Acme' }))
    const shown = {
      name: 'acme',
      label: 'Acme',
      issuer: ISSUER,
      clientId: 'bindery',
      hasClientSecret: true,
      audience: 'bindery',
      scopes: ['openid', 'profile', 'email'],
      mappings: [{ claim: 'groups', value: 'staff', roles: ['account.tenant.employee'] }],
      replacesPasswords: false,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    }
    expect([made.status, made.body]).toEqual([200, shown])
    expect(roundTrips(made)).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
    const read = await callApi('GET', '/auth/providers/acme', { token: boss })
    expect([read.body, roundTrips(read)]).toEqual([made.body, { d1: 1, object: 0, r2: 0, queue: 0 }])
    expect(await list()).toEqual([made.body])
    const row = await env.TENANT_001.prepare('select sealed_secret from identity_provider').first<string>(
      'sealed_secret',
    )
    expect(row).toMatch(/^v1\./)
    const changed = await put('acme', provider({ audience: 'api://bindery', scopes: ['groups'] }))
    expect(changed.body).toMatchObject({
      hasClientSecret: true,
      audience: 'api://bindery',
      label: 'acme',
      scopes: ['openid', 'groups'],
      createdAt: made.body.createdAt,
    })
    expect((await put('acme', provider({ clientSecret: null }))).body.hasClientSecret).toBe(false)
    const { entries } = await callOk<{ entries: { username: string; subject: string; details: object }[] }>(
      'GET',
      '/audit/list?action=providers.write',
      { token: boss },
    )
    expect(entries).toHaveLength(3)
    expect(entries[0]).toMatchObject({ username: 'boss', subject: 'acme', details: { issuer: ISSUER } })
    expect(JSON.stringify(entries)).not.toContain(SECRET)
    const gone = await callApi('DELETE', '/auth/providers/acme', { token: boss })
    expect([gone.status, roundTrips(gone)]).toEqual([200, { d1: 2, object: 0, r2: 0, queue: 0 }])
    expect((await callApi('DELETE', '/auth/providers/acme', { token: boss })).status).toBe(404)
    expect((await callApi('GET', '/auth/providers/acme', { token: boss })).status).toBe(404)
    expect(await list()).toEqual([])
  })

  it('is not changed or deleted with an outdated ETag in If-Match (412)', async () => {
    const path = '/auth/providers/tagged'
    const tag = async () => (await callApi('GET', path, { token: boss })).headers.get('etag')!
    const asRead = (etag: string) => ({ 'if-match': etag })
    const issuer = 'https://login.tagged.example'
    expect((await put('tagged', provider({ issuer }), boss, asRead('*'))).status).toBe(404)
    expect((await put('tagged', provider({ issuer }))).status).toBe(200)
    const first = await tag()
    const changed = await put('tagged', provider({ issuer, label: 'Tagged' }), boss, asRead(first))
    const second = await tag()
    expect([changed.status, changed.headers.get('etag'), second === first]).toEqual([200, second, false])
    for (const late of [
      await put('tagged', provider({ issuer, label: 'Late' }), boss, asRead(first)),
      await callApi<Refused>('DELETE', path, { token: boss, headers: asRead(first) }),
    ])
      expect([late.status, late.body]).toEqual([
        412,
        expect.objectContaining({ code: 'preconditionFailed', currentETag: second }),
      ])
    expect((await callApi('GET', path, { token: boss })).body).toMatchObject({ label: 'Tagged' })
    expect((await callApi('DELETE', path, { token: boss, headers: asRead(second) })).status).toBe(200)
  })

  it('returns the original response when the request is repeated with the same key', async () => {
    const headers = { 'idempotency-key': 'set-once' }
    const first = await put('acme', provider(), boss, headers)
    const again = await put('acme', provider(), boss, headers)
    expect([again.status, again.body]).toEqual([200, first.body])
  })

  it.each([
    [
      'an address without encryption',
      { issuer: 'http://login.acme.example' },
      /'issuer' must be an https address/,
    ],
    [
      'a private address',
      { issuer: 'https://10.1.2.3' },
      /'issuer' must be an address on the public internet/,
    ],
    [
      'an internal name',
      { issuer: 'https://login.internal' },
      /'issuer' must be an address on the public internet/,
    ],
    ['a query', { issuer: `${ISSUER}?tenant=1` }, /'issuer' must not have a query/],
    ['a user name', { issuer: 'https://me:secret@login.acme.example' }, /'issuer'/],
    ['no client', { clientId: '' }, /'clientId'/],
    ['no mapping', { mappings: [] }, /'mappings'/],
    [
      'an unknown role',
      { mappings: [{ claim: 'a', value: 'b', roles: ['wizard'] }] },
      /'wizard', which is neither an account type/,
    ],
    [
      "an operator's type",
      { mappings: [{ claim: 'a', value: 'b', roles: ['account.internal'] }] },
      /neither an account type/,
    ],
    ['a scope with a blank', { scopes: ['a b'] }, /'scopes\[0\]'|scopes/],
  ])('is rejected with 400 if it has %s', async (_, changes, message) => {
    const { status, body } = await put('wrong', provider(changes))
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)])
  })

  it('requires a plain name, its own issuer, and no more than the maximum number of providers', async () => {
    for (const name of ['Acme', '-acme', 'acme.com', 'a'.repeat(64)])
      expect((await put(name, provider({ issuer: 'https://x.example' }))).status).toBe(400)
    const same = await put('acme-again', provider())
    expect([same.status, same.body.code]).toEqual([409, 'alreadyExists'])
    for (let at = 1; at < MOST_PROVIDERS; at += 1)
      expect((await put(`p${at}`, provider({ issuer: `https://p${at}.example` }))).status).toBe(200)
    expect((await put('one-more', provider({ issuer: 'https://more.example' }))).status).toBe(413)
    for (let at = 1; at < MOST_PROVIDERS; at += 1)
      await callOk('DELETE', `/auth/providers/p${at}`, { token: boss })
  })

  it('requires the client secret again when the issuer changes', async () => {
    await put('acme', provider({ clientSecret: SECRET }))
    const moved = await put('acme', provider({ issuer: 'https://login.evil.example' }))
    expect([moved.status, moved.body.message]).toEqual([
      400,
      expect.stringMatching(/Send the 'clientSecret'/),
    ])
    expect(
      (await put('acme', provider({ issuer: 'https://other.example', clientSecret: null }))).status,
    ).toBe(200)
    await put('acme', provider())
  })
})

describe('a mapping', () => {
  it('gives no role that permits more than its author', async () => {
    const clerk = await tokenWith(['users.write', 'users.read', 'policies.read'])
    const beyond = await put('clerks', provider({ issuer: 'https://clerks.example' }), clerk)
    expect([beyond.status, beyond.body.code, beyond.body.message]).toEqual([
      422,
      'beyondOwner',
      expect.stringMatching(
        /account\.tenant\.employee, which has permissions that you lack: .*policies\.write/,
      ),
    ])
    const admins = [{ claim: 'groups', value: 'all', roles: ['admin'] }]
    expect((await put('heads', provider({ issuer: 'https://h.example', mappings: admins }))).status).toBe(200)
  })

  it('cannot be changed or deleted by an account that could not have written it', async () => {
    const reader = [
      'policies.read',
      'policies.list',
      'users.write',
      'users.custom',
      ...['accounts', 'policyholders', 'quotes', 'quick-quotes', 'endorsements', 'renewals'].map(
        one => `${one}.*`,
      ),
      ...['cancellations', 'reinstatements', 'lapses', 'invoices', 'payments', 'transactions'].map(
        one => `${one}.*`,
      ),
      ...['calculations', 'auxdata', 'notes', 'media', 'reports', 'claims', 'events', 'products'].map(
        one => `${one}.*`,
      ),
      ...['constraints', 'documents', 'fonts', 'resources', 'resource-groups', 'tables', 'templates'].map(
        one => `${one}.read`,
      ),
      'resources.list',
      'resource-groups.list',
      'deployments.read',
    ]
    const clerk = await tokenWith(reader)
    const readers = [{ claim: 'groups', value: 'all', roles: ['readOnly'] }]
    const own = await put('readers', provider({ issuer: 'https://r.example', mappings: readers }), clerk)
    expect([own.status, own.body.message]).toEqual([200, undefined])
    // The same change to a provider whose mapping gives more.
    const theirs = await put('heads', provider({ issuer: 'https://h.example', mappings: readers }), clerk)
    expect([theirs.status, theirs.body.code]).toEqual([422, 'beyondOwner'])
    const gone = await callApi<Refused>('DELETE', '/auth/providers/heads', { token: clerk })
    expect([gone.status, gone.body.code]).toEqual([422, 'beyondOwner'])
  })

  it('requires users.write to be set and users.read to be read', async () => {
    const alice = await people.token('alice')
    expect((await put('acme', provider(), alice)).status).toBe(403)
    expect((await callApi('GET', '/auth/providers', { token: alice })).status).toBe(403)
    const readsUsers = await tokenWith(['users.read'])
    expect((await list(readsUsers)).length).toBeGreaterThan(0)
    expect((await put('acme', provider(), readsUsers)).status).toBe(403)
  })
})

describe('sign-in options', () => {
  const options = (query: string) =>
    callApi<{ providers: object[]; passwords: boolean }>('GET', `/account/signInOptions?${query}`)

  it('are public, and do not reveal whether a tenant exists', async () => {
    const own = await options(`tenantName=${people.tenant.name}`)
    expect(own.body.passwords).toBe(true)
    expect(own.body.providers).toContainEqual({ name: 'acme', label: 'acme' })
    expect(roundTrips(own)).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
    const unknown = await options('tenantName=nobody')
    expect([unknown.status, unknown.body]).toEqual([200, { providers: [], passwords: true }])
    expect(roundTrips(unknown)).toEqual(roundTrips(own))
    for (const { headers } of [own, unknown]) expect(headers.get('server-timing')).not.toContain('rows')
    expect((await options('')).status).toBe(400)
  })

  it('start a sign-in only with a provider of the tenant, and return 404 for any other', async () => {
    const begin = (body: object) =>
      callApi<Refused>('POST', '/account/authenticateByProvider/begin', { body })
    const { name: tenantName } = people.tenant
    const [noProvider, noTenant] = [
      await begin({ tenantName, provider: 'nobody' }),
      await begin({ tenantName: 'nobody', provider: 'nobody' }),
    ]
    expect([noProvider.status, noTenant.status]).toEqual([404, 404])
    expect(noTenant.body.message).toBe(noProvider.body.message)
    expect(roundTrips(noTenant)).toEqual(roundTrips(noProvider))
    expect((await begin({ provider: 'acme' })).status).toBe(400)
    const back = await callApi('GET', '/account/authenticateByProvider/callback/a/b?state=x&code=y')
    expect([back.status, back.headers.get('location')]).toEqual([302, '/console#/signed-in?failed=expired'])
  })

  it('keep passwords for administration accounts even if the tenant has a provider', async () => {
    const { status } = await callApi('POST', '/account/authenticateAdmin', {
      body: { username: 'root', password: PASSWORD, tenantName: people.tenant.name },
    })
    expect(status).toBe(200)
  })
})
