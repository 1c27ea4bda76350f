// The clock of a tenant with several shards: all of them have the same time.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant, type Tenant, tenantNow } from '../../src/platform/tenancy.ts'
import { moveClock } from '../../src/tenants/clock.ts'
import { makeTenant, requestOf } from '../servicing/events/tenant.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'

beforeAll(() => prepareDatabases({ tenants: 8 }))

const HOUR_MS = 3_600_000

const setTimer = (tenant: Tenant, shard: number, kind: string, dueAt: number) =>
  boundDatabase(tenant.shards[shard]!)
    .prepare(`insert into timer (locator, due_at, kind, subject, payload) values (?, ?, ?, 'x', '{}')`)
    .bind(crypto.randomUUID(), dueAt, kind)
    .run()

const dueTimes = (tenant: Tenant): Promise<number[][]> =>
  Promise.all(
    tenant.shards.map(async binding => {
      const { results } = await boundDatabase(binding)
        .prepare('select due_at from timer order by due_at')
        .all<{ due_at: number }>()
      return results.map(row => row.due_at)
    }),
  )

it('moving the clock fires timers that are due in any shard, and leaves later ones', async () => {
  const tenant = await makeTenant(3)
  const from = Date.now()
  for (const [shard, hours] of [
    [0, 5],
    [1, 1],
    [2, 3],
    [2, 9],
  ] as const)
    await setTimer(tenant, shard, 'webhook.copy', from + hours * HOUR_MS)
  const target = from + 6 * HOUR_MS
  const answer = await moveClock({ timestamp: target as never, advance: undefined }, requestOf(tenant))
  expect(answer).toMatchObject({ timestamp: String(target), completed: true, failed: 0 })
  expect(await dueTimes(tenant)).toEqual([[], [], [from + 9 * HOUR_MS]])
  const moved = (await readTenant(env, { locator: tenant.locator }, noCalls()))!
  expect(tenantNow(moved) - target).toBeLessThan(60_000)
})

it('after simultaneous moves, the clock is at the latest target and everything due until then is done', async () => {
  const tenant = await makeTenant(3)
  const from = Date.now()
  for (let hour = 1; hour <= 12; hour += 1)
    await setTimer(tenant, hour % 3, 'webhook.copy', from + hour * HOUR_MS)
  const targets = [from + 4 * HOUR_MS, from + 20 * HOUR_MS, from + 9 * HOUR_MS]
  const answers = await Promise.all(
    targets.map(timestamp =>
      moveClock({ timestamp: timestamp as never, advance: undefined }, requestOf(tenant)),
    ),
  )
  expect(answers.map(answer => answer.completed)).toEqual([true, true, true])
  expect(await dueTimes(tenant)).toEqual([[], [], []])
  const moved = (await readTenant(env, { locator: tenant.locator }, noCalls()))!
  expect(Math.abs(tenantNow(moved) - targets[1]!)).toBeLessThan(60_000)
})

it('a move over many times ends before it has sent a thousand statements, and the next call continues it', async () => {
  const tenant = await makeTenant(2)
  const from = Date.now()
  const times = Array.from({ length: 200 }, (_, at) => from + (at + 1) * HOUR_MS)
  for (const shard of [0, 1])
    await boundDatabase(tenant.shards[shard]!)
      .prepare(
        `insert into timer (locator, due_at, kind, subject, payload)
          select 't' || key, value, 'webhook.copy', 'x', '{}' from json_each(?) where key % 2 = ?`,
      )
      .bind(JSON.stringify(times), shard)
      .run()
  const target = from + 201 * HOUR_MS
  const sent: number[] = []
  for (let isDone = false; !isDone; ) {
    const request = requestOf(tenant)
    const { completed } = await moveClock({ timestamp: target as never, advance: undefined }, request)
    sent.push(request.calls.statements!)
    isDone = completed
  }
  expect(Math.max(...sent)).toBeLessThan(1_000)
  expect(sent.length).toBeGreaterThan(1)
  expect(await dueTimes(tenant)).toEqual([[], []])
})
