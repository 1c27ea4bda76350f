import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { noCalls } from '../../../src/platform/calls.ts'
import { KEEP_WRITES_MS } from '../../../src/platform/commit.ts'
import { armDispatcher, WATCH_MS } from '../../../src/platform/events/outbox.ts'
import { callForReply, dispatcherObject } from '../../../src/platform/objects.ts'
import { shardName, type Tenant } from '../../../src/platform/tenancy.ts'
import { dispatchDue } from '../../../src/servicing/events/dispatch.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { openReceiver } from '../../support/receiver.ts'
import { deliver, deliveriesIn, happen, makeTenant, makeWebhook, requestOf } from './tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 24 }))

let tenant: Tenant
let client: D1Database

beforeEach(async () => {
  tenant = await makeTenant()
  client = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
})

const DAY_MS = 24 * 60 * 60 * 1000
const work = () => dispatchDue(env, shardName(tenant, 0))
const count = async (table: string) =>
  (await client.prepare(`select count(*) as n from ${table}`).first<{ n: number }>())!.n

describe('the dispatcher', () => {
  it('sends deliveries whose hint was lost', async () => {
    const receiver = await openReceiver()
    await makeWebhook(tenant, { url: receiver.url })
    await happen(tenant, [{}])
    await work()
    expect(await receiver.wait(1)).toHaveLength(1)
  })

  it('returns when the next retry is due', async () => {
    const receiver = await openReceiver({ status: 500 })
    const retryStrategy = { type: 'linear', interval: 100, attempts: 2 }
    await makeWebhook(tenant, { url: receiver.url, failureHandling: { retryStrategy } })
    await happen(tenant, [{}])
    await deliver(tenant)
    const due = await work()
    expect(due).toBe((await deliveriesIn(tenant))[0]!.due_at)
    expect(due! - Date.now()).toBeGreaterThan(85_000)
  })

  it('has no work for a tenant without writes, or with a former generation', async () => {
    expect(await work()).toBeUndefined()
    await happen(tenant, [{}])
    expect(await work()).toBeTypeOf('number')
    expect(await dispatchDue(env, { ...shardName(tenant, 0), generation: 2 })).toBeUndefined()
  })

  it('keeps a timer of an unknown kind, and tries it again at most once a minute', async () => {
    await client.exec(
      `insert into timer (locator, due_at, kind, subject, payload) values ('t', 0, 'of.tomorrow', '', '{}')`,
    )
    const due = await work()
    expect(due! - Date.now()).toBeGreaterThan(50_000)
    expect(await count('timer')).toBe(1)
  })
})

describe('the table of writes', () => {
  const age = (ms: number) => client.prepare('update write set at = at - ?').bind(ms).run()

  it('is purged after 30 days, in bounded steps, until only younger rows remain', async () => {
    await client.exec(
      `insert into write (key, body_hash, status, subject, at) with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) select 'old' || i, '', 200, '', 0 from n`,
    )
    await happen(tenant, [])
    for (const left of [1_501, 501]) {
      expect(await work()).toBeLessThanOrEqual(Date.now())
      expect(await count('write')).toBe(left)
    }
    const due = await work()
    expect(await count('write')).toBe(1)
    expect(due! - Date.now()).toBeGreaterThan(KEEP_WRITES_MS - DAY_MS)
  })

  it('is checked at most once a day, and not at all when it is empty', async () => {
    await happen(tenant, [])
    await work()
    await age(KEEP_WRITES_MS - 1_000)
    const due = await work()
    expect(due! - Date.now()).toBeGreaterThan(DAY_MS - 60_000)
    await age(2_000)
    expect(await work()).toBeUndefined()
    expect(await count('write')).toBe(0)
  })
})

