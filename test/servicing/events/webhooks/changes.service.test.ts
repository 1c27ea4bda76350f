import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { auditRoutes } from '../../../../src/access/audit/routes.ts'
import { newUuid } from '../../../../src/kernel/locators.ts'
import { shardName, type Tenant } from '../../../../src/platform/tenancy.ts'
import { dispatchDue } from '../../../../src/servicing/events/dispatch.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { openReceiver } from '../../../support/receiver.ts'
import type { Received } from '../../../support/receiver-server.ts'
import { type Client, clientOf } from '../http.ts'
import {
  deliver,
  deliverByObjects,
  deliveriesIn,
  happen,
  letPass,
  makeTenant,
  untilFinished,
} from '../tenant.ts'

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
  eventTypes: ['policy.*', 'policyholder.create'],
  ...changes,
})

const createWebhook = async (changes: Record<string, unknown> = {}) =>
  (await call('POST', path, wish(changes))).body

const clientIn = (of: Tenant, shard: number) =>
  (env as unknown as Record<string, D1Database>)[of.shards[shard]!]!

const types = (received: readonly Received[]): string[] => received.map(({ body }) => JSON.parse(body).type)

describe('PATCH /event/{tenantLocator}/webhooks/{webhookLocator}', () => {
  it('changes the given properties, removals first, and returns the webhook', async () => {
    const before = await createWebhook()
    const { status, body } = await call('PATCH', `${path}/${before.locator}`, {
      name: 'front desk',
      enabled: false,
      endpoint: {
        url: 'https://desk.example.com/',
        addHeaders: { 'x-desk': ['8'], 'x-floor': '2' },
        removeHeaders: ['x-desk', 'x-none'],
        tag: 'v2',
      },
      failureHandling: {
        addTriggers: ['3xx'],
        removeTriggers: ['4xx', '418'],
        retryStrategy: { type: 'linear', interval: 60, attempts: 5 },
        divert: true,
        suspend: true,
        alertEndpoint: { url: 'https://alerts.example.com/', hmacEnabled: false },
      },
      addEventTypes: ['policy.issue', 'payment.*'],
      removeEventTypes: ['policy.issue', 'policy.*', 'no.such'],
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      locator: before.locator,
      name: 'front desk',
      enabled: false,
      endpoint: {
        url: 'https://desk.example.com/',
        headers: { 'x-desk': ['8'], 'x-floor': ['2'] },
        secureSsl: true,
        hmacEnabled: true,
        secret: '********',
        tag: 'v2',
      },
      failureHandling: {
        triggers: ['5xx', 'timeout', '3xx'],
        retryStrategy: { type: 'linear', interval: 60, attempts: 5 },
        divert: true,
        suspend: true,
        alertEndpoint: {
          url: 'https://alerts.example.com/',
          headers: {},
          secureSsl: true,
          hmacEnabled: false,
        },
      },
      suspended: false,
      suspendedAt: null,
      eventTypes: ['policyholder.create', 'policy.issue', 'payment.*'],
    })
    expect((await call('GET', `${path}/${before.locator}`)).body).toEqual(body)
    const back = await call('PATCH', `${path}/${before.locator}`, { removeFailureHandling: true })
    expect(back.body.failureHandling).toEqual({
      triggers: ['4xx', '5xx', 'timeout'],
      retryStrategy: { type: 'exponential', interval: 5, attempts: 15 },
      divert: false,
      suspend: false,
    })
  })

  it('returns a generated secret only in its response, and masks headers that look secret', async () => {
    const { locator } = await createWebhook({
      endpoint: { url: 'https://a.example.com/', hmacEnabled: false },
    })
    const { body } = await call('PATCH', `${path}/${locator}`, {
      endpoint: {
        hmacEnabled: true,
        addHeaders: { authorization: ['Bearer abc'], 'x-key': ['{{secret:desk.key}}'] },
      },
    })
    expect(body.endpoint.secret).toMatch(/^whsec_/)
    expect(body.endpoint.headers).toEqual({
      authorization: ['********'],
      'x-key': ['{{secret:desk.key}}'],
    })
    expect((await call('GET', `${path}/${locator}`)).body.endpoint.secret).toBe('********')
  })

  it('returns a generated secret to a repeat with the same key until the webhook is changed again', async () => {
    const { locator } = await createWebhook({
      endpoint: { url: 'https://a.example.com/', hmacEnabled: false },
    })
    const key = { 'idempotency-key': newUuid(0) }
    const patch = (body: object, headers = {}) => call('PATCH', `${path}/${locator}`, body, headers)
    const alerting = {
      endpoint: { hmacEnabled: true },
      failureHandling: { alertEndpoint: { url: 'https://b.example.com/' } },
    }
    const first = await patch(alerting, key)
    const { endpoint, failureHandling } = first.body
    for (const secret of [endpoint.secret, failureHandling.alertEndpoint.secret])
      expect(secret).toMatch(/^whsec_/)
    expect((await patch(alerting, key)).body).toEqual(first.body)
    const other = { 'idempotency-key': newUuid(0) }
    for (const headers of [other, other, key]) {
      const { status, body } = await patch(headers === key ? alerting : { divert: true }, headers)
      expect(status).toBe(200)
      expect(body.endpoint.secret).toBe('********')
      expect(body.failureHandling.alertEndpoint.secret).toBe('********')
    }
  })

  it('rejects what creating a webhook would reject, and a taken name', async () => {
    await createWebhook({ name: 'first' })
    const { locator } = await createWebhook({ name: 'second' })
    const patch = (body: unknown) => call('PATCH', `${path}/${locator}`, body)
    expect(await patch({ name: 'first' })).toMatchObject({ status: 409, body: { code: 'alreadyExists' } })
    for (const wrong of [
      { endpoint: { url: 'https://10.0.0.1/' } },
      { endpoint: { url: 'https://a:b@example.com/' } },
      { endpoint: { addHeaders: { Host: ['x'] } } },
      { endpoint: { secret: 'whsec_no base64' } },
      { failureHandling: { addTriggers: ['later'] } },
      { failureHandling: { alertEndpoint: { url: 'https://169.254.169.254/' } } },
      { addEventTypes: ['policy.explode'] },
    ])
      expect(await patch(wrong)).toMatchObject({ status: 400, body: { code: 'invalidRequest' } })
    expect((await call('GET', `${path}/${locator}`)).body.name).toBe('second')
    expect((await call('PATCH', `${path}/${newUuid(0)}`, {})).status).toBe(404)
  })

  it('keeps all of several simultaneous changes', async () => {
    const { locator } = await createWebhook({ eventTypes: [] })
    const more = ['policy.create', 'policy.issue', 'payment.pay']
    const answers = await Promise.all(
      more.map(type => call('PATCH', `${path}/${locator}`, { addEventTypes: [type] })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const { body } = await call('GET', `${path}/${locator}`)
    expect([...body.eventTypes].sort()).toEqual([...more].sort())
  })

  it('is recorded in the audit trail without values, as are creation and deletion', async () => {
    const { locator } = await createWebhook()
    await call('PATCH', `${path}/${locator}`, { name: 'other', endpoint: { secret: 'a new secret' } })
    await call('DELETE', `${path}/${locator}`)
    const audit = await clientOf(tenant, 'account.test.tenant.admin', auditRoutes)
    const { body } = await audit('GET', '/audit/list')
    expect(
      body.entries.map(({ action, subject, details }: Record<string, unknown>) => [action, subject, details]),
    ).toEqual([
      ['webhooks.write', locator, { name: 'claims desk' }],
      ['webhooks.write', locator, { name: 'other', changes: ['name', 'endpoint'] }],
      ['webhooks.delete', locator, { name: 'other' }],
    ])
  })
})

describe('secrets of webhooks', () => {
  it('sign together for a day after a change, as the Standard Webhooks library verifies', async () => {
    const receiver = await openReceiver()
    const { locator, endpoint } = await createWebhook({ endpoint: { url: receiver.url } })
    const secret = `whsec_${Buffer.from('another secret of enough bytes').toString('base64')}`
    await call('PATCH', `${path}/${locator}`, { endpoint: { secret } })
    await happen(tenant, [{}])
    await deliverByObjects(tenant)
    const { headers, body } = (await receiver.received())[0]!
    for (const valid of [secret, endpoint.secret])
      expect(new Webhook(valid).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook(`whsec_${btoa('not this one at all, no')}`).verify(body, headers)).toThrow()
  })

  it('are sealed in the database with headers and URLs, and can be opened for their own webhook only', async () => {
    const secret = 'a secret of the client'
    const endpoint = { url: 'https://a.example.com/?key=hidden', secret, headers: { 'x-a': ['plain'] } }
    const { locator } = await createWebhook({ endpoint, failureHandling: { alertEndpoint: endpoint } })
    await createWebhook({ name: 'other' })
    const client = clientIn(tenant, 0)
    const text = JSON.stringify(await client.prepare('select * from webhook').all())
    const kept = JSON.stringify(await client.prepare('select * from write').all())
    for (const word of [secret, 'hidden', 'plain', 'a.example.com']) expect(text).not.toContain(word)
    expect(kept).not.toContain(secret)
    await client
      .prepare(
        `update webhook set connections = (select connections from webhook where name <> 'other') where name = 'other'`,
      )
      .run()
    expect((await call('GET', `${path}/${locator}`)).status).toBe(200)
    expect((await call('GET', `${path}/list`)).status).toBe(500)
  })
})

describe('a suspended webhook', () => {
  const suspending = {
    triggers: ['5xx'],
    retryStrategy: { type: 'linear', interval: 60, attempts: 2 },
    suspend: true,
  }

  const outage = async (changes: Record<string, unknown> = {}) => {
    const receiver = await openReceiver({ status: 500 }, { status: 500 }, { status: 200 })
    const { locator } = await createWebhook({
      endpoint: { url: receiver.url },
      failureHandling: { ...suspending, ...changes },
    })
    const line = { policyLocator: 100_000_001 as never }
    await happen(tenant, [
      { ...line, type: 'policy.create' },
      { ...line, type: 'policy.finalize' },
    ])
    await deliver(tenant)
    await letPass(tenant, 66_000)
    await deliver(tenant)
    await happen(tenant, [{ ...line, type: 'policy.issue' }])
    return { receiver, locator }
  }

  it('counts the events that it misses, and sends them in order when it is resumed with replay', async () => {
    const { receiver, locator } = await outage()
    expect((await call('GET', `${path}/${locator}`)).body).toMatchObject({
      suspended: true,
      skippedEvents: 3,
    })
    expect(await call('PATCH', `${path}/${locator}/unsuspend?replay=true`)).toMatchObject({
      status: 200,
      body: undefined,
    })
    await receiver.wait(5)
    await untilFinished(tenant)
    const all = types(await receiver.received())
    expect(all).toEqual([
      'policy.create',
      'policy.create',
      'policy.create',
      'policy.finalize',
      'policy.issue',
    ])
    expect((await deliveriesIn(tenant)).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent'])
    expect((await call('GET', `${path}/${locator}`)).body).toMatchObject({
      suspended: false,
      suspendedAt: null,
    })
  })

  it('continues without the missed events when it is resumed without replay, and can redeliver them', async () => {
    const { receiver, locator } = await outage()
    await call('PATCH', `${path}/${locator}/unsuspend`)
    await happen(tenant, [{ type: 'policy.cancel', policyLocator: 100_000_001 as never }])
    await deliverByObjects(tenant)
    expect(types(await receiver.received()).slice(2)).toEqual(['policy.cancel'])
    expect((await deliveriesIn(tenant)).map(({ state }) => state)).toEqual([
      'failed',
      'failed',
      'failed',
      'sent',
    ])
    const again = await call('POST', `${path}/${locator}/redeliver`, { from: 0 })
    expect(again).toMatchObject({ status: 200, body: { events: 4 } })
    await receiver.wait(7)
    expect(types(await receiver.received()).slice(3)).toEqual([
      'policy.create',
      'policy.finalize',
      'policy.issue',
      'policy.cancel',
    ])
  })

  it('diverts the events that it misses if divert is set, and sends them on replay', async () => {
    const { receiver, locator } = await outage({ divert: true })
    const listed = await call('GET', `${path}/${locator}/diverted`)
    expect(listed.body.map(({ failureTrigger }: { failureTrigger: string }) => failureTrigger)).toEqual([
      '500',
      'suspended',
      'suspended',
    ])
    expect(await call('POST', `${path}/${locator}/diverted/resend`, { all: true })).toMatchObject({
      status: 409,
      body: { code: 'wrongState' },
    })
    await call('PATCH', `${path}/${locator}/unsuspend?replay=true`)
    await receiver.wait(5)
    await untilFinished(tenant)
    expect((await call('GET', `${path}/${locator}/diverted`)).body).toEqual([])
  })

  it('alerts its alert endpoint once, signed with the secret of that endpoint', async () => {
    const alerts = await openReceiver()
    const { locator } = await outage({ alertEndpoint: { url: alerts.url, secret: 'alert secret' } })
    const [alert, ...more] = await alerts.wait(1)
    expect(more).toEqual([])
    const { body, headers } = alert!
    expect(JSON.parse(body)).toEqual({
      webhookLocator: locator,
      name: 'claims desk',
      eventLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
      failureTrigger: '500',
      failureMessage: 'The endpoint responded with 500.',
      suspended: true,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(new Webhook(Buffer.from('alert secret'), { format: 'raw' }).verify(body, headers)).toBeTruthy()
  })

  it('alerts its alert endpoint once for simultaneous failures in one shard and in two', async () => {
    const wide = await makeTenant(2)
    const client = await clientOf(wide)
    const [receiver, alerts] = [await openReceiver({ status: 500, held: true }), await openReceiver()]
    const failureHandling = { triggers: ['5xx'], suspend: true, alertEndpoint: { url: alerts.url } }
    await client(
      'POST',
      `/event/${wide.locator}/webhooks`,
      wish({ endpoint: { url: receiver.url }, failureHandling }),
    )
    await happen(wide, [{}, {}])
    await happen(wide, [{}], 1)
    const delivering = [deliver(wide), deliver(wide, 1)]
    await receiver.wait(3)
    await receiver.answer({ status: 500 })
    // A delivery awaits its alert before it ends.
    await Promise.all(delivering)
    expect((await alerts.received()).map(({ body }) => JSON.parse(body).suspended)).toEqual([true])
  })
})

describe('webhooks in a tenant of several shards', () => {
  it('are changed, suspended and replayed in every shard, by a timer after a crash', async () => {
    const wide = await makeTenant(3)
    const client = await clientOf(wide)
    const receiver = await openReceiver({ status: 410 }, { status: 200 })
    const base = `/event/${wide.locator}/webhooks`
    const { body } = await client('POST', base, wish({ endpoint: { url: receiver.url } }))
    await happen(wide, [{}], 2)
    await deliver(wide, 2)
    for (const shard of [0, 1, 2]) await happen(wide, [{}], shard)
    expect((await client('GET', `${base}/${body.locator}`)).body).toMatchObject({
      suspended: true,
      skippedEvents: 4,
    })
    // The home shard is updated, and the copies are not, as after a crash.
    const before = await clientIn(wide, 1).prepare('select * from webhook').all()
    await client('PATCH', `${base}/${body.locator}/unsuspend?replay=true`)
    await receiver.wait(5)
    for (const shard of [0, 1, 2]) await untilFinished(wide, shard)
    expect((await client('GET', `${base}/${body.locator}`)).body).not.toHaveProperty('skippedEvents')
    const { version, suspended_at } = before.results[0] as { version: number; suspended_at: number }
    await clientIn(wide, 1)
      .prepare('update webhook set version = ?, suspended_at = ?')
      .bind(version, suspended_at)
      .run()
    await happen(wide, [{}], 1)
    expect(await deliveriesIn(wide, 1)).toMatchObject([{ state: 'sent' }, { state: 'skipped' }])
    await letPass(wide, 60_000)
    await dispatchDue(env, shardName(wide, 0))
    await deliver(wide, 1)
    expect(await deliveriesIn(wide, 1)).toMatchObject([{ state: 'sent' }, { state: 'sent' }])
  })
})

it('GET /webhooks/list returns an array, or pages of items with extended=true', async () => {
  for (const name of ['one', 'two', 'three']) await createWebhook({ name })
  const names = (items: { name: string }[]) => items.map(({ name }) => name)
  const page = await call('GET', `${path}/list?extended=true&count=2`)
  expect([page.body.listCompleted, names(page.body.items)]).toEqual([false, ['one', 'two']])
  const last = await call('GET', `${path}/list?extended=true&count=2&offset=2`)
  expect([last.body.listCompleted, names(last.body.items)]).toEqual([true, ['three']])
  expect(names((await call('GET', `${path}/list?count=1`)).body)).toEqual(['one'])
})
