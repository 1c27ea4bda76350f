import { createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newUuid, type PolicyLocator, type Uuid } from '../../../../src/kernel/locators.ts'
import { now } from '../../../../src/kernel/time.ts'
import { type Calls, noCalls } from '../../../../src/platform/calls.ts'
import { shardName, type Tenant } from '../../../../src/platform/tenancy.ts'
import { deliverTo, RECORD_WITHIN_MS } from '../../../../src/servicing/events/delivery/deliver.ts'
import { attemptDelivery } from '../../../../src/servicing/events/delivery/serve.ts'
import { consumeAnnouncements } from '../../../../src/servicing/events/dispatch.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { openReceiver } from '../../../support/receiver.ts'
import {
  deliver,
  deliveriesIn,
  happen,
  letPass,
  makeTenant,
  makeWebhook,
  objectStorage,
  untilFinished,
} from '../tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 24 }))

const retrying = { retryStrategy: { type: 'linear', interval: 60, attempts: 3 } }

describe('a delivery', () => {
  it('arrives once, in order, with the properties that older webhooks read', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    await makeWebhook(tenant, { url: receiver.url, endpoint: { headers: { 'x-kind': ['a', 'b'] } } })
    const request = await happen(tenant, [
      { type: 'policy.create', data: { policyLocator: '100000001' } },
      { type: 'policy.finalize' },
      { type: 'login.success' },
    ])
    await deliver(tenant)
    await deliver(tenant)
    const got = await receiver.received()
    const bodies = got.map(({ body }) => JSON.parse(body))
    expect(bodies).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        locator: bodies[0].id,
        transactionId: request,
        requestId: request,
        timestamp: expect.stringMatching(/^\d{13}$/),
        type: 'policy.create',
        sequence: 1,
        username: 'alice',
        userLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
        data: { policyLocator: '100000001' },
      },
      expect.objectContaining({ type: 'policy.finalize', transactionId: request, sequence: 2, data: {} }),
    ])
    expect(got[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-kind': 'a, b',
      'webhook-id': bodies[0].id,
    })
    expect(await deliveriesIn(tenant)).toMatchObject([
      { state: 'sent', attempts: 1, outcome: '200' },
      { state: 'sent', attempts: 1, outcome: '200' },
    ])
  })

  it('has both signatures, which a receiver with the secret can verify', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    const { endpoint } = await makeWebhook(tenant, { url: receiver.url, endpoint: { tag: 'first' } })
    await happen(tenant, [{}])
    await deliver(tenant)
    const { headers, body } = (await receiver.received())[0]!
    const key = Buffer.from(endpoint.secret!.slice('whsec_'.length), 'base64')
    expect(key).toHaveLength(32)
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    )
    expect(headers['socotra-signature']).toBe(createHmac('sha256', key).update(body).digest('hex'))
    expect(headers['socotra-signature-tag']).toBe('first')
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
  })

  it('has no signature but an id if hmacEnabled is false', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    const made = await makeWebhook(tenant, { url: receiver.url, endpoint: { hmacEnabled: false } })
    expect(made.endpoint.secret).toBeUndefined()
    await happen(tenant, [{}])
    await deliver(tenant)
    const { headers } = (await receiver.received())[0]!
    expect(headers['webhook-id']).toBeDefined()
    expect(headers['webhook-signature']).toBeUndefined()
    expect(headers['socotra-signature']).toBeUndefined()
  })

  it('is created only for enabled webhooks with a matching type or prefix', async () => {
    const tenant = await makeTenant()
    const [exact, prefix, none, disabled] = await Promise.all([1, 2, 3, 4].map(() => openReceiver()))
    await makeWebhook(tenant, { url: exact!.url, eventTypes: ['policy.create', 'payment.pay'] })
    await makeWebhook(tenant, { url: prefix!.url, eventTypes: ['policy.quote.*'] })
    await makeWebhook(tenant, { url: none!.url, eventTypes: [] })
    await makeWebhook(tenant, { url: disabled!.url, enabled: false })
    await happen(tenant, [
      { type: 'policy.create' },
      { type: 'policy.quote.create' },
      { type: 'policyholder.create' },
      { type: 'policy.quote.accept' },
    ])
    await deliver(tenant)
    const types = async (receiver = exact!) =>
      (await receiver.received()).map(({ body }) => JSON.parse(body).type)
    expect(await types(exact)).toEqual(['policy.create'])
    expect(await types(prefix)).toEqual(['policy.quote.create', 'policy.quote.accept'])
    expect(await types(none)).toEqual([])
    expect(await types(disabled)).toEqual([])
  })
})

