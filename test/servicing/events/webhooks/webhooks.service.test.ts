import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../src/kernel/locators.ts'
import { commit } from '../../../../src/platform/commit.ts'
import { shardName, type Tenant } from '../../../../src/platform/tenancy.ts'
import { dispatchDue } from '../../../../src/servicing/events/dispatch.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { type Client, clientOf } from '../http.ts'
import { databaseOf, deliveriesIn, happen, letPass, makeTenant, requestOf } from '../tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 30 }))

let tenant: Tenant
let call: Client
let path: string

beforeEach(async () => {
  tenant = await makeTenant()
  call = await clientOf(tenant)
  path = `/event/${tenant.locator}/webhooks`
})

const wish = (changes: Record<string, unknown> = {}) => ({
  name: 'claims desk',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/in', headers: { 'x-desk': ['7'] } },
  failureHandling: {},
  eventTypes: ['policy.*', 'policyholder.create'],
  ...changes,
})

const rowsIn = async (of: Tenant, shard: number): Promise<Record<string, unknown>[]> => {
  const client = (env as unknown as Record<string, D1Database>)[of.shards[shard]!]!
  return (await client.prepare('select * from webhook').all()).results
}

describe('creating a webhook', () => {
  it('returns the secret in this response and never again', async () => {
    const made = await call('POST', path, wish())
    expect(made).toMatchObject({
      status: 200,
      body: {
        name: 'claims desk',
        enabled: true,
        suspended: false,
        suspendedAt: null,
        endpoint: {
          url: 'https://hooks.example.com/in',
          headers: { 'x-desk': ['7'] },
          hmacEnabled: true,
          secret: expect.stringMatching(/^whsec_/),
        },
        failureHandling: { triggers: ['4xx', '5xx', 'timeout'], divert: false, suspend: false },
        eventTypes: ['policy.*', 'policyholder.create'],
      },
    })
    const read = await call('GET', `${path}/${made.body.locator}`)
    expect(read.body).toEqual({ ...made.body, endpoint: { ...made.body.endpoint, secret: '********' } })
    const listed = await call('GET', `${path}/list`)
    expect(listed.body).toEqual([read.body])
  })

  it('keeps the given failure handling and secret', async () => {
    const failureHandling = {
      triggers: ['503', '3xx'],
      retryStrategy: { type: 'exponential', interval: 5, attempts: 4 },
      divert: true,
      suspend: true,
      alertEndpoint: { url: 'https://alerts.example.com/', hmacEnabled: false },
    }
    const { body } = await call(
      'POST',
      path,
      wish({ failureHandling, endpoint: { url: 'https://a.example.com/', secret: 'mine', tag: 'v1' } }),
    )
    expect(body.endpoint).toMatchObject({ secret: 'mine', tag: 'v1' })
    expect(body.failureHandling).toMatchObject({
      ...failureHandling,
      alertEndpoint: { url: 'https://alerts.example.com/', hmacEnabled: false },
    })
    expect(body.failureHandling.alertEndpoint.secret).toBeUndefined()
  })

  it('rejects unknown event types, and names each', async () => {
    const { status, body } = await call(
      'POST',
      path,
      wish({ eventTypes: ['policy.create', 'policy.explode', 'nothing.*'] }),
    )
    expect(status).toBe(400)
    expect(body.fieldErrors.map(({ ontologyUri }: { ontologyUri: string }) => ontologyUri)).toEqual([
      'eventTypes[1]',
      'eventTypes[2]',
    ])
  })

  it('rejects internal addresses, reserved headers and secrets that cannot sign', async () => {
    const endpoints = [
      { url: 'http://169.254.169.254/latest' },
      { url: 'https://a.example.com/', headers: { Host: ['x'] } },
      { url: 'https://a.example.com/', headers: { 'webhook-id': ['x'] } },
      { url: 'https://a.example.com/', headers: { upgrade: ['websocket'] } },
      { url: 'https://a.example.com/', secret: 'whsec_no base64' },
    ]
    for (const endpoint of endpoints)
      expect(await call('POST', path, wish({ endpoint }))).toMatchObject({
        status: 400,
        body: { code: 'invalidRequest', message: expect.stringContaining('endpoint') },
      })
    expect(await rowsIn(tenant, 0)).toEqual([])
  })

  it('rejects a taken name, also in simultaneous requests', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => call('POST', path, wish())))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    expect(await call('POST', path, wish())).toMatchObject({ status: 409, body: { code: 'alreadyExists' } })
  })

  it('returns the original response, with the secret, when it is repeated with the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': newUuid(0) }
    const first = await call('POST', path, wish(), key)
    const again = await call('POST', path, wish(), key)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect(await rowsIn(tenant, 0)).toHaveLength(1)
    expect(await call('POST', path, wish({ name: 'other' }), key)).toMatchObject({
      status: 409,
      body: { code: 'idempotencyConflict' },
    })
  })
})