describe('the alarm of the dispatcher', () => {
  const object = () => dispatcherObject(env, tenant, 0)
  const alarmOf = () => runInDurableObject(object(), (_, state) => state.storage.getAlarm())

  it('is set to the earliest requested time', async () => {
    const at = Date.now() + 50_000
    await object().arm(shardName(tenant, 0), at)
    await object().arm(shardName(tenant, 0), at + 5_000)
    expect(await alarmOf()).toBe(at)
    await object().arm(shardName(tenant, 0), at - 5_000)
    expect(await alarmOf()).toBe(at - 5_000)
  })

  it('is set again for a later requested time, since its commit may not have been there before', async () => {
    const at = Date.now() + 50_000
    await object().arm(shardName(tenant, 0), at - 30_000)
    await object().arm(shardName(tenant, 0), at)
    expect(await runDurableObjectAlarm(object())).toBe(true)
    expect(await alarmOf()).toBe(at)
  })

  it('fires every minute until it has fired after the requested time', async () => {
    const at = Date.now() + 50_000
    const until = Date.now() + 100_000
    expect(await object().arm(shardName(tenant, 0), at, until)).toBe(until)
    expect(await alarmOf()).toBe(at)
    await runDurableObjectAlarm(object())
    expect((await alarmOf())! - Date.now()).toBeLessThanOrEqual(60_000)
    expect((await alarmOf())! - Date.now()).toBeGreaterThan(55_000)
    vi.setSystemTime(until - 10_000)
    await runDurableObjectAlarm(object())
    expect(await alarmOf()).toBe(until)
    vi.setSystemTime(until + 1)
    await runDurableObjectAlarm(object())
    expect(await alarmOf()).toBeNull()
    vi.useRealTimers()
  })

  it('is requested once in 150 s by an isolate that keeps committing', async () => {
    const begun = Date.now()
    const calls = noCalls()
    const context = requestOf(tenant, { calls })
    for (const ms of [0, 60_000, 120_000, 149_000]) {
      vi.setSystemTime(begun + ms)
      await armDispatcher(context, 0)
    }
    expect(calls.object).toBe(1)
    vi.setSystemTime(begun + 151_000)
    await armDispatcher(context, 0)
    expect(calls.object).toBe(2)
    expect(await runInDurableObject(object(), (_, state) => state.storage.get('lookAt'))).toBe(
      begun + 151_000 + WATCH_MS,
    )
    // An object of an earlier release returns nothing and fires once only.
    const former = { idFromName: () => undefined, get: () => ({ arm: async () => undefined }) }
    const other = requestOf(await makeTenant(), { env: { ...env, DISPATCHER: former } as never, calls })
    for (const ms of [0, 29_000, 31_000]) {
      vi.setSystemTime(begun + ms)
      await armDispatcher(other, 0)
    }
    expect(calls.object).toBe(4)
    vi.useRealTimers()
  })

  it('needs one round trip to the database when nothing is due', async () => {
    await happen(tenant, [])
    const calls = noCalls()
    await dispatchDue(env, shardName(tenant, 0), calls)
    expect(calls.d1 - calls.control).toBe(1)
    expect(calls.rowsWritten).toBe(0)
  })

  it('is not lost when it is requested while the dispatcher works', async () => {
    const receiver = await openReceiver({ status: 200, held: true })
    await makeWebhook(tenant, { url: receiver.url })
    await happen(tenant, [{}])
    await client.exec('delete from write')
    await object().arm(shardName(tenant, 0), Date.now() + 10)
    await receiver.wait(1)
    const at = Date.now() + 59_000
    await object().arm(shardName(tenant, 0), at)
    await receiver.answer({ status: 200 })
    await expect.poll(() => deliveriesIn(tenant)).toMatchObject([{ state: 'sent' }])
    await expect.poll(alarmOf).toBe(at)
  })

  it('is cleared when nothing is waiting', async () => {
    await object().arm(shardName(tenant, 0), Date.now() + 10)
    await expect.poll(alarmOf).toBeNull()
  })

  it('stays set when the work fails', async () => {
    await client.exec('drop table delivery')
    await object().arm(shardName(tenant, 0), Date.now() + 10)
    await expect.poll(async () => ((await alarmOf()) ?? 0) - Date.now()).toBeGreaterThan(40_000)
  })

  it('does not block leasing numbers, each of which is leased once', async () => {
    const leased = async (count: number) =>
      await callForReply(noCalls(), () => object().leaseBlock(tenant, 0, count))
    const blocks = await Promise.all(Array.from({ length: 20 }, () => leased(10)))
    const starts = blocks.map(({ next }) => next).sort((a, b) => a - b)
    expect(starts).toEqual(Array.from({ length: 20 }, (_, n) => starts[0]! + n * 10))
  })
})