describe('a failed delivery', () => {
  it('is retried as the strategy says, with the same id, until it succeeds', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver(
      { status: 500 },
      { status: 302, headers: { location: '/' } },
      { status: 200 },
    )
    await makeWebhook(tenant, {
      url: receiver.url,
      failureHandling: { ...retrying, triggers: ['3xx', '5xx'] },
    })
    await happen(tenant, [{}])
    await deliver(tenant)
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'pending', attempts: 1, outcome: '500' }])
    await deliver(tenant)
    expect(await receiver.received()).toHaveLength(1)
    await letPass(tenant, 66_000)
    await deliver(tenant)
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'pending', attempts: 2, outcome: '302' }])
    await letPass(tenant, 132_000)
    await deliver(tenant)
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'sent', attempts: 3, outcome: '200' }])
    const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
  })

  it('is final without a retry strategy, and if no trigger matches', async () => {
    const tenant = await makeTenant()
    const [plain, other] = await Promise.all([openReceiver({ status: 503 }), openReceiver({ status: 404 })])
    await makeWebhook(tenant, { url: plain.url })
    await makeWebhook(tenant, { url: other.url, failureHandling: { ...retrying, triggers: ['5xx'] } })
    await happen(tenant, [{}])
    await deliver(tenant)
    const rows = await deliveriesIn(tenant)
    expect(rows.map(({ state, outcome }) => [state, outcome]).sort()).toEqual([
      ['failed', '404'],
      ['failed', '503'],
    ])
  })

  it('suspends the webhook in every shard after the last attempt, and skips pending deliveries', async () => {
    const tenant = await makeTenant(2)
    const receiver = await openReceiver({ status: 500 })
    const { locator } = await makeWebhook(tenant, {
      url: receiver.url,
      failureHandling: { ...retrying, suspend: true },
    })
    await happen(tenant, [{}], 1)
    for (const pause of [0, 66_000, 132_000]) {
      await letPass(tenant, pause, 1)
      await deliver(tenant, 1)
    }
    await happen(tenant, [{}], 0)
    await happen(tenant, [{}], 1)
    expect(await deliveriesIn(tenant, 1)).toMatchObject([
      { state: 'skipped', attempts: 3, outcome: '500' },
      { state: 'skipped', attempts: 0, outcome: 'suspended' },
    ])
    expect(await deliveriesIn(tenant, 0)).toMatchObject([{ state: 'skipped', outcome: 'suspended' }])
    for (const shard of [0, 1]) {
      const client = (env as unknown as Record<string, D1Database>)[tenant.shards[shard]!]!
      const row = await client
        .prepare('select suspended_at from webhook where locator = ?')
        .bind(locator)
        .first()
      expect(row!.suspended_at).toBeTypeOf('number')
    }
  })

  it('with status 410 suspends the webhook immediately, and skips the deliveries after it', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver({ status: 410 })
    const { locator } = await makeWebhook(tenant, { url: receiver.url, failureHandling: retrying })
    const policyLocator = 100_000_001 as PolicyLocator
    await happen(tenant, [{ policyLocator }, { policyLocator }])
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await deliver(tenant)
    expect(await receiver.received()).toHaveLength(1)
    expect(await deliveriesIn(tenant)).toMatchObject([
      { state: 'skipped', attempts: 1, outcome: '410' },
      { state: 'skipped', attempts: 0, outcome: 'suspended' },
    ])
    // docs/operate.md says that operators should watch for this line.
    const lines = warn.mock.calls.map(([line]) => JSON.parse(String(line)))
    expect(lines.filter(({ at }) => at === 'webhook suspended')).toEqual([
      { at: 'webhook suspended', tenant: tenant.name, webhook: locator },
    ])
    warn.mockRestore()
  })

  it('is a timeout without a response, and unreachable without a listener', async () => {
    const hanging = await openReceiver({ status: 200, hang: true })
    const endpoint = { headers: {}, secureSsl: true, hmacEnabled: false }
    const headers = { headers: {}, values: [] }
    const outcomeAt = async (url: string, timeoutMs: number) =>
      (await attemptDelivery(env, { ...endpoint, url }, headers, { id: '1', body: '{}' }, timeoutMs)).outcome
    expect(await outcomeAt(hanging.url, 200)).toEqual({ kind: 'timeout' })
    expect(await outcomeAt('http://127.0.0.1:9/', 5_000)).toEqual({ kind: 'unreachable' })
    expect(await outcomeAt('http://10.0.0.1/', 5_000)).toEqual({ kind: 'addressRefused' })
  })
})

