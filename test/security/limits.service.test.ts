// Rate limits, set low enough to reach. The counters are simulated as on the platform.
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { z } from '@hono/zod-openapi'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashOfAuthToken, newAuthToken } from '../../src/access/tokens.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { mount } from '../../src/platform/http/mount.ts'
import { addressKey, clientAddress } from '../../src/platform/http/rate-limits.ts'
import { forTenant, publicRoutes } from '../../src/platform/http/route.ts'
import { readQuotas } from '../../src/platform/tenancy/quotas.ts'

import { CALLERS } from '../../src/wiring.ts'
import { prepareDatabases } from '../support/databases.ts'
import { madeToken } from '../support/test-tokens.ts'

const plain = { summary: '', answer: { description: '', schema: z.unknown() } } as const
const ROUTES = [
  publicRoutes('Test').get('/v1/ping', { ...plain, handle: async () => 'api' }),
  publicRoutes('Test').post('/account/authenticate', { ...plain, handle: async () => 'token' }),
  forTenant('Test').get('/read', { ...plain, permission: 'policies.read', handle: async () => 1 }),
  forTenant('Test').post('/write', {
    ...plain,
    permission: 'policies.read',
    handle: async () => 1,
  }),
]

type Low = { THREE_AT_ONCE: RateLimit; FOUR_AT_ONCE: RateLimit }
const { THREE_AT_ONCE: three, FOUR_AT_ONCE: four } = env as unknown as Low
const open: RateLimit = { limit: async () => ({ success: true }) }
const unlimited = {
  ENVIRONMENT: 'production',
  TRUSTED_PROXIES: 'cloudflare',
  ADDRESS_LIMIT: open,
  SIGN_IN_LIMIT: open,
  ACCOUNT_LIMIT: open,
  TENANT_LIMIT: open,
  AGENT_LIMIT: open,
}
const DOOR = {
  path: '/mcp',
  metadata: '/.well-known/oauth-protected-resource',
  load: async () => async () => new Response('agents'),
}
const app = mount(ROUTES, [], CALLERS, [DOOR])

const caller =
  (limits: object) =>
  async (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    app.fetch(
      new Request(`http://bindery.test${path}`, { method, headers }),
      { ...env, ...unlimited, ...limits } as unknown as Env,
      createExecutionContext(),
    )

/** Returns the statuses of this number of calls, one after the other. */
async function statuses(times: number, call: () => Promise<Response>): Promise<number[]> {
  const all: number[] = []
  for (let at = 0; at < times; at += 1) all.push((await call()).status)
  return all
}

const TENANT = newUuid(0)

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  await env.CONTROL.batch([
    env.CONTROL.prepare(
      `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at, former_units) values (?, 'limited', 'limited', 'test', 'active', 1, 1, 1, 0, null)`,
    ).bind(TENANT),
    env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 0, ?)').bind(
      TENANT,
      'TENANT_001',
    ),
  ])
})

const tokenOf = (accountLocator: string) =>
  madeToken({ accountLocator, accountType: 'account.tenant.employee', tenantLocator: TENANT })

