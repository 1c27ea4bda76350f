// The deployed Worker migrates all tenant databases to the migrations that a deployment announces.
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

/** Announces a release with one more migration. */
async function announce(statement = `create table ${table} (x integer)`): Promise<void> {
  const [migration] = await readMigrations({ [`${newest}.sql`]: statement })
  await env.CONTROL.prepare('insert into announced_migration (name, hash, statements) values (?, ?, ?)')
    .bind(newest, migration!.hash, JSON.stringify(migration!.statements))
    .run()
}

function nextRelease(): void {
  releases += 1
  newest = `${9000 + releases}_made_up`
}

beforeEach(async () => {
  await prepareDatabases({ tenants: DATABASES })
  await env.CONTROL.prepare('update pool_database set problem = null, tried_at = null, tries = 0').run()
  nextRelease()
  table = `made_up_${releases}`
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

type Row = { binding: string; state: string; migration: string; problem: string | null; tries: number }

const rows = async (): Promise<Row[]> =>
  (await env.CONTROL.prepare('select * from pool_database order by binding').all<Row>()).results

/** Bindings of the databases with the newest migration, according to the pool. Checks that each has the new table. */
async function upgraded(): Promise<string[]> {
  const noted = (await rows()).filter(({ migration }) => migration === newest).map(({ binding }) => binding)
  for (const binding of noted)
    expect(await boundDatabase(binding).prepare(`select count(*) as n from ${table}`).first('n')).toBe(0)
  return noted
}

/** The service with a queue that a test can inspect. Some databases can be replaced. */
function withQueue(databases: Record<string, D1Database> = {}) {
  const queue: Upgrade[] = []
  const sent: string[][] = []
  const UPGRADES = {
    async sendBatch(messages: Iterable<{ body: Upgrade }>) {
      const bodies = [...messages].map(({ body }) => body)
      queue.push(...bodies)
      sent.push(bodies.map(({ binding }) => binding))
    },
  }
  const watched = { ...env, ...databases, UPGRADES } as unknown as Env
  let at = Date.now()
  return {
    sent,
    tick: (calls = noCalls()) => upgradeDatabases(watched, calls, at as Instant),
    pass(minutes: number) {
      at += minutes * MINUTE_MS
      vi.setSystemTime(at)
    },
    /** Delivers the messages in the queue as one batch. */
    async deliver() {
      const messages = queue.splice(0).map(body => ({ body }))
      await consumeUpgrades({ messages } as unknown as MessageBatch<unknown>, watched)
    },
  }
}

describe('a release with a migration', () => {
  it('starts with one free database, continues with ten times the finished number, and reaches all', async () => {
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

  it('is carried out by the scheduled run and its queue without further action', async () => {
    await announce()
    await service.scheduled({} as never, env)
    await expect.poll(async () => (await upgraded()).length).toBe(DATABASES)
  })

  it('does not affect other databases if one fails, and retries the failed one', async () => {
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

  it('that fails everywhere stops after ten failed databases', async () => {
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

  it('is sent once to a database by simultaneous runs, and again two minutes after a lost message', async () => {
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

  /** Creates a table in every database, with this number of rows in the fifth. */
  async function filledTable(rows: number): Promise<D1Database> {
    await announce(`create table ${table} (x integer primary key, y text)`)
    const { tick, deliver } = withQueue()
    await tick()
    for (let round = 0; round < 3; round += 1) await deliver()
    expect(await upgraded()).toHaveLength(DATABASES)
    const client = boundDatabase(FILLED)
    await client
      .prepare(
        `with recursive n(x) as (select 1 union all select x + 1 from n where x < ?) insert into ${table} select x, 'y' from n`,
      )
      .bind(rows)
      .run()
    nextRelease()
    return client
  }
  const FILLED = poolBinding(5)
  const move = (): string =>
    `-- moves: ${table}\ncreate table ${table}_moved (y text, x integer primary key not null) without rowid`

  const numbersIn = (client: D1Database) =>
    client
      .prepare(
        `select count(*) as rows, count(distinct x) as numbers, min(x) as least, max(x) as most from ${table}`,
      )
      .first()

  it('moves the tables of a large database in several messages, without delaying other databases', async () => {
    const former = newest
    const client = await filledTable(300_000)
    await announce(move())
    const { tick, deliver, sent } = withQueue()
    await tick()
    await deliver()
    await deliver()
    // The others of its batch are done. The large one continues immediately, and so do all other databases.
    expect(sent.map(({ length }) => length)).toEqual([1, 10, 1, DATABASES - 11])
    expect(sent[2]).toEqual([FILLED])
    const filled = async () => (await rows()).find(({ binding }) => binding === FILLED)
    expect(await filled()).toMatchObject({ migration: former, problem: null, tries: 1 })
    await client.batch([
      client.prepare(`delete from ${table} where x <= 1000`),
      client.prepare(`insert into ${table} (x, y) values (400000, 'late')`),
    ])
    await deliver()
    expect(await filled()).toMatchObject({ migration: newest, problem: null, tries: 0 })
    expect((await rows()).filter(({ migration }) => migration === newest)).toHaveLength(DATABASES)
    expect(await numbersIn(client)).toEqual({ rows: 299_001, numbers: 299_001, least: 1_001, most: 400_000 })
    await client.prepare(`drop table ${table}`).run()
  })

  it('resumes an interrupted move where it stopped', async () => {
    const client = await filledTable(30_000)
    await announce(move())
    let batches = 0
    let isBroken = true
    const failing = {
      prepare: (text: string) => client.prepare(text),
      batch: (statements: D1PreparedStatement[]) => {
        batches += 1
        if (isBroken && batches > 6) throw new Error('D1_ERROR: Network connection lost.')
        return client.batch(statements)
      },
    } as unknown as D1Database
    const { tick, deliver, pass, sent } = withQueue({ [FILLED]: failing })
    await tick()
    for (let round = 0; round < 4; round += 1) await deliver()
    const [failed] = (await rows()).filter(({ problem }) => problem !== null)
    expect(failed).toMatchObject({ binding: FILLED, problem: expect.stringContaining('lost') })
    expect((await rows()).filter(({ migration }) => migration === newest)).toHaveLength(DATABASES - 1)
    const reached = await client.prepare('select reached from migration_move').first<number>('reached')
    expect(reached).toBeGreaterThan(0)
    isBroken = false
    pass(3)
    await tick()
    expect(sent.at(-1)).toEqual([FILLED])
    await deliver()
    expect((await rows()).filter(({ migration }) => migration !== newest)).toEqual([])
    expect(await numbersIn(client)).toEqual({ rows: 30_000, numbers: 30_000, least: 1, most: 30_000 })
    await client.prepare(`drop table ${table}`).run()
  })

  it('starts no database while earlier ones are in progress, regardless of their number', async () => {
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

  it('includes a new database only once the Worker binds it', async () => {
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