describe('delivery despite disturbances', () => {
  it('happens once for repeated and simultaneous hints', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver({ status: 200, delayMs: 50 })
    await makeWebhook(tenant, { url: receiver.url })
    for (let n = 0; n < 5; n += 1) await happen(tenant, [{}, {}])
    const hint = (id: string) => ({ id, timestamp: 0, attempts: 1, body: shardName(tenant, 0) })
    const batches = [1, 2, 3].map(n => createMessageBatch('q', [hint(`${n}a`), hint(`${n}b`)]))
    await Promise.all(batches.map(batch => consumeAnnouncements(batch, env)))
    await receiver.wait(10)
    await untilFinished(tenant)
    const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
    expect(ids).toHaveLength(10)
    expect(new Set(ids).size).toBe(10)
  })

  it('is repeated after a crash once the claim expires, while other lines continue', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver({ status: 200, held: true }, { status: 200 })
    const { locator } = await makeWebhook(tenant, { url: receiver.url })
    const storage = objectStorage()
    const run = () => deliverTo({ env, tenant, shard: 0, calls: noCalls() }, locator as Uuid, storage)
    await happen(tenant, [{}])
    // The object ends before the response. Only its storage shows which deliveries it had begun.
    const crashed = run()
    await receiver.wait(1)
    const left = await storage.get<[number, number][]>('underWay')
    expect(left).toEqual([[1, expect.any(Number)]])
    const begun = now()
    expect(left![0]![1] - begun).toBeGreaterThan(25_000)
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'pending', attempts: 0 }])

    await happen(tenant, [{}])
    expect(await run()).toBe(left![0]![1])
    expect(await receiver.received()).toHaveLength(2)
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'pending' }, { state: 'sent' }])

    await storage.put('underWay', [[1, begun]])
    expect(await run()).toBeUndefined()
    expect(await receiver.received()).toHaveLength(3)
    expect(await storage.get('underWay')).toBeUndefined()
    await receiver.answer({ status: 200 })
    await crashed
    expect((await deliveriesIn(tenant)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['sent', 1],
      ['sent', 1],
    ])
  })

  it('ignores a result that arrives after the claim expired and another attempt was recorded', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver({ status: 500, held: true }, { status: 200 })
    await makeWebhook(tenant, { url: receiver.url })
    await happen(tenant, [{}])
    const first = deliver(tenant)
    await receiver.wait(1)
    await letPass(tenant, 30_000)
    await deliver(tenant)
    await receiver.answer({ status: 200 })
    await first
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'sent', attempts: 1, outcome: '200' }])
  })

  it('to slow endpoints does not delay other endpoints of any tenant, nor later events', async () => {
    const [tenant, other] = await Promise.all([makeTenant(), makeTenant()])
    const slow = await Promise.all(Array.from({ length: 8 }, () => openReceiver({ status: 200, held: true })))
    const [quick, others] = await Promise.all([openReceiver(), openReceiver()])
    for (const { url } of slow) await makeWebhook(tenant, { url })
    await makeWebhook(tenant, { url: quick.url })
    await makeWebhook(other, { url: others.url })
    const hint = async (of: Tenant) =>
      await consumeAnnouncements(
        createMessageBatch('q', [
          { id: newUuid(0), timestamp: new Date(), attempts: 1, body: shardName(of, 0) },
        ]),
        env,
      )
    await happen(tenant, [{}])
    await hint(tenant)
    await Promise.all(slow.map(receiver => receiver.wait(1)))
    await happen(tenant, [{}, {}])
    await hint(tenant)
    await happen(other, [{}])
    await hint(other)
    await Promise.all([quick.wait(3), others.wait(1)])
    const unanswered = (await deliveriesIn(tenant)).filter(({ state }) => state !== 'sent')
    expect(unanswered).toHaveLength(8 * 3)
    for (const receiver of slow) await receiver.answer({ status: 200 })
    await untilFinished(tenant)
  })

  it('delays only its own line when the response is slow', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver({ status: 200, held: true }, { status: 200 })
    await makeWebhook(tenant, { url: receiver.url })
    await happen(
      tenant,
      Array.from({ length: 30 }, () => ({})),
    )
    const sent = async () => (await deliveriesIn(tenant)).filter(({ state }) => state === 'sent').length
    const all = deliver(tenant)
    while ((await sent()) < 29) await scheduler.wait(50)
    expect(await sent()).toBe(29)
    await receiver.answer({ status: 200 })
    await all
    expect(await sent()).toBe(30)
    expect(await receiver.received()).toHaveLength(30)
  })

  it('sends 300 deliveries of one webhook in one call', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    await makeWebhook(tenant, { url: receiver.url })
    await happen(
      tenant,
      Array.from({ length: 300 }, () => ({})),
    )
    await deliver(tenant)
    const got = await receiver.received()
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(300)
    expect(got).toHaveLength(300)
  })
})

