// Long-lived tokens of administration accounts, such as that of a pipeline: what they can deploy, and everything else that they
// cannot do.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { bindingStatements, prepareAdministrator } from '../../scripts/administrator.ts'
import type { AuthTokenResponse } from '../../src/access/contract.ts'
import { tenantOfAuthToken } from '../../src/access/tokens.ts'
import { TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { createTenant } from '../../src/tenants/service.ts'
import { administratorToken, boat, deploy, tenantNamed } from '../product/deploying.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { filledPath, readApi } from '../support/openapi.ts'
import type { Refused } from './people.ts'

const STUDIO = '/configuration/studio/deploy'
const PRODUCTION = '/configuration/deploy'

let root: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 6 })
  root = await administratorToken()
  await createTenant(env, { name: 'live', type: 'production' })
})
afterEach(() => vi.restoreAllMocks())

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
const later = (ms: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)

let made = 0
const wanted = (changes: object = {}) => {
  made += 1
  return {
    name: `pipeline ${made}`,
    expiresAt: inDays(30),
    permissions: ['deployments.*'],
    tenants: ['type:test'],
    ...changes,
  }
}
const make = (changes: object = {}, token = root) =>
  callApi<string & Refused>('POST', '/auth/users/tokens', { token, body: wanted(changes) })
const token = async (changes: object = {}): Promise<string> => {
  const { status, body } = await make(changes)
  expect([status, body]).toEqual([200, expect.stringMatching(/^bdy_[0-9A-Za-z]{58}$/)])
  return body
}
const ping = async (of: string) => (await callApi('GET', '/v1/ping/authorized', { token: of })).status