describe('requests above a limit are rejected with 429 and Retry-After', () => {
  it('per token of an agent, in addition to the limit of the account', async () => {
    const authorization = await tokenOf(newUuid(0))
    const call = caller({ AGENT_LIMIT: three })
    expect(await statuses(5, () => call('POST', '/mcp', { authorization }))).toEqual([
      200, 200, 200, 429, 429,
    ])
    expect(await statuses(1, () => call('GET', '/read', { authorization }))).toEqual([200])
    const other = await tokenOf(newUuid(0))
    expect(await statuses(1, () => call('POST', '/mcp', { authorization: other }))).toEqual([200])
    const ofAccount = caller({ ACCOUNT_LIMIT: four })
    const { headers } = await call('POST', '/mcp', { authorization })
    expect(headers.get('retry-after')).toBe('10')
    const third = await tokenOf(newUuid(0))
    expect(await statuses(5, () => ofAccount('POST', '/mcp', { authorization: third }))).toEqual([
      200, 200, 200, 200, 429,
    ])
    const unknown = caller({ ADDRESS_LIMIT: three })
    const from = { 'cf-connecting-ip': '203.0.113.77' }
    expect(await statuses(4, () => unknown('POST', '/mcp', from))).toEqual([401, 401, 401, 429])
  })

  it('per address, without a token', async () => {
    const call = caller({ ADDRESS_LIMIT: three })
    const from = (address: string) => () => call('GET', '/v1/ping', { 'cf-connecting-ip': address })
    expect(await statuses(5, from('203.0.113.1'))).toEqual([200, 200, 200, 429, 429])
    expect(await statuses(1, from('203.0.113.2'))).toEqual([200])
    const refused = await from('203.0.113.1')()
    expect(refused.headers.get('retry-after')).toBe('10')
    expect(await refused.json()).toMatchObject({ httpStatus: 429, code: 'tooManyRequests' })
  })

  it('per address, with invalid tokens, so that tokens cannot be guessed', async () => {
    const call = caller({ ADDRESS_LIMIT: three })
    const guess = () =>
      call('GET', '/read', { 'cf-connecting-ip': '203.0.113.3', authorization: 'Bearer a.b.c' })
    expect(await statuses(5, guess)).toEqual([401, 401, 401, 429, 429])
    // Callers with a valid token are not blocked by others at the same address.
    const authorization = await tokenOf(newUuid(0))
    expect((await call('GET', '/read', { 'cf-connecting-ip': '203.0.113.3', authorization })).status).toBe(
      200,
    )
  })

  it('per address, before a long-lived token that this isolate has not seen is looked up', async () => {
    const call = caller({ ADDRESS_LIMIT: three })
    const read = (token: string, address = '203.0.113.8') =>
      call('GET', '/read', { 'cf-connecting-ip': address, authorization: `Bearer ${token}` })
    const valid = newAuthToken(TENANT)
    await env.TENANT_001.batch([
      env.TENANT_001.prepare(
        `insert into account (locator, username, name, type, source, created_at) values ('program', 'program', 'A program', 'account.tenant.employee', 'interface', 0)`,
      ),
      env.TENANT_001.prepare(
        `insert into auth_token (locator, account_locator, name, hash, permissions, tenants, created_at, expires_at) values ('t', 'program', 't', ?, '["policies.read"]', '["limited"]', 0, ?)`,
      ).bind(hashOfAuthToken(valid), Date.now() + 3_600_000),
    ])
    expect((await read(valid)).status).toBe(200)
    const guesses: [number, string][] = []
    for (let at = 0; at < 6; at += 1) {
      const { status, headers } = await read(newAuthToken(TENANT))
      guesses.push([status, /d1;desc="(\d+)"/.exec(headers.get('server-timing')!)![1]!])
    }
    expect(guesses.map(([status]) => status)).toEqual([401, 401, 401, 429, 429, 429])
    expect(guesses.slice(4).map(([, d1]) => d1)).toEqual(['0', '0'])
    // Other callers at the same address with a known token, and other addresses, are not blocked.
    expect((await read(valid)).status).toBe(200)
    expect((await read(newAuthToken(TENANT), '203.0.113.9')).status).toBe(401)
  })

  it('per address, for signing in', async () => {
    const call = caller({ SIGN_IN_LIMIT: three })
    const from = { 'cf-connecting-ip': '203.0.113.4' }
    expect(await statuses(4, () => call('POST', '/account/authenticate', from))).toEqual([200, 200, 200, 429])
    expect(await statuses(1, () => call('GET', '/v1/ping', from))).toEqual([200])
  })

  it('per address, before the listed origins are read, since callers can send any origin', async () => {
    await env.CONTROL.prepare('insert into allowed_origin (origin, tenant_locator) values (?, ?)')
      .bind('https://listed.example', TENANT)
      .run()
    const call = caller({ ADDRESS_LIMIT: three })
    const ask = (origin: string, method = 'OPTIONS', path = '/read') =>
      call(method, path, { origin, 'cf-connecting-ip': '203.0.113.6' })
    const reads = async (asked: Promise<Response>) =>
      /d1;desc="(\d+)"/.exec((await asked).headers.get('server-timing')!)![1]
    const allowed = async (asked: Promise<Response>) =>
      (await asked).headers.get('access-control-allow-origin')
    expect(await allowed(ask('https://listed.example'))).toBe('https://listed.example')
    const trips: (string | undefined)[] = []
    for (let at = 0; at < 5; at += 1) trips.push(await reads(ask(`https://o${at}.example`)))
    expect(trips).toEqual(['1', '1', '0', '0', '0'])
    expect(await reads(ask('https://another.example', 'GET', '/v1/ping'))).toBe('0')
    // A page of a listed origin can still read the error.
    expect(await allowed(ask('https://listed.example'))).toBe('https://listed.example')
    const refused = ask('https://listed.example', 'GET', '/v1/ping')
    expect([(await refused).status, await allowed(refused)]).toEqual([429, 'https://listed.example'])
  })

  it('per account, and for all accounts of a tenant together', async () => {
    const call = caller({ ACCOUNT_LIMIT: three, TENANT_LIMIT: four })
    const [one, other] = [await tokenOf(newUuid(0)), await tokenOf(newUuid(0))]
    const as = (authorization: string) => () => call('GET', '/read', { authorization })
    expect(await statuses(3, as(one))).toEqual([200, 200, 200])
    expect(await statuses(2, as(other))).toEqual([200, 429])
    const refused = await as(one)()
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining('from the account') })
    const ofTenant = await as(other)()
    expect(await ofTenant.json()).toMatchObject({ message: expect.stringContaining('from the tenant') })
  })
})

