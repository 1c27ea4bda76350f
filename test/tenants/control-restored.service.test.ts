// Restoring the control database to an earlier time (docs/operate.md) must not lose what it then does not know of.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { type Instant, now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { forgetTenants, readTenant, shardDatabase } from '../../src/platform/tenancy.ts'
import { createTenant, deleteTenant } from '../../src/tenants/service.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'

beforeAll(() => prepareDatabases({ tenants: 2 }))

const TABLES = ['tenant', 'shard', 'pool_database'] as const

type Rows = readonly (readonly [table: string, row: Record<string, unknown>])[]

async function rowsOfControl(): Promise<Rows> {
  const read = await env.CONTROL.batch<Record<string, unknown>>(
    TABLES.map(table => env.CONTROL.prepare(`select * from ${table}`)),
  )
  return read.flatMap(({ results }, at) => results.map(row => [TABLES[at]!, row] as const))
}

async function bringBack(rows: Rows): Promise<void> {
  await env.CONTROL.batch([
    ...TABLES.map(table => env.CONTROL.prepare(`delete from ${table}`)),
    ...rows.map(([table, row]) =>
      env.CONTROL.prepare(
        `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
      ).bind(...Object.values(row)),
    ),
  ])
  forgetTenants()
}

const wipe = () => wipeReturned(env, noCalls(), (now() + 60_000) as Instant)

it('a tenant created after the restored time keeps its data, and is served once its rows are inserted again', async () => {
  const stays = await createTenant(env, { name: 'stays', type: 'test' })
  const gone = await createTenant(env, { name: 'gone', type: 'test' })
  await deleteTenant(env, 'gone')
  const before = await rowsOfControl()
  while ((await wipe()).freed.length === 0);
  const since = await createTenant(env, { name: 'since', type: 'test' })
  expect(since.shards).toEqual(gone.shards)
  const [binding] = since.shards
  const database = boundDatabase(binding!)
  await database
    .prepare(`insert into write (key, body_hash, status, subject, at) values ('k', '', 200, 'x', 1)`)
    .run()

  await bringBack(before)
  for (let run = 0; run < 3; run += 1) expect(await wipe()).toEqual({ freed: [], emptied: [] })
  const rows = () => database.prepare('select count(*) as rows from write').first<number>('rows')
  expect(await rows()).toBe(1)
  expect(await readTenant(env, { name: 'stays' }, noCalls())).toEqual(stays)
  expect(await readTenant(env, { name: 'since' }, noCalls())).toBeUndefined()

  // As docs/operate.md describes.
  const fence = (await database.prepare('select * from fence').first())!
  await env.CONTROL.batch([
    env.CONTROL.prepare(
      `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, place, created_at, former_units)
       values (?, 'since', ?, 'test', 'active', ?, ?, 0, '', 0, null)`,
    ).bind(fence.tenant_locator, since.hostName, fence.generation, fence.token_epoch),
    env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 0, ?)').bind(
      fence.tenant_locator,
      binding,
    ),
    env.CONTROL.prepare(
      `update pool_database set state = 'claimed', returned_at = null, former_tenant = null, former_generation = null where binding = ?`,
    ).bind(binding),
  ])
  forgetTenants()
  const again = await readTenant(env, { name: 'since' }, noCalls())
  expect(again).toMatchObject({ locator: since.locator, shards: since.shards })
  const own = shardDatabase(env, again!, 0, noCalls())
  expect(await own.batch([own.build.all('select key from write')])).toEqual([[{ key: 'k' }]])
})
