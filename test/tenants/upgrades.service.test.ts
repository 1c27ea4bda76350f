// A fleet of tenant databases is brought up to the migrations that a deployment announces, by the Worker that serves.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { MOST_FAILURES, readMigrations } from '../../src/platform/database/migrations.ts'
import { consumeUpgrades, type Upgrade, upgradeDatabases } from '../../src/tenants/upgrades.ts'
import service from '../../src/worker.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { motorTenant } from '../support/motor.ts'

const DATABASES = 24
const MINUTE_MS = 60_000

afterEach(() => void vi.useRealTimers())

let releases = 0
let table = ''
let newest = ''

/** A release with one more migration. */
async function announce(statement = `create table ${table} (x integer)`): Promise<void> {
  const [migration] = await readMigrations({ [`${newest}.sql`]: statement })
  await env.CONTROL.prepare('insert into announced_migration (name, hash, statements) values (?, ?, ?)')
    .bind(newest, migration!.hash, JSON.stringify(migration!.statements))
    .run()
}

beforeEach(async () => {
  await prepareDatabases({ tenants: DATABASES })
  await env.CONTROL.prepare('update pool_database set problem = null, tried_at = null, tries = 0').run()
  releases += 1
  table = `made_up_${releases}`
  newest = `${9000 + releases}_made_up`
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

type Row = { binding: string; state: string; migration: string; problem: string | null; tries: number }

const rows = async (): Promise<Row[]> =>
  (await env.CONTROL.prepare('select * from pool_database order by binding').all<Row>()).results

/** Bindings of the databases that have the newest migration, by what the pool says and by what they have. */
async function upgraded(): Promise<string[]> {
  const noted = (await rows()).filter(({ migration }) => migration === newest).map(({ binding }) => binding)
  for (const binding of noted)
    expect(await boundDatabase(binding).prepare(`select count(*) as n from ${table}`).first('n')).toBe(0)
  return noted
}

/** The service with a queue that a test looks into. */
function withQueue() {
  const queue: Upgrade[] = []
  const sent: string[][] = []
  const UPGRADES = {
    async sendBatch(messages: Iterable<{ body: Upgrade }>) {
      const bodies = [...messages].map(({ body }) => body)
      queue.push(...bodies)
      sent.push(bodies.map(({ binding }) => binding))
    },
  }
  const watched = { ...env, UPGRADES } as unknown as Env
  let at = Date.now()
  return {
    sent,
    tick: (calls = noCalls()) => upgradeDatabases(watched, calls, at as Instant),
    pass(minutes: number) {
      at += minutes * MINUTE_MS
      vi.setSystemTime(at)
    },
    /** Delivers what lies in the queue, as one batch. */
    async deliver() {
      const messages = queue.splice(0).map(body => ({ body }))
      await consumeUpgrades({ messages } as unknown as MessageBatch<unknown>, watched)
    },
  }
}

describe('a release with a migration', () => {
  it('begins with one free database, goes on with ten times what is finished, and leaves no one out', async () => {
    const { tenantLocator } = await motorTenant(`upgraded${releases}`)
    const { binding: used } = (await env.CONTROL.prepare('select binding from shard where tenant_locator = ?')
      .bind(tenantLocator)
      .first<{ binding: string }>())!
    await announce()
    const { sent, tick, deliver } = withQueue()
    await tick()
    expect(sent.map(({ length }) => length)).toEqual([1])
    expect(sent[0]).not.toContain(used)
    await tick()
    expect(sent).toHaveLength(1)
    await deliver()
    expect(sent.map(({ length }) => length)).toEqual([1, 10])
    expect(sent.flat()).not.toContain(used)
    await deliver()
    expect(sent.map(({ length }) => length)).toEqual([1, 10, DATABASES - 11])
    expect(sent[2]).toContain(used)
    await deliver()
    expect(await upgraded()).toHaveLength(DATABASES)
    const calls = noCalls()
    await tick(calls)
    expect(calls).toMatchObject({ d1: 1, queue: 0 })
    expect(new Set(sent.flat()).size).toBe(DATABASES)
    expect(sent.flat()).toHaveLength(DATABASES)
  })

  it('goes by the minute and its queue, without anybody’s help', async () => {
    await announce()
    await service.scheduled({} as never, env)
    await expect.poll(async () => (await upgraded()).length).toBe(DATABASES)
  })

  it('is no trouble for others where one database cannot be migrated; mended, it follows', async () => {
    const broken = poolBinding(3)
    const motor = await motorTenant(`served${releases}`)
    await boundDatabase(broken).prepare(`create table ${table} (y text)`).run()
    await announce()
    const { tick, deliver, pass, sent } = withQueue()
    await tick()
    for (let round = 0; round < 4; round += 1) await deliver()
    expect(await upgraded()).toHaveLength(DATABASES - 1)
    const [failed] = (await rows()).filter(({ problem }) => problem !== null)
    expect(failed).toMatchObject({ binding: broken, tries: 1, problem: expect.stringContaining(table) })
    expect((await motor.createPolicy()).status).toBe(200)
    const before = sent.length
    pass(1)
    await tick()
    expect(sent).toHaveLength(before)
    await boundDatabase(broken).prepare(`drop table ${table}`).run()
    pass(1)
    await tick()
    expect(sent.at(-1)).toEqual([broken])
    await deliver()
    expect(await upgraded()).toHaveLength(DATABASES)
    expect((await rows()).filter(({ tries, problem }) => tries > 0 || problem !== null)).toEqual([])
  })

  it('that no database can have is stopped after ten', async () => {
    await announce('insert into nowhere values (1)')
    const { tick, deliver, sent, pass } = withQueue()
    for (let round = 0; round < DATABASES; round += 1) {
      await tick()
      await deliver()
      pass(0.05)
    }
    expect(sent.flat().length).toBeLessThanOrEqual(MOST_FAILURES + 10)
    expect(await upgraded()).toEqual([])
    const failed = (await rows()).filter(({ problem }) => problem !== null)
    expect(failed).toHaveLength(MOST_FAILURES)
    await env.CONTROL.prepare('delete from announced_migration where name = ?').bind(newest).run()
  })

  it('is given once to a database that two look at, and a lost message costs two minutes', async () => {
    await announce()
    const [one, other] = [withQueue(), withQueue()]
    await Promise.all([one.tick(), other.tick()])
    expect([...one.sent, ...other.sent].flat()).toHaveLength(1)
    const lost = [...one.sent, ...other.sent].flat()[0]
    const later = withQueue()
    later.pass(2)
    await later.tick()
    expect(later.sent).toEqual([[lost]])
    await later.deliver()
    for (let round = 0; round < 3; round += 1) await later.deliver()
    expect(await upgraded()).toHaveLength(DATABASES)
  })

  it('waits for those that are under way, however many these are', async () => {
    await announce()
    const { tick, sent } = withQueue()
    const begun = poolBinding(4)
    await env.CONTROL.prepare('update pool_database set tried_at = ?, tries = 1 where binding <= ?')
      .bind(Date.now(), begun)
      .run()
    await tick()
    expect(sent).toEqual([])
    await env.CONTROL.prepare('delete from announced_migration where name = ?').bind(newest).run()
  })

  it('reaches what is new last, and what the Worker does not bind yet with the next deployment', async () => {
    await env.CONTROL.prepare(
      `insert into pool_database (binding, state, migration) values ('TENANT_9999', 'free', '')`,
    ).run()
    const { tick, sent } = withQueue()
    await tick()
    expect(sent).toEqual([])
    await env.CONTROL.prepare(
      `update pool_database set binding = 'TENANT_040' where binding = 'TENANT_9999'`,
    ).run()
    await tick()
    expect(sent).toEqual([['TENANT_040']])
  })
})
