// What an operator sees: a log line and a data point for each piece of work, and whether the service can work at all.
import { createExecutionContext, createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { z } from '@hono/zod-openapi'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refusal } from '../../../src/kernel/errors.ts'
import { newUuid } from '../../../src/kernel/locators.ts'
import { serviceRoutes } from '../../../src/platform/http/health.ts'
import { mount } from '../../../src/platform/http/mount.ts'
import { publicRoutes } from '../../../src/platform/http/route.ts'
import { alarmWork, runObserved } from '../../../src/platform/observation.ts'
import { consumeDocumentHints } from '../../../src/servicing/documents/job.ts'
import { consumeAnnouncements } from '../../../src/servicing/events/dispatch.ts'
import { CALLERS } from '../../../src/wiring.ts'
import { callApi } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'

beforeAll(() => prepareDatabases({ tenants: 0 }))

const app = mount(
  [
    ...serviceRoutes,
    publicRoutes('Test').post('/sign/{name}', {
      summary: '',
      body: { schema: z.unknown(), required: true },
      answer: { description: '', schema: z.unknown() },
      handle: async () => {
        throw new Refusal('wrongState', 'No.')
      },
    }),
  ],
  [],
  CALLERS,
)

/** The only stub: the local Analytics Engine keeps nothing that could be read back. */
const points: AnalyticsEngineDataPoint[] = []
const METRICS = { writeDataPoint: (point: AnalyticsEngineDataPoint) => void points.push(point) }
const watched = { ...env, REQUEST_LOG: 'on', METRICS } as unknown as Env

const call = async (method: string, path: string, headers: Record<string, string> = {}, of = watched) =>
  app.fetch(
    new Request(`http://bindery.test${path}`, { method, headers, body: method === 'POST' ? '{}' : null }),
    of,
    createExecutionContext(),
  )

let lines: Record<string, unknown>[]

beforeEach(() => {
  lines = []
  points.length = 0
  vi.spyOn(console, 'log').mockImplementation(line => void lines.push(JSON.parse(String(line))))
})

const NO_CALLS = { d1: 0, control: 0, object: 0, r2: 0, queue: 0, rowsRead: 0, rowsWritten: 0 }

