import { env } from 'cloudflare:workers'
import { z } from '@hono/zod-openapi'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { issueToken } from '../../../src/access/access-tokens.ts'
import { Refusal } from '../../../src/kernel/errors.ts'
import type { newUuid } from '../../../src/kernel/locators.ts'
import { now } from '../../../src/kernel/time.ts'
import { staticFirst } from '../../../src/platform/http/mount.ts'
import { forAdministration, jsonText, publicRoutes, type Route } from '../../../src/platform/http/route.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { mounted } from './mounted.ts'

beforeAll(() => prepareDatabases({ tenants: 0 }))

const plain = { summary: '', answer: { description: '', schema: z.unknown() } } as const
const named = (path: string, method: Route['method'] = 'get') =>
  publicRoutes('Test')[method](path, { ...plain, handle: async ({ params }) => ({ path, params }) })

const call = mounted([
  named('/groups/{locator}'),
  named('/groups/{locator}', 'patch'),
  named('/groups/list'),
  named('/groups/{locator}/retire', 'post'),
  named('/{anything}/list/all'),
  publicRoutes('Test').post('/void', {
    ...plain,
    answer: { description: '' },
    handle: async () => {},
  }),
  publicRoutes('Test').get('/ready', {
    ...plain,
    handle: async () => jsonText({ status: 202, text: '{"n":1.10}' }),
  }),
  publicRoutes('Test').get('/query', {
    ...plain,
    query: z.object({
      name: z.string().optional(),
      tags: z.union([z.string(), z.array(z.string())]).optional(),
    }),
    handle: async ({ query }) => query,
  }),
  ...(['/account/refused', '/configuration/refused', '/refused'] as const).map(path =>
    publicRoutes('Test').get(path, {
      ...plain,
      handle: async () => {
        throw new Refusal('tooManyRequests', 'Later.', {}, 7)
      },
    }),
  ),
  publicRoutes('Test').get('/fault', {
    ...plain,
    handle: async () => {
      const message = 'Failed query: select secret from account\nparams: hidden@example.com'
      throw new Error(message, { cause: new Error('D1_ERROR: no such table') })
    },
  }),
  publicRoutes('Test').get('/overloaded', {
    ...plain,
    handle: async () => {
      throw new Error('D1_ERROR: D1 DB is overloaded. Too many requests queued.')
    },
  }),
  forAdministration('Test').post('/write/{name}', {
    permission: 'deployments.deploy',
    ...plain,
    body: { schema: z.unknown(), required: false },
    handle: async (_, { idempotency }) => idempotency ?? 'none',
  }),
])

describe('A route', () => {
  it('with a literal segment takes precedence over one with a parameter', async () => {
    expect((await call('GET', '/groups/list')).json()).toMatchObject({ path: '/groups/list' })
    expect((await call('GET', '/groups/lists')).json()).toMatchObject({ params: { locator: 'lists' } })
    expect(
      staticFirst([named('/a/{b}/c'), named('/{a}/b'), named('/a/b/{c}'), named('/a/b')]).map(r => r.path),
    ).toEqual(['/a/b', '/a/b/{c}', '/a/{b}/c', '/{a}/b'])
  })

  it('accepts a trailing slash, but no double slashes', async () => {
    expect((await call('GET', '/groups/list/')).json()).toMatchObject({ path: '/groups/list' })
    expect((await call('POST', '/groups/1/retire/')).status).toBe(200)
    for (const path of ['/groups//list', '//groups/list', '/groups/list//'])
      expect((await call('GET', path)).json()).toMatchObject({
        code: 'unknownPath',
        httpStatus: 404,
        message: 'This path does not exist. It has two slashes in a row; send one.',
      })
    for (const path of ['/groups//', '/nowhere//list'])
      expect((await call('GET', path)).json()).toMatchObject({
        code: 'unknownPath',
        message: 'This path does not exist. GET /openapi.json lists all paths.',
      })
  })

  it('decodes its parameters once', async () => {
    expect((await call('GET', '/groups/a%2Fb%2520c')).json()).toMatchObject({
      params: { locator: 'a/b%20c' },
    })
  })

  it('responds with 405 and Allow to any other method', async () => {
    const reply = await call('DELETE', '/groups/list')
    expect(reply.status).toBe(405)
    expect(reply.headers.get('allow')).toBe('GET, PATCH, HEAD, OPTIONS')
    expect(reply.json()).toMatchObject({ code: 'methodNotAllowed', requestMethod: 'DELETE' })
    expect((await call('GET', '/void')).headers.get('allow')).toBe('POST, OPTIONS')
  })

  it('responds to OPTIONS with its methods and to HEAD without a body', async () => {
    const options = await call('OPTIONS', '/groups/1')
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, PATCH, HEAD, OPTIONS'])
    const head = await call('HEAD', '/groups/list')
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/json'])
    expect((await call('OPTIONS', '/nowhere')).status).toBe(404)
  })

  it('without a result responds with 200 and no body, and sends prepared text unchanged', async () => {
    const nothing = await call('POST', '/void')
    expect([nothing.status, nothing.text, nothing.headers.get('content-type')]).toEqual([200, '', null])
    expect(await call('GET', '/ready')).toMatchObject({ status: 202, text: '{"n":1.10}' })
  })

  it('returns an id, its round trips and Cache-Control: no-store with every response', async () => {
    for (const path of ['/groups/list', '/nowhere', '/refused', '/fault']) {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const { headers } = await call('GET', path)
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('server-timing')).toMatch(
        /^total;dur=\d+, d1;desc="0", object;desc="0", r2;desc="0", queue;desc="0", renewed;desc="0", rows;desc="0 read, 0 written"$/,
      )
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })
})

