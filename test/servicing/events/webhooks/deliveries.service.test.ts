import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newUuid, type Uuid } from '../../../../src/kernel/locators.ts'
import { type Instant, now } from '../../../../src/kernel/time.ts'
import type { Query } from '../../../../src/platform/database.ts'
import { shardName, type Tenant } from '../../../../src/platform/tenancy.ts'
import {
  type Claim,
  type DeliveryResult,
  headOf,
  readDue,
  recordResults,
} from '../../../../src/servicing/events/delivery/store.ts'
import { dispatchDue, KEEP_DELIVERIES_MS } from '../../../../src/servicing/events/dispatch.ts'
import { redeliver } from '../../../../src/servicing/events/webhooks/store.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { openReceiver } from '../../../support/receiver.ts'
import type { Behaviour } from '../../../support/receiver-server.ts'
import { type Client, clientOf } from '../http.ts'
import { databaseOf, deliver, deliveriesIn, happen, letPass, makeTenant, untilFinished } from '../tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 40 }))

let tenant: Tenant
let call: Client
let path: string

beforeEach(async () => {
  tenant = await makeTenant()
  call = await clientOf(tenant)
  path = `/event/${tenant.locator}/webhooks`
})

/** Creates a webhook with a receiver that behaves in this way. Returns functions for the paths below its own. */
async function hook(behaviours: Behaviour[], changes: Record<string, unknown> = {}) {
  const receiver = await openReceiver(...behaviours)
  const { body } = await call('POST', path, {
    name: newUuid(0),
    enabled: true,
    endpoint: { url: receiver.url },
    eventTypes: ['policy.*'],
    ...changes,
  })
  const at = (more = '') => `${path}/${body.locator}${more}`
  return { receiver, locator: body.locator as string, secret: body.endpoint.secret as string, at }
}

const typesOf = async (receiver: { received(): Promise<{ body: string }[]> }) =>
  (await receiver.received()).map(({ body }) => JSON.parse(body).type)

const policy = (number: number) => ({ policyLocator: number as never })

const clientIn = (of: Tenant, shard = 0) => (env as unknown as Record<string, D1Database>)[of.shards[shard]!]!

const retrying = { triggers: ['5xx'], retryStrategy: { type: 'linear', interval: 60, attempts: 3 } }
const diverting = { triggers: ['5xx'], divert: true }

describe('deliveries of events of one policy', () => {
  it('wait for earlier ones of the policy, but not for those of other policies', async () => {
    const { receiver } = await hook([{ status: 500 }, { status: 200 }], { failureHandling: retrying })
    await happen(tenant, [
      { ...policy(1), type: 'policy.create' },
      { ...policy(1), type: 'policy.finalize' },
      { ...policy(2), type: 'policy.update' },
    ])
    await happen(tenant, [{ ...policy(1), type: 'policy.issue' }])
    await deliver(tenant)
    expect(await typesOf(receiver)).toEqual(['policy.create', 'policy.update'])
    expect((await deliveriesIn(tenant)).map(({ state }) => state)).toEqual([
      'pending',
      'waiting',
      'sent',
      'waiting',
    ])
    await letPass(tenant, 66_000)
    await deliver(tenant)
    const bodies = (await receiver.received()).map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['policy.create', 1],
      ['policy.update', 3],
      ['policy.create', 1],
      ['policy.finalize', 2],
      ['policy.issue', 4],
    ])
  })

  it('continue after one that failed permanently', async () => {
    const { receiver } = await hook([{ status: 404 }, { status: 200 }], { failureHandling: retrying })
    await happen(tenant, [
      { ...policy(1), type: 'policy.create' },
      { ...policy(1), type: 'policy.finalize' },
    ])
    await deliver(tenant)
    expect(await typesOf(receiver)).toEqual(['policy.create', 'policy.finalize'])
    expect((await deliveriesIn(tenant)).map(({ state }) => state)).toEqual(['failed', 'sent'])
  })

  it('claimed together with a failed one are not sent before it', async () => {
    const { receiver } = await hook([{ status: 200 }, { status: 500 }, { status: 200 }], {
      failureHandling: retrying,
    })
    const names = ['policy.create', 'policy.finalize', 'policy.issue'] as const
    await happen(
      tenant,
      names.map(type => ({ ...policy(1), type })),
    )
    await deliver(tenant)
    expect(await typesOf(receiver)).toEqual(['policy.create', 'policy.finalize'])
    await letPass(tenant, 66_000)
    await deliver(tenant)
    expect((await typesOf(receiver)).slice(2)).toEqual(['policy.finalize', 'policy.issue'])
  })
})

