// The number of statements of one tick when much is waiting: an invocation may send a thousand.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { measureShards } from '../../src/tenants/housekeeping.ts'
import { createTenant, deleteTenant } from '../../src/tenants/service.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'

const TENANTS = 24

beforeAll(() => prepareDatabases({ tenants: TENANTS }))

/** A database begun within the limit of divided work takes a hundred statements or two. */
const MOST_OF_WIPING = 750

const free = async () =>
  (await env.CONTROL.prepare(
    `select count(*) as n from pool_database where state = 'free' and binding in (select binding from pool_database order by binding limit ${TENANTS})`,
  ).first<{ n: number }>())!.n

it('measuring needs one statement per database, and one to store the sizes of all', async () => {
  for (let at = 0; at < TENANTS; at += 1) await createTenant(env, { name: `measured${at}`, type: 'test' })
  let measured = 0
  for (let minute = 0; minute < 10; minute += 1) {
    const calls = noCalls()
    const due = await env.CONTROL.prepare('select count(*) as n from tenant where rowid % 10 = ?')
      .bind(minute)
      .first<{ n: number }>()
    await measureShards(env, calls, (minute * 60_000) as Instant)
    expect(calls.statements).toBeLessThanOrEqual(due!.n + 2)
    measured += due!.n
  }
  expect(measured).toBe(TENANTS)
  const noted = await env.CONTROL.prepare('select count(*) as n from shard where bytes > 0').first()
  expect(noted).toEqual({ n: TENANTS })
})

it('a tick that has sent what it may measures no further database', async () => {
  await env.CONTROL.prepare('update shard set bytes = null').run()
  for (let minute = 0; minute < 10; minute += 1)
    await measureShards(env, { ...noCalls(), statements: 900 }, (minute * 60_000) as Instant)
  const noted = await env.CONTROL.prepare('select count(*) as n from shard where bytes is null').first()
  expect(noted).toEqual({ n: TENANTS })
})

it('a wiping run stops after some databases, and later ticks wipe the others', async () => {
  const { results } = await env.CONTROL.prepare('select binding from shard').all<{ binding: string }>()
  for (const { binding } of results) {
    const client = boundDatabase(binding)
    await client.exec(
      `insert into write (key, body_hash, status, subject, at) with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select 'k' || i, '', 200, '', 0 from n`,
    )
  }
  for (let at = 0; at < TENANTS; at += 1) await deleteTenant(env, `measured${at}`)
  const later = (Date.now() + 600_000) as Instant
  let ticks = 0
  for (; (await free()) < TENANTS && ticks < 60; ticks += 1) {
    // Every second tick has measured as many databases as one of the largest cell, which is a tenth of 4,500.
    const calls = { ...noCalls(), statements: ticks % 2 === 0 ? 0 : 450 }
    await wipeReturned(env, calls, later)
    expect(calls.statements).toBeLessThan(MOST_OF_WIPING)
  }
  expect(await free()).toBe(TENANTS)
})