describe('A request', () => {
  it('logs one line with the route pattern, the outcome and the calls, and no personal data', async () => {
    const answer = await call('POST', '/sign/anna.private@example.com?token=secret', {
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    expect(lines).toEqual([
      {
        at: 'request',
        operation: 'POST /sign/{name}',
        requestId: answer.headers.get('x-request-id'),
        traceId: '0af7651916cd43dd8448eb211c80319c',
        status: 409,
        code: 'wrongState',
        durationMs: expect.any(Number),
        ...NO_CALLS,
      },
    ])
    expect(JSON.stringify(lines)).not.toMatch(/secret|anna/)
  })

  it('counts its round trips and rows, and writes one data point', async () => {
    await call('GET', '/ready')
    expect(lines).toMatchObject([
      { operation: 'GET /ready', status: 200, d1: 1, rowsRead: expect.any(Number) },
    ])
    const { durationMs, rowsRead } = lines[0] as { durationMs: number; rowsRead: number }
    expect(rowsRead).toBeGreaterThan(0)
    expect(points).toEqual([
      {
        indexes: [''],
        blobs: ['request', 'GET /ready', '200', '', 'local'],
        doubles: [durationMs, 1, 0, 0, 0, rowsRead, 0, 1],
      },
    ])
  })

  it('to an unknown path is logged without the path', async () => {
    await call('GET', '/people/anna.private@example.com')
    expect(lines).toMatchObject([{ operation: 'GET (no route)', status: 404, code: 'unknownPath' }])
    expect(JSON.stringify(lines)).not.toContain('anna')
  })

  it('always gets its own id, and echoes the id of the client if it is well formed', async () => {
    for (const name of ['x-request-id', 'x-client-request-id']) {
      const { headers } = await call('GET', '/health', { [name]: 'order-77' })
      expect(headers.get('x-client-request-id')).toBe('order-77')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(lines).toMatchObject([{ clientRequestId: 'order-77' }, { clientRequestId: 'order-77' }])
    for (const wrong of ['a b', 'x'.repeat(129)])
      expect(
        (await call('GET', '/health', { 'x-request-id': wrong })).headers.has('x-client-request-id'),
      ).toBe(false)
  })

  it('writes no line when the log is off, and no data point without a dataset', async () => {
    await call('GET', '/health', {}, { ...env, REQUEST_LOG: 'off' } as unknown as Env)
    expect([lines, points]).toEqual([[], []])
  })
})

describe('Background work', () => {
  const tenantLocator = newUuid(0)
  const shard = { tenantLocator, generation: 1, shard: 0 }

  it('of a queue logs one line for each distinct message', async () => {
    const body = { ...shard, policyLocator: 100_000_064 }
    const message = (id: string, about: unknown) => ({ id, timestamp: new Date(0), attempts: 1, body: about })
    const batch = (queue: string, about: unknown) =>
      createMessageBatch(queue, [message('1', about), message('2', about)])
    await consumeAnnouncements(batch('bindery-announcements', shard), watched)
    await consumeDocumentHints(batch('bindery-documents', body), watched)
    expect(lines).toMatchObject([
      { at: 'queue', operation: 'announcements', tenant: tenantLocator, status: 200, d1: 1 },
      { at: 'queue', operation: 'documents', tenant: tenantLocator, status: 200, d1: 0 },
    ])
    expect(points.map(({ indexes, blobs }) => [indexes, blobs?.slice(0, 3)])).toEqual([
      [[tenantLocator], ['queue', 'announcements', '200']],
      [[tenantLocator], ['queue', 'documents', '200']],
    ])
  })

  it('that fails logs one line with 500, and still throws its error', async () => {
    const failing = runObserved(watched, alarmWork('dispatcher', shard), async calls => {
      calls.object += 1
      throw new Error('as it was')
    })
    await expect(failing).rejects.toThrow('as it was')
    expect(lines).toMatchObject([
      { at: 'alarm', operation: 'dispatcher', tenant: tenantLocator, status: 500, object: 1 },
    ])
  })
})

describe('The service', () => {
  const ready = async (changes: object) => {
    const answer = await call('GET', '/ready', {}, { ...env, ...changes } as unknown as Env)
    return {
      status: answer.status,
      retry: answer.headers.get('retry-after'),
      ...((await answer.json()) as object),
    }
  }

  it('is ready with its keys and its control database', async () => {
    expect((await callApi('GET', '/ready')).body).toEqual({ status: 'ready', databasesBehind: 0 })
  })

  it('is not ready without keys, and names each without its value', async () => {
    const answer = await ready({
      TOKEN_KEYS: '{"keys":[]}',
      TOKEN_SECRET: 'too short',
      SEALING_KEY: '',
      PASSWORD_PEPPER: '',
    })
    expect(answer).toMatchObject({ status: 503, retry: '5', code: 'unavailable' })
    const { message } = answer as unknown as { message: string }
    for (const name of ['TOKEN_KEYS', 'TOKEN_SECRET', 'SEALING_KEY', 'PASSWORD_PEPPER'])
      expect(message).toContain(name)
    expect(message).not.toContain('too short')
  })

  it('is not ready without a control database that responds and is migrated', async () => {
    expect(await ready({ CONTROL: env.TENANT_064 })).toMatchObject({
      status: 503,
      message: expect.stringContaining('has no migrations yet'),
    })
    const gone = {
      withSession: () => ({
        prepare: () => ({ bind: () => undefined }),
        batch: () => Promise.reject(new Error('gone')),
      }),
    }
    expect(await ready({ CONTROL: gone })).toMatchObject({
      status: 503,
      message: expect.stringContaining('does not respond'),
    })
    expect((await call('GET', '/health', {}, { ...env, CONTROL: gone } as unknown as Env)).status).toBe(200)
  })
})