describe('the body of a delivery', () => {
  it('uses the name that the webhook lists: under a newer name it is as in the events interface', async () => {
    const older = await hook([], { eventTypes: ['endorsement.create'] })
    const newer = await hook([], { eventTypes: ['policy.change.*'] })
    const both = await hook([], { eventTypes: ['policy.change.*', 'endorsement.create', 'policy.*'] })
    const data = { policyLocator: '100000001', endorsementLocator: '100000065', state: 'application' }
    await happen(tenant, [{ type: 'endorsement.create', data, ...policy(1) }])
    await deliver(tenant)
    const bodiesOf = async ({ receiver }: typeof older) =>
      (await receiver.received()).map(({ body }) => JSON.parse(body))
    const [one, ...more] = await bodiesOf(older)
    const { id, transactionId, sequence, username } = one
    expect(more).toEqual([])
    expect(one).toEqual({
      id,
      transactionId,
      sequence,
      username,
      locator: id,
      requestId: transactionId,
      userLocator: expect.any(String),
      type: 'endorsement.create',
      timestamp: expect.stringMatching(/^\d{13}$/),
      data,
    })
    const event = (await call('GET', `/event/${tenant.locator}/events/${id}`)).body
    expect(event.data).toEqual({ ...data, transactionLocator: '100000065' })
    expect(await bodiesOf(newer)).toEqual([{ ...event, id, transactionId, sequence, username }])
    // One delivery although both names match.
    expect(await bodiesOf(both)).toEqual([one])
    const listed = async (one: typeof older) => (await call('GET', one.at('/deliveries/list'))).body.items
    expect(await listed(older)).toMatchObject([{ eventLocator: id, eventType: 'endorsement.create' }])
    expect(await listed(newer)).toMatchObject([{ eventLocator: id, eventType: 'policy.change.create' }])
  })

  it('is the same when the event is redelivered or resent from the diverted ones', async () => {
    const { receiver, at } = await hook([{ status: 500 }, { status: 200 }], {
      eventTypes: ['policy.change.*', 'billing.*'],
      failureHandling: diverting,
    })
    await happen(tenant, [
      { type: 'endorsement.issue', data: { endorsementLocator: '5' }, ...policy(1) },
      { type: 'invoice.issue', data: { invoiceLocator: 'i', policyLocator: '1' } },
      { type: 'policy.create', ...policy(1) },
    ])
    await deliver(tenant)
    const [diverted] = (await call('GET', at('/diverted'))).body
    await call('POST', at(`/diverted/${diverted.eventLocator}/resend`))
    await receiver.wait(3)
    const eventLocators = (await receiver.received()).slice(0, 2).map(({ body }) => JSON.parse(body).id)
    expect((await call('POST', at('/redeliver'), { eventLocators })).body).toEqual({ events: 2 })
    const posts = (await receiver.wait(5)).map(({ body }) => body)
    expect(new Set(posts).size).toBe(2)
    const bodies = posts.map(body => JSON.parse(body))
    expect(bodies.map(({ type }) => type).sort()).toEqual([
      'billing.invoice.generate',
      'billing.invoice.generate',
      'policy.change.issue',
      'policy.change.issue',
      'policy.change.issue',
    ])
    for (const body of bodies)
      expect(body).toMatchObject((await call('GET', `/event/${tenant.locator}/events/${body.id}`)).body)
  })
})