describe('a call of the service that delivers', () => {
  it('leaves the rest to the next call when it has sent as many statements or posts as one call should', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    const { locator } = await makeWebhook(tenant, { url: receiver.url })
    await happen(
      tenant,
      Array.from({ length: 150 }, () => ({})),
    )
    const run = (calls: Calls) =>
      deliverTo({ env, tenant, shard: 0, calls }, locator as Uuid, objectStorage())
    // Each claim takes at most 100 deliveries.
    const almost = { ...noCalls(), external: 7_950 }
    expect(await run(almost)).toBeLessThanOrEqual(now())
    expect(almost.external).toBe(8_050)
    expect(await receiver.received()).toHaveLength(100)
    expect(await run({ ...noCalls(), statements: 501 })).toBeLessThanOrEqual(now())
    expect(await receiver.received()).toHaveLength(100)
    expect(await run(noCalls())).toBeUndefined()
    expect(await receiver.received()).toHaveLength(150)
    expect(await deliveriesIn(tenant)).toEqual(
      Array.from({ length: 150 }, () => expect.objectContaining({ state: 'sent', attempts: 1 })),
    )
  })
})

describe('round trips of deliveries', () => {
  /** Delivers what is due for the webhook. Returns the calls and the duration. */
  const delivering = async (tenant: Tenant, webhook: string): Promise<Calls & { durationMs: number }> => {
    const calls = noCalls()
    const begun = now()
    await deliverTo({ env, tenant, shard: 0, calls }, webhook, objectStorage())
    return { ...calls, durationMs: now() - begun }
  }
  const events = (policies: number, ofEach: number) =>
    Array.from({ length: policies * ofEach }, (_, at) => ({
      policyLocator: (100_000_001 + (at % policies)) as PolicyLocator,
    }))

  it('are two per queue batch for all hints of a shard, and one object call per webhook with due deliveries', async () => {
    const tenant = await makeTenant()
    const receivers = await Promise.all([1, 2].map(() => openReceiver()))
    for (const { url } of receivers) await makeWebhook(tenant, { url })
    await makeWebhook(tenant, { url: receivers[0]!.url, eventTypes: ['payment.pay'] })
    await happen(tenant, events(3, 2))
    const told: unknown[] = []
    const METRICS = {
      writeDataPoint: ({ blobs, doubles }: { blobs: string[]; doubles: number[] }) => {
        const [, d1, object, r2, queue] = doubles
        told.push({ what: blobs.slice(0, 3), d1, object, r2, queue })
      },
    }
    const hints = Array.from({ length: 20 }, (_, at) => ({
      id: `${at}`,
      timestamp: new Date(),
      attempts: 1,
      body: shardName(tenant, 0),
    }))
    await consumeAnnouncements(createMessageBatch('q', hints), { ...env, METRICS } as unknown as Env)
    // One of the two reads the tenant, which an isolate does every 5 s. The other finds the due deliveries, which these hints do
    // not name.
    expect(told).toEqual([{ what: ['queue', 'announcements', '200'], d1: 2, object: 2, r2: 0, queue: 0 }])
    await untilFinished(tenant)
    for (const receiver of receivers) expect(await receiver.received()).toHaveLength(6)
  })

  it('are none for the hint of a commit, which names the webhooks with due deliveries', async () => {
    const tenant = await makeTenant()
    const receivers = await Promise.all([1, 2].map(() => openReceiver()))
    const webhooks = []
    for (const { url } of receivers) webhooks.push((await makeWebhook(tenant, { url })).locator)
    await makeWebhook(tenant, { url: receivers[0]!.url, eventTypes: ['payment.pay'] })
    const commits = async (policies: number): Promise<{ webhooks: Uuid[] }[]> => {
      const sent: { webhooks: Uuid[] }[] = []
      await happen(tenant, events(policies, 2), 0, message => sent.push(message as never))
      return sent
    }
    const [hint, ...more] = await commits(3)
    expect(more).toEqual([])
    expect(hint).toEqual({ ...shardName(tenant, 0), webhooks: expect.any(Array) })
    expect([...hint!.webhooks].sort()).toEqual([...webhooks].sort())

    const told: number[][] = []
    const METRICS = { writeDataPoint: ({ doubles }: { doubles: number[] }) => told.push(doubles.slice(1, 3)) }
    const halves = hint!.webhooks.map((webhook, at) => ({
      id: `${at}`,
      timestamp: new Date(),
      attempts: 1,
      body: { ...hint, webhooks: [webhook] },
    }))
    await consumeAnnouncements(createMessageBatch('q', halves), { ...env, METRICS } as unknown as Env)
    // This one reads the tenant, which an isolate does every 5 s.
    expect(told).toEqual([[1, 2]])
    await untilFinished(tenant)
    for (const receiver of receivers) expect(await receiver.received()).toHaveLength(6)

    // Events behind others of their policy send no hint: they are delivered when those end.
    expect(await commits(1)).toHaveLength(1)
    expect(await commits(1)).toEqual([])
    await deliver(tenant)
    for (const receiver of receivers) expect(await receiver.received()).toHaveLength(10)
  })

  it('are one read and one write for the deliveries of a line, with two rows written per event', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    const { locator } = await makeWebhook(tenant, { url: receiver.url })
    await happen(tenant, events(1, 1))
    const { d1, rowsWritten } = await delivering(tenant, locator)
    expect({ d1, rowsWritten }).toEqual({ d1: 2, rowsWritten: 2 })
    await happen(tenant, events(1, 3))
    expect(await delivering(tenant, locator)).toMatchObject({ d1: 2, rowsWritten: 6 })
  })

  it('are two for all deliveries of a claim: one to read, and one to record the results', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    const { locator } = await makeWebhook(tenant, { url: receiver.url })
    await happen(tenant, events(20, 3))
    const { d1, durationMs } = await delivering(tenant, locator)
    expect(await receiver.received()).toHaveLength(60)
    // A result is recorded within this time, and more deliveries are looked for within it too.
    const late = Math.floor(durationMs / RECORD_WITHIN_MS)
    expect(d1).toBeGreaterThanOrEqual(2)
    expect(d1).toBeLessThanOrEqual(2 + 2 * late)
  })

  it('do not read or write more rows for a webhook with hundreds of earlier deliveries', async () => {
    const tenant = await makeTenant()
    const receiver = await openReceiver()
    const { locator } = await makeWebhook(tenant, { url: receiver.url })
    await happen(tenant, events(2, 2))
    const first = await delivering(tenant, locator)
    await happen(tenant, events(50, 6))
    await delivering(tenant, locator)
    await happen(tenant, events(2, 2))
    const last = await delivering(tenant, locator)
    expect((await deliveriesIn(tenant)).filter(({ state }) => state === 'sent')).toHaveLength(308)
    expect([last.rowsRead, last.rowsWritten]).toEqual([first.rowsRead, first.rowsWritten])
  })
})