it('headers of a client cannot evade the limit when no edge is in front of the service', async () => {
  const call = caller({ TRUSTED_PROXIES: '', ADDRESS_LIMIT: three })
  let at = 0
  const rotating = () => {
    at += 1
    return call('GET', '/v1/ping', {
      'cf-connecting-ip': `203.0.113.${at}`,
      'x-forwarded-for': `198.51.100.${at}`,
    })
  }
  expect(await statuses(5, rotating)).toEqual([200, 200, 200, 429, 429])
})

it('behind trusted proxies, the last address that is not a proxy counts', () => {
  const from = (forwarded: string, trusted = '127.0.0.1, 10.0.0.2') =>
    clientAddress(new Headers({ 'x-forwarded-for': forwarded, 'cf-connecting-ip': '1.1.1.1' }), trusted)
  expect(from('9.9.9.9, 203.0.113.7, 10.0.0.2')).toBe('203.0.113.7')
  expect(from('203.0.113.8')).toBe('203.0.113.8')
  expect(from('')).toBe('127.0.0.1')
  expect(from('203.0.113.8', '10.0.0.2')).toBe('127.0.0.1')
  expect(from('203.0.113.8', 'cloudflare')).toBe('1.1.1.1')
  // Ports differ between connections of a client, and all IPv4 addresses in the form of IPv6 have the same first 64 bits.
  expect(from('9.9.9.9, 203.0.113.7:51234, 10.0.0.2:80')).toBe('203.0.113.7')
  expect(from('::ffff:203.0.113.7, ::FFFF:10.0.0.2')).toBe('203.0.113.7')
  expect(from('[2001:db8::7]:51234')).toBe('2001:db8::7')
  expect(from('[::ffff:203.0.113.7]:443')).toBe('203.0.113.7')
  expect(from('2001:db8::7')).toBe('2001:db8::7')
  // The list of proxies may be written like this, too.
  expect(from('9.9.9.9, 203.0.113.7, 10.0.0.2:80', '127.0.0.1,::ffff:10.0.0.2')).toBe('203.0.113.7')
  expect(from('9.9.9.9, 203.0.113.7, [2001:db8::2]:80', '[::ffff:127.0.0.1], [2001:db8::2]')).toBe(
    '203.0.113.7',
  )
})

it('a local service has no limits', async () => {
  const call = caller({ ENVIRONMENT: 'local', ADDRESS_LIMIT: three })
  const from = { 'cf-connecting-ip': '203.0.113.5' }
  expect(await statuses(5, () => call('GET', '/v1/ping', from))).toEqual([200, 200, 200, 200, 200])
})

it('a counter that fails blocks nobody', async () => {
  const broken: RateLimit = { limit: () => Promise.reject(new Error('away')) }
  const call = caller({ ADDRESS_LIMIT: broken, ACCOUNT_LIMIT: broken, TENANT_LIMIT: broken })
  expect((await call('GET', '/v1/ping')).status).toBe(200)
  expect((await call('GET', '/read', { authorization: await tokenOf(newUuid(0)) })).status).toBe(200)
})

it('an IPv6 address counts as its first 64 bits in any notation', () => {
  const key = addressKey
  expect(key('2001:db8:1:2:aaaa:bbbb:cccc:dddd')).toBe('2001:db8:1:2')
  expect(key('2001:0DB8:0001:2::1')).toBe('2001:db8:1:2')
  expect(key('2001:db8::1')).toBe('2001:db8:0:0')
  expect(key('2001:db8::')).toBe('2001:db8:0:0')
  expect(key('::1')).toBe('0:0:0:0')
  expect(key('203.0.113.9')).toBe('203.0.113.9')
})

describe('quotas', () => {
  it('are parsed from name=value texts, and unknown names or invalid values are rejected', () => {
    expect(readQuotas(['databaseBytes=5', 'configurationBytes=7'])).toEqual({
      databaseBytes: 5,
      configurationBytes: 7,
    })
    expect(readQuotas(['none'])).toEqual({})
    expect(() => readQuotas(['none', 'databaseBytes=5'])).toThrow('none')
    for (const text of ['policies=5', 'databaseBytes', 'databaseBytes=-1', 'constructor=1'])
      expect(() => readQuotas([text])).toThrow(text)
  })
})