describe('the deliveries of a webhook', () => {
  it('are listed with their attempts: time, status, duration and start of the response', async () => {
    const { at } = await hook([{ status: 500 }, { status: 200 }], { failureHandling: retrying })
    const request = await happen(tenant, [policy(1), { ...policy(1), type: 'policy.issue' }])
    await deliver(tenant)
    const list = async (query = '') => (await call('GET', at(`/deliveries/list${query}`))).body
    const [first, second] = (await list()).items
    expect(first).toEqual({
      eventLocator: expect.any(String),
      requestLocator: request,
      eventType: 'policy.create',
      eventTimestamp: expect.stringMatching(/Z$/),
      sequence: 1,
      state: 'pending',
      outcome: '500',
      dueAt: expect.stringMatching(/Z$/),
      attempts: [
        {
          timestamp: expect.stringMatching(/Z$/),
          outcome: '500',
          status: 500,
          durationMs: expect.any(Number),
          excerpt: 'received',
        },
      ],
    })
    expect(second).toMatchObject({ state: 'waiting', attempts: [] })
    await letPass(tenant, 66_000)
    await deliver(tenant)
    const all = await list()
    expect(all.listCompleted).toBe(true)
    expect(all.items[0].attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['500', '200'])
    expect(all.items[1]).toMatchObject({ state: 'sent', finishedAt: expect.stringMatching(/Z$/) })
    expect((await list(`?eventLocator=${second.eventLocator}`)).items).toEqual([all.items[1]])
    expect((await list('?state=failed')).items).toEqual([])
    expect((await list('?to=2020-01-01')).items).toEqual([])
  })

  it('are listed in pages over all shards, each once, in either order', async () => {
    const wide = await makeTenant(2)
    const client = await clientOf(wide)
    const receiver = await openReceiver()
    const { body } = await client('POST', `/event/${wide.locator}/webhooks`, {
      name: 'wide',
      enabled: true,
      endpoint: { url: receiver.url },
      eventTypes: ['policy.*'],
    })
    for (const shard of [0, 1, 0, 1, 0]) await happen(wide, [{}], shard)
    const base = `/event/${wide.locator}/webhooks/${body.locator}/deliveries/list?pageSize=2`
    const seen: string[] = []
    for (let query = ''; ; ) {
      const page = (await client('GET', `${base}${query}`)).body
      seen.push(...page.items.map(({ eventLocator }: { eventLocator: string }) => eventLocator))
      if (page.listCompleted) break
      query = `&pagingToken=${page.pagingToken}`
    }
    expect(seen).toHaveLength(5)
    expect(new Set(seen).size).toBe(5)
    for (const token of ['nonsense', btoa('[01,2]'), btoa('[1,2]x')])
      expect((await client('GET', `${base}&pagingToken=${token}`)).status).toBe(400)
    const newest: string[] = []
    for (let query = ''; ; ) {
      const page = (await client('GET', `${base}&order=newestFirst${query}`)).body
      newest.push(...page.items.map(({ eventLocator }: { eventLocator: string }) => eventLocator))
      if (page.listCompleted) break
      query = `&pagingToken=${page.pagingToken}`
    }
    expect(newest).toEqual(seen.toReversed())
    const { results } = await clientIn(wide)
      .prepare(
        `explain query plan select * from delivery where webhook_locator = ? and event_sequence < 9
         order by event_sequence desc limit 3`,
      )
      .bind(body.locator)
      .all<{ detail: string }>()
    expect(results).toHaveLength(1)
    expect(results[0]!.detail).toMatch(/^SEARCH delivery USING/)
  })

  it('keep at most 4 KiB of a response, with secrets masked', async () => {
    const { at, receiver, secret } = await hook([])
    await receiver.answer({ status: 200, body: `${secret} ${'x'.repeat(10_000)}` })
    await happen(tenant, [{}])
    await deliver(tenant)
    const [{ attempts }] = (await call('GET', at('/deliveries/list'))).body.items
    expect(attempts[0].excerpt.startsWith('******** xxx')).toBe(true)
    expect(attempts[0].excerpt.length).toBeLessThanOrEqual(4_096)
    expect(attempts[0].excerpt.length).toBeGreaterThan(4_000)
  })

  it('show no part of a secret at the cut of a response, nor any value of a secret header', async () => {
    const keys = ['first-key-of-two', 'second-key-of-two']
    const { receiver, locator, secret, at } = await hook([])
    const endpoint = { addHeaders: { 'X-Api-Key': keys }, secret: `${secret.slice(0, -4)}AAA=` }
    await call('PATCH', `${path}/${locator}`, { endpoint })
    await receiver.answer({ status: 200, body: `${keys.join('\n')}\n${secret}${' '.repeat(4_000)}${secret}` })
    await happen(tenant, [{}])
    await deliver(tenant)
    const [{ attempts }] = (await call('GET', at('/deliveries/list'))).body.items
    const excerpt: string = attempts[0].excerpt
    expect(excerpt.startsWith('********\n********\n********  ')).toBe(true)
    expect(excerpt.trimEnd().length).toBeLessThanOrEqual(30)
  })

  it('are purged 30 days after they ended, except diverted ones', async () => {
    await hook([{ status: 500 }], { failureHandling: diverting })
    await hook([{ status: 200 }])
    await happen(tenant, [{}])
    await deliver(tenant)
    const age = async (ms: number) =>
      await clientIn(tenant).prepare('update delivery set finished_at = finished_at - ?').bind(ms).run()
    await age(KEEP_DELIVERIES_MS - 60_000)
    await dispatchDue(env, shardName(tenant, 0))
    expect(await deliveriesIn(tenant)).toHaveLength(2)
    await age(120_000)
    await dispatchDue(env, shardName(tenant, 0))
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'diverted' }])
  })
})