describe('a long-lived token of an administration account', () => {
  it('deploys to the tenants that it lists, creating them if needed, and reads their versions', async () => {
    const tests = await token()
    const named = await token({ tenants: ['live', 'boats'] })
    expect((await deploy(STUDIO, { tenantName: 'boats' }, boat(), { token: tests })).body.success).toBe(true)
    expect((await deploy(STUDIO, { tenantName: 'boats' }, boat(2), { token: named })).body.success).toBe(true)
    expect((await deploy(PRODUCTION, { tenantName: 'live' }, boat(), { token: named })).body.success).toBe(
      true,
    )
    const versions = (of: string, tenantName: string) =>
      callApi<Refused>('GET', `/deployments/versions?tenantName=${tenantName}`, { token: of })
    expect((await versions(tests, 'boats')).body).toHaveLength(2)
  })

  it('cannot find out which other tenants exist: the 404 is that of an unknown name', async () => {
    await createTenant(env, { name: 'secret', type: 'test' })
    const reason = ({ status, body }: Answer<unknown>) => `${status} ${(body as Refused).message}`
    const read = async (of: string, tenantName: string): Promise<unknown[]> => {
      const query = (path: string) => callApi('GET', `${path}?tenantName=${tenantName}`, { token: of })
      const form = (path: string) => deploy(path, { tenantName }, boat(), { token: of })
      const answers = await Promise.all([
        query('/deployments/versions'),
        query('/deployments/latest'),
        query('/deployments/log/list'),
        form('/configuration/diff'),
        form('/configuration/validate'),
      ])
      return [...new Set(answers.map(reason))]
    }
    const repair = async (of: string, tenantName: string): Promise<string> =>
      reason(await deploy('/configuration/repair', { tenantName, version: '1' }, boat(), { token: of }))
    for (const [scope, others] of [
      ['boats', ['secret', 'live', 'nowhere']],
      ['type:test', ['live', 'nowhere']],
      ['type:production', ['secret', 'nowhere']],
    ] as const) {
      const limited = await token({ tenants: [scope] })
      for (const other of others)
        expect(await read(limited, other)).toEqual([
          `404 There is no tenant '${other}' among those of the token; it is for ${scope}.`,
        ])
    }
    const production = await token({ tenants: ['type:production'] })
    for (const other of ['secret', 'nowhere'])
      expect(await repair(production, other)).toBe(
        `404 There is no tenant '${other}' among those of the token; it is for type:production.`,
      )
    expect(await repair(root, 'secret')).toMatch(/^400 The tenant 'secret' is a test tenant/)
    for (const of of [root, await token({ tenants: ['any'] }), await token({ tenants: ['nowhere'] })])
      expect(await read(of, 'nowhere')).toEqual(["404 There is no tenant 'nowhere'."])
  })

  it('returns 403 for a deployment to any other tenant by any path, and does not create the tenant', async () => {
    const tests = await token()
    const named = await token({ tenants: ['boats'] })
    const other = { tenantName: 'others', version: '1' }
    const live = { tenantName: 'live', version: '1' }
    for (const [path, fields, of] of [
      [STUDIO, other, named],
      ['/configuration/studio/repair', other, named],
      ['/configuration/deployTest', { tenantNameSuffix: 'others' }, named],
      [PRODUCTION, live, tests],
      [PRODUCTION, live, named],
      ['/configuration/repair', live, tests],
      ['/assets/v1/deploy', live, tests],
    ] as const) {
      const answer = await deploy(path, fields, boat(), { token: of })
      expect([path, answer.status, answer.body]).toMatchObject([path, 403, { code: 'forbidden' }])
    }
    expect(await tenantNamed('others')).toBeUndefined()
    expect(await tenantNamed('administrator-others')).toBeUndefined()
  })

  it('returns 403 from every route that does not concern deployments', async () => {
    const widest = await token({ tenants: ['any'] })
    const { operations } = await readApi()
    const mine = operations.filter(
      ({ path, access }) =>
        access === 'public' ||
        path === '/v1/ping/authorized' ||
        path === '/auth/permissions' ||
        path === '/auth/whoami' ||
        /^\/(?:configuration|deployments|assets)\//.test(path),
    )
    for (const { method, path } of operations.filter(one => !mine.includes(one))) {
      const answer = await callApi<Refused>(
        method,
        filledPath(path, () => '00000000-0000-4000-8000-00000000aa00'),
        {
          token: widest,
          ...(method !== 'GET' && {
            body: path === '/account/v1/accounts/password' ? { oldPassword: 'x', password: 'y' } : '{"',
          }),
        },
      )
      expect([method, path, answer.status]).toEqual([method, path, 403])
    }
    const { permissions } = await callOk<{ permissions: string[] }>('GET', '/auth/permissions', {
      token: widest,
    })
    expect(permissions).toEqual(['deployments.read', 'deployments.download', 'deployments.deploy'])
  })

  it('is created only with deployment permissions, named tenants, a free name and an expiry within five years', async () => {
    const taken = wanted()
    expect((await callApi('POST', '/auth/users/tokens', { token: root, body: taken })).status).toBe(200)
    for (const [changes, status, said] of [
      [{ name: taken.name }, 409, /has a token 'pipeline/],
      [{ permissions: ['users.write'] }, 422, /are only for configurations and cannot have users\.write/],
      [{ permissions: ['deployments.fly'] }, 400, /'deployments.fly'/],
      [{ tenants: [] }, 400, /'tenants' must list/],
      [{ tenants: ['type:all'] }, 400, /A tenant's name has/],
      [{ expiresAt: inDays(-1) }, 400, /in the future/],
      [{ expiresAt: inDays(366 * 6) }, 400, /five years/],
    ] as const) {
      const answer = await make(changes)
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(said)])
    }
    const body = wanted()
    const ask = async () => (await callApi('POST', '/auth/users/tokens', { token: root, body })).status
    expect((await Promise.all([ask(), ask(), ask()])).sort()).toEqual([200, 409, 409])
  })

  it('is listed without its value, is audited, and ends by deletion (by name or value) or by expiry', async () => {
    const [first, second, third] = [
      await token({ name: 'first' }),
      await token(),
      await token({ expiresAt: inDays(1) }),
    ]
    expect(tenantOfAuthToken(first)).toBe('00000000-0000-4000-8000-000000000000')
    const list = await callOk<AuthTokenResponse[]>('GET', '/auth/users/tokens', { token: root })
    expect(list.find(one => one.name === 'first')).toEqual({
      name: 'first',
      expiresAt: expect.stringMatching(/Z$/),
      createdAt: expect.stringMatching(/Z$/),
      permissions: ['deployments.*'],
      tenants: ['type:test'],
    })
    expect([await ping(first), await ping(second), await ping(third)]).toEqual([200, 200, 200])
    const end = (which: string) => callApi('DELETE', `/auth/users/tokens/${which}`, { token: root })
    expect([(await end('first')).status, (await end(second)).status]).toEqual([200, 200])
    expect((await end('first')).status).toBe(404)
    expect([await ping(first), await ping(second), await ping(third)]).toEqual([401, 401, 200])
    later(86_400_000)
    expect(await ping(third)).toBe(401)
    vi.restoreAllMocks()
    const { results } = await env.CONTROL.prepare(
      `select action, details from administration_audit where action like 'tokens.%'`,
    ).all<{ action: string; details: string }>()
    const auditEntries = results.filter(({ details }) => details.includes('"first"'))
    expect(auditEntries.map(({ action }) => action)).toEqual(['tokens.write', 'tokens.delete'])
    const kept = await env.CONTROL.prepare('select * from administration_token').all()
    for (const one of [first, second, third])
      expect(JSON.stringify([results, kept.results])).not.toContain(one.slice(26, 56))
  })

  it('ends, with all sessions, when a start sets a different password, but not when it sets the same one', async () => {
    const pipeline = await token()
    const start = (password: string) =>
      prepareAdministrator(
        bindingStatements(env.CONTROL),
        env.PASSWORD_PEPPER,
        { username: 'administrator', password },
        false,
      )
    await start('correct horse battery staple')
    const hash = () =>
      env.CONTROL.prepare(`select password_hash from administrator where username = 'administrator'`).first()
    const former = await hash()
    await start('correct horse battery staple')
    expect(await hash()).toEqual(former)
    later(TENANT_TRUST_MS)
    expect([await ping(pipeline), await ping(root)]).toEqual([200, 200])
    await start('another horse battery staple')
    // This isolate does not know of the new password yet; the session still cannot create a token.
    expect((await make()).body.code).toBe('unauthenticated')
    // The status is 503 while the control database responds late, on a busy machine.
    const pinged = async () => {
      later(2 * TENANT_TRUST_MS)
      return [await ping(pipeline), await ping(root)]
    }
    await expect.poll(pinged).toEqual([401, 401])
  })
})