describe('A request', () => {
  it('may repeat a query parameter, which becomes a list', async () => {
    expect((await call('GET', '/query?tags=a&tags=b&name=')).json()).toEqual({ tags: ['a', 'b'], name: '' })
    expect((await call('GET', '/query?name=a&name=b')).json()).toMatchObject({
      code: 'invalidParameter',
      fieldErrors: [{ ontologyUri: 'name' }],
    })
  })

  it.each([
    '/groups/%zz',
    '/groups/%FF',
    '/query?name=%zz',
    '/query?name=%C3%28',
    '/groups/a%00b',
    '/nowhere/%zz',
    `/groups/${'x'.repeat(9_000)}`,
    `/query?${'a=1&'.repeat(300)}`,
  ])('is rejected with 400 when its path or query is malformed: %s', async path => {
    expect((await call('GET', path)).json()).toMatchObject({ httpStatus: 400, code: 'invalidParameter' })
  })

  it('to an unknown path is rejected with 404', async () => {
    for (const path of ['/', '/group', '/groups/1/2/3/4', '/.env'])
      expect((await call('GET', path)).json()).toMatchObject({ code: 'unknownPath', requestUri: path })
  })
})

describe('An error response', () => {
  it('has one shape, with its status as text where clients compare it with text', async () => {
    const reply = await call('GET', '/refused?secret=1')
    expect(reply.json()).toEqual({
      httpStatus: 429,
      httpErrorCode: 429,
      apiErrorCode: 1014,
      code: 'tooManyRequests',
      message: 'Later.',
      requestMethod: 'GET',
      requestUri: '/refused',
      referenceId: reply.headers.get('x-request-id'),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
    expect(reply.headers.get('retry-after')).toBe('7')
    for (const path of ['/account/refused', '/configuration/refused', '/account/nothing'])
      expect((await call('GET', path)).json().httpStatus).toEqual(expect.any(String))
  })

  it('to a fault reveals only its log reference, and the log has no personal data', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const reply = await call('GET', '/fault')
    expect(reply.json()).toMatchObject({ httpStatus: 500, code: 'internal' })
    expect(reply.text).not.toMatch(/select|table|at /)
    const entry = JSON.parse(String(log.mock.lastCall?.[0])) as Record<string, unknown>
    expect(entry).toMatchObject({
      referenceId: reply.headers.get('x-request-id'),
      method: 'GET',
      path: '/fault',
      problem: 'Error: Failed query: select secret from account; because of Error: D1_ERROR: no such table',
    })
    expect(JSON.stringify(entry)).not.toContain('hidden@example.com')
    expect(entry.frames).not.toEqual([])
  })

  it('to an overload of the platform is 503 with Retry-After', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const reply = await call('GET', '/overloaded')
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
  })
})

describe('Idempotency-Key', () => {
  const write = async (key: string, path = '/write/a', body = '{}') => {
    const caller = {
      accountLocator: '7a0c1f0e-5d5b-4a57-9d52-0a4a3c8d2b00' as ReturnType<typeof newUuid>,
      username: 'administrator',
      accountType: 'account.internal',
    }
    const holder = { caller, accountName: 'Administrator', tenant: undefined, signedInAt: now() }
    const { token } = await issueToken(env, holder, now())
    return call('POST', path, { body, headers: { authorization: token, 'idempotency-key': key } })
  }

  it('is scoped to the caller, with a hash of path, query and body', async () => {
    const first = (await write('k1')).json()
    expect(first).toEqual({
      key: '7a0c1f0e-5d5b-4a57-9d52-0a4a3c8d2b00:k1',
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect((await write('k1', '/write/a/')).json()).toEqual(first)
    for (const other of [
      await write('k1', '/write/b'),
      await write('k1', '/write/a?x=1'),
      await write('k1', '/write/a', '[]'),
    ])
      expect(other.json().bodyHash).not.toBe(first.bodyHash)
  })

  it('is rejected when it is empty, has blanks or is longer than 255 characters', async () => {
    for (const key of ['a b', '', 'x'.repeat(256)])
      expect((await write(key)).json()).toMatchObject({ code: 'invalidParameter' })
    expect((await write('x'.repeat(255))).status).toBe(200)
  })
})