describe('POST /webhooks/{webhookLocator}/redeliver', () => {
  it('sends events of the types of the webhook, even older than the webhook, to it only', async () => {
    await happen(tenant, [{ ...policy(1), type: 'policy.create' }, { type: 'login.success' }])
    const [asked, other] = [await hook([]), await hook([])]
    await happen(tenant, [{ ...policy(1), type: 'policy.issue' }])
    await deliver(tenant)
    expect(await call('POST', asked.at('/redeliver'), { from: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 200,
      body: { events: 2 },
    })
    await asked.receiver.wait(3)
    expect(await typesOf(asked.receiver)).toEqual(['policy.issue', 'policy.create', 'policy.issue'])
    expect(await typesOf(other.receiver)).toEqual(['policy.issue'])
    const ids = (await asked.receiver.received()).map(({ headers }) => headers['webhook-id'])
    expect(ids[0]).toBe(ids[2])
  })

  it('accepts event locators, and rejects those that do not match the types of the webhook', async () => {
    const { at, receiver } = await hook([])
    await happen(tenant, [{}, { type: 'policyholder.create' }])
    await deliver(tenant)
    const id = (await receiver.received())[0]!.headers['webhook-id']!
    const redeliver = (body: unknown) => call('POST', at('/redeliver'), body)
    expect(await redeliver({ eventLocators: [id] })).toMatchObject({ status: 200, body: { events: 1 } })
    await receiver.wait(2)
    const unknown = newUuid(0)
    expect(await redeliver({ eventLocators: [id, unknown] })).toMatchObject({
      status: 400,
      body: {
        message: `'eventLocators' names events that the types of the webhook do not include: ${unknown}.`,
      },
    })
    for (const wrong of [{}, { eventLocators: [] }, { eventLocators: [id], from: 0 }, { from: 'soon' }])
      expect((await redeliver(wrong)).status).toBe(400)
    await call('PATCH', at(), { enabled: false })
    expect(await redeliver({ from: 0 })).toMatchObject({ status: 409, body: { code: 'wrongState' } })
  })

  it('sends a delivery that waits for its next attempt immediately', async () => {
    const { at, receiver } = await hook([{ status: 500 }, { status: 200 }])
    await happen(tenant, [policy(1)])
    await deliver(tenant)
    await call('POST', at('/redeliver'), { from: 0 })
    await receiver.wait(2)
    await untilFinished(tenant)
    expect(await deliveriesIn(tenant)).toMatchObject([{ state: 'sent', attempts: 2 }])
  })
})

describe('redeliver while an attempt is in progress or not recorded yet', () => {
  const types = ['policy.create', 'policy.finalize', 'policy.issue'] as const

  /** Three events of a line, claimed for the first time. `ask` requests redelivery of some of them. */
  async function claimedLine() {
    const { receiver, locator } = await hook([])
    await happen(
      tenant,
      types.map(type => ({ ...policy(1), type })),
    )
    const database = databaseOf(tenant)
    const claimed = async (): Promise<Claim> => {
      const claim = await readDue(database, locator as Uuid, now(), [], 20)
      if ('nextDue' in claim) throw new Error('Nothing is due.')
      return claim
    }
    const claim = await claimed()
    const events = claim.lines[0]!.map(({ event }) => event)
    const ask = async (...which: number[]): Promise<void> => {
      const eventLocators = which.map(at => events[at]!.locator)
      await database.batch(redeliver(database, locator, { eventLocators }, now()) as [Query, ...Query[]])
    }
    const record = async (of: Claim, ...states: DeliveryResult['state'][]): Promise<void> => {
      const line = of.lines[0]!
      const results = states.map((state, at) => ({
        ...line[at]!,
        head: headOf(line),
        state,
        attempts: 1,
        dueAt: (state === 'pending' ? now() + 60_000 : now()) as Instant,
        made: { at: now(), outcome: state === 'sent' ? '200' : '500', durationMs: 1 },
      }))
      await database.batch(recordResults(database, locator, results) as [Query, ...Query[]])
    }
    return { receiver, claim, claimed, ask, record }
  }

  it('sends the requested events again in their order, and no others', async () => {
    const { receiver, claim, ask, record } = await claimedLine()
    await ask(0, 2)
    await record(claim, 'sent', 'sent', 'sent')
    expect(await deliveriesIn(tenant)).toMatchObject([
      { state: 'pending', attempts: 0, outcome: '200' },
      { state: 'sent', attempts: 1 },
      { state: 'waiting', attempts: 0, outcome: '200' },
    ])
    await deliver(tenant)
    expect(await typesOf(receiver)).toEqual(['policy.create', 'policy.issue'])
    expect((await deliveriesIn(tenant)).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent'])
  })

  it.each(['failed', 'pending'] as const)(
    'sends the event immediately, even if that attempt %s',
    async state => {
      const { receiver, claim, ask, record } = await claimedLine()
      await ask(1)
      await record(claim, 'sent', state)
      expect(await deliveriesIn(tenant)).toMatchObject([
        { state: 'sent' },
        { state: 'pending', attempts: state === 'failed' ? 0 : 1, outcome: '500' },
        { state: 'waiting', attempts: 0 },
      ])
      await deliver(tenant)
      expect(await typesOf(receiver)).toEqual(['policy.finalize', 'policy.issue'])
    },
  )

  it('ends with the attempt that began after it, regardless of the earlier one', async () => {
    const { claim, claimed, ask, record } = await claimedLine()
    await ask(0)
    const later = await claimed()
    await record(claim, 'sent')
    expect((await deliveriesIn(tenant))[0]).toMatchObject({ state: 'pending', attempts: 0 })
    await record(later, 'sent')
    await record(claim, 'sent')
    expect((await deliveriesIn(tenant))[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })
})

describe('a test event', () => {
  it('is sent signed to its webhook only, even a disabled one, and is in no stream', async () => {
    const { at, receiver, secret, locator } = await hook([])
    const other = await hook([])
    await call('PATCH', at(), { enabled: false })
    const { status, body } = await call('POST', at('/test'))
    expect(status).toBe(200)
    expect(body).toEqual({
      eventLocator: expect.any(String),
      delivered: true,
      timestamp: expect.stringMatching(/Z$/),
      outcome: '200',
      status: 200,
      durationMs: expect.any(Number),
      excerpt: 'received',
    })
    const { headers, body: text } = (await receiver.received())[0]!
    expect(new Webhook(secret).verify(text, headers)).toMatchObject({
      id: body.eventLocator,
      type: 'webhook.test',
      sequence: 0,
      username: 'alice',
      data: { webhookLocator: locator },
    })
    expect(await other.receiver.received()).toEqual([])
    expect((await call('GET', '/eventstream/events?startTimestamp=0')).body.events).toEqual([])
  })

  it('reports why it failed', async () => {
    const { at } = await hook([{ status: 302, headers: { location: '/elsewhere' } }])
    expect((await call('POST', at('/test'))).body).toMatchObject({ delivered: false, status: 302 })
    await call('PATCH', at(), { endpoint: { url: 'http://127.0.0.1:9/' } })
    expect((await call('POST', at('/test'))).body).toMatchObject({ delivered: false, outcome: 'unreachable' })
    await call('PATCH', at(), { endpoint: { addHeaders: { 'x-key': '{{secret:none.key}}' } } })
    expect((await call('POST', at('/test'))).body).toMatchObject({
      delivered: false,
      outcome: 'secretMissing',
    })
  })
})

describe('diverted events', () => {
  it('can be listed, read, resent and discarded, and leave the list once they are delivered', async () => {
    const { at, receiver } = await hook(
      [{ status: 503 }, { status: 503 }, { status: 500 }, { status: 200 }],
      {
        failureHandling: diverting,
      },
    )
    const request = await happen(tenant, [policy(1), policy(2)])
    await deliver(tenant)
    const { body } = await call('GET', at('/diverted'))
    expect(body).toEqual(
      [1, 2].map(() => ({
        requestLocator: request,
        eventLocator: expect.any(String),
        failureTrigger: '503',
        failureMessage: 'The endpoint responded with 503.',
        failureTimestamp: expect.stringMatching(/Z$/),
      })),
    )
    expect((await call('GET', at('/diverted?offset=1&count=5'))).body).toEqual([body[1]])
    expect((await call('GET', at('/diverted?offset=10001'))).status).toBe(400)
    const [one, other] = body.map(({ eventLocator }: { eventLocator: string }) => eventLocator)
    expect((await call('GET', at(`/diverted/${one}`))).body).toEqual(body[0])
    expect((await call('GET', at())).body.divertedEvents).toBe(2)

    expect(await call('POST', at(`/diverted/${one}/resend`))).toMatchObject({ status: 200, body: undefined })
    await receiver.wait(3)
    await untilFinished(tenant)
    expect((await call('GET', at(`/diverted/${one}`))).body.failureTrigger).toBe('500')
    await call('POST', at(`/diverted/${one}/resend`))
    await receiver.wait(4)
    await untilFinished(tenant)
    expect((await call('GET', at('/diverted'))).body).toEqual([body[1]])
    expect((await call('GET', at(`/diverted/${one}`))).status).toBe(404)
    expect((await call('POST', at(`/diverted/${one}/resend`))).status).toBe(404)

    expect(await call('DELETE', at(`/diverted/${other}`))).toMatchObject({ status: 200, body: undefined })
    expect((await call('GET', at('/diverted'))).body).toEqual([])
    expect((await call('DELETE', at(`/diverted/${other}`))).status).toBe(404)
    expect(await deliveriesIn(tenant)).toMatchObject([
      { state: 'sent' },
      { state: 'failed', outcome: 'discarded' },
    ])
  })

  it('can be resent together by locator, by time or all', async () => {
    const { at, receiver } = await hook(
      [...Array.from({ length: 3 }, () => ({ status: 503 })), { status: 200 }],
      {
        failureHandling: diverting,
      },
    )
    await happen(tenant, [policy(1), policy(2), policy(3)])
    await deliver(tenant)
    const locators = (await call('GET', at('/diverted'))).body.map(
      ({ eventLocator }: { eventLocator: string }) => eventLocator,
    )
    const resend = (body: unknown) => call('POST', at('/diverted/resend'), body)
    for (const wrong of [{}, { all: true, eventLocators: locators }, { eventLocators: [newUuid(0)] }])
      expect((await resend(wrong)).status).toBe(400)
    expect((await resend({ to: '2020-01-01' })).body).toEqual({ events: 0 })
    expect((await resend({ eventLocators: [locators[0]] })).body).toEqual({ events: 1 })
    await receiver.wait(4)
    await untilFinished(tenant)
    expect((await resend({ all: true })).body).toEqual({ events: 2 })
    await receiver.wait(6)
    await untilFinished(tenant)
    expect((await call('GET', at('/diverted'))).body).toEqual([])
  })

  it('require diverted-events.list, and belong to their tenant', async () => {
    const { at } = await hook([{ status: 503 }], { failureHandling: diverting })
    await happen(tenant, [{}])
    await deliver(tenant)
    const employee = await clientOf(tenant, 'account.tenant.employee')
    expect(await employee('GET', at('/diverted'))).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('diverted-events.list') },
    })
    const stranger = await clientOf(await makeTenant())
    expect((await stranger('GET', at('/diverted'))).status).toBe(404)
  })
})