describe('a webhook', () => {
  it('of another tenant, or an unknown one, returns 404', async () => {
    const { body } = await call('POST', path, wish())
    const other = await makeTenant()
    const stranger = await clientOf(other)
    expect((await stranger('GET', `/event/${other.locator}/webhooks/${body.locator}`)).status).toBe(404)
    expect((await stranger('GET', `${path}/${body.locator}`)).status).toBe(404)
    expect((await stranger('DELETE', `/event/${other.locator}/webhooks/${body.locator}`)).status).toBe(404)
    expect((await call('GET', `${path}/${newUuid(0)}`)).status).toBe(404)
    expect((await call('GET', `${path}/nonsense`)).status).toBe(404)
  })

  it('can be read and changed by administrators only', async () => {
    const employee = await clientOf(tenant, 'account.tenant.employee')
    expect((await employee('POST', path, wish())).status).toBe(403)
    expect((await employee('GET', `${path}/list`)).status).toBe(403)
  })

  it('that was deleted receives nothing more and returns 404', async () => {
    const receiver = await openReceiver()
    const { body } = await call('POST', path, wish({ endpoint: { url: receiver.url } }))
    await happen(tenant, [{}])
    expect(await call('DELETE', `${path}/${body.locator}`)).toMatchObject({ status: 200, body: undefined })
    await happen(tenant, [{}])
    await dispatchDue(env, shardName(tenant, 0))
    expect(await receiver.received()).toEqual([])
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'failed', outcome: 'deleted' }])
    expect((await call('GET', `${path}/${body.locator}`)).status).toBe(404)
    expect((await call('DELETE', `${path}/${body.locator}`)).status).toBe(404)
  })

  it('is found by name, state and type, and by page', async () => {
    await call('POST', path, wish({ name: 'one', eventTypes: ['policy.create'] }))
    await call('POST', path, wish({ name: 'two', enabled: false, eventTypes: ['policy.issue'] }))
    await call('POST', path, wish({ name: 'three', eventTypes: ['policy.issue', 'policy.create'] }))
    const names = async (query: string) =>
      (await call('GET', `${path}/list?${query}`)).body.map(({ name }: { name: string }) => name)
    expect(await names('')).toEqual(['one', 'two', 'three'])
    expect(await names('name=two')).toEqual(['two'])
    expect(await names('enabled=false')).toEqual(['two'])
    expect(await names('active=true')).toEqual(['one', 'three'])
    expect(await names('suspended=true')).toEqual([])
    expect(await names('eventTypes=policy.issue')).toEqual(['two', 'three'])
    expect(await names('eventTypes=policy.issue,policy.create&active=true')).toEqual(
      await names('eventTypes=policy.issue&eventTypes=policy.create&active=true'),
    )
    expect(await names('eventTypes=')).toEqual(await names(''))
    expect(await names('eventTypes=policy.issue&eventTypes=policy.create&active=true')).toEqual([
      'one',
      'three',
    ])
    expect(await names('offset=1&count=1')).toEqual(['two'])
    expect((await call('GET', `${path}/list?offset=-1`)).status).toBe(400)
  })
})

describe('webhooks in a tenant of several shards', () => {
  it('every shard delivers its own events, and stops when the webhook is deleted', async () => {
    const wide = await makeTenant(3)
    const client = await clientOf(wide)
    const receiver = await openReceiver()
    const { body } = await client(
      'POST',
      `/event/${wide.locator}/webhooks`,
      wish({ endpoint: { url: receiver.url } }),
    )
    for (const shard of [0, 1, 2]) await happen(wide, [{}], shard)
    for (const shard of [0, 1, 2]) await dispatchDue(env, shardName(wide, shard))
    await receiver.wait(3)
    await client('DELETE', `/event/${wide.locator}/webhooks/${body.locator}`)
    for (const shard of [0, 1, 2]) expect(await rowsIn(wide, shard)).toEqual([])
  })

  it('the dispatcher completes a copy to a shard that was interrupted', async () => {
    const wide = await makeTenant(2)
    const client = await clientOf(wide)
    const { body } = await client('POST', `/event/${wide.locator}/webhooks`, wish())
    await (env as unknown as Record<string, D1Database>)[wide.shards[1]!]!.exec('delete from webhook')
    await dispatchDue(env, shardName(wide, 0))
    expect(await rowsIn(wide, 1)).toEqual([])
    await letPass(wide, 60_000)
    await dispatchDue(env, shardName(wide, 0))
    expect(await rowsIn(wide, 1)).toMatchObject([{ locator: body.locator }])
  })
})

it('an event that is committed twice with one key is delivered once', async () => {
  const receiver = await openReceiver()
  await call('POST', path, wish({ endpoint: { url: receiver.url } }))
  const idempotency = { key: 'alice:1', bodyHash: 'x' }
  for (let n = 0; n < 2; n += 1)
    await commit(requestOf(tenant, { idempotency }), databaseOf(tenant), {
      shard: 0,
      guards: [],
      facts: [],
      events: [{ type: 'policy.create', data: {} }],
      answer: { status: 200, text: '{}' },
      subject: 'test',
    })
  await receiver.wait(1)
  await dispatchDue(env, shardName(tenant, 0))
  expect(await receiver.received()).toHaveLength(1)
})
