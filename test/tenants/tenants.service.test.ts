import { env } from 'cloudflare:workers'
import { beforeAll, expect, test } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { type Instant, now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { fileKey, forgetTenants, readTenant, shardDatabase, type Tenant } from '../../src/platform/tenancy.ts'
import { createTenant, deleteTenant, listTenants, recreateTenant } from '../../src/tenants/service.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { callApi } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'

beforeAll(() => prepareDatabases({ tenants: 8 }))

const pool = async (): Promise<Record<string, string>> => {
  const { results } = await env.CONTROL.prepare('select binding, state from pool_database').all<{
    binding: string
    state: string
  }>()
  return Object.fromEntries(results.map(({ binding, state }) => [binding, state]))
}

const inState = async (state: string): Promise<string[]> =>
  Object.entries(await pool())
    .filter(([, of]) => of === state)
    .map(([binding]) => binding)

const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  const problem = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (problem instanceof Refusal) return problem
  throw problem ?? new Error('It was not refused.')
}

/** Writes a row of the tenant, as every commit does. */
const writeTo = (binding: string, key: string) =>
  boundDatabase(binding)
    .prepare(`insert into write (key, body_hash, status, subject, at) values (?, '', 200, 'x', 1)`)
    .bind(key)
    .run()

const rowsIn = async (binding: string): Promise<number> =>
  (await boundDatabase(binding).prepare('select count(*) as rows from write').first<number>('rows'))!

/** Runs a wipe at a time when no isolate can still consider a deleted tenant active. */
const wipeLater = (environment: Env = env) =>
  wipeReturned(environment, noCalls(), (now() + 60_000) as Instant)

/** Deletes all tenants and wipes until every database is free again. */
async function startAgain(): Promise<void> {
  for (const { name } of await listTenants(env)) await deleteTenant(env, name)
  while ((await inState('returned')).length > 0) await wipeLater()
}

test('a new tenant has its own database, a host name and a unique name', async () => {
  const calls = noCalls()
  const tenant = await createTenant(env, { name: 'acme-motor', type: 'test' }, calls)
  // The control database, and the fence in the database of the tenant.
  expect(calls.d1).toBe(2)
  expect(tenant).toMatchObject({
    name: 'acme-motor',
    hostName: 'acme-motor.co.local.bindery.test',
    type: 'test',
    generation: 1,
    versioned: false,
  })
  expect(await inState('claimed')).toEqual(tenant.shards)
  expect(await readTenant(env, { hostName: tenant.hostName }, noCalls())).toEqual(tenant)
  expect((await refusal(createTenant(env, { name: 'acme-motor', type: 'production' }))).code).toBe(
    'alreadyExists',
  )
  expect(await inState('claimed')).toEqual(tenant.shards)
  expect(await listTenants(env)).toEqual([tenant])
  await startAgain()
})

test.each(['', 'Acme', 'acme motor', '-acme', 'acme-', 'a.b', 'ä', `${'a'.repeat(64)}`, "a'--", 'a/b'])(
  'a tenant cannot be named %j, which is not a valid host name',
  async name => {
    expect((await refusal(createTenant(env, { name, type: 'test' }))).code).toBe('invalidRequest')
    expect(await inState('claimed')).toEqual([])
  },
)

test('tenants created simultaneously never share a database, and those beyond the pool get poolEmpty', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `tenant-${at}`)
  const outcomes = await Promise.allSettled(names.map(name => createTenant(env, { name, type: 'test' })))
  const made = outcomes.filter(outcome => outcome.status === 'fulfilled').map(({ value }) => value)
  const refused = outcomes.filter(outcome => outcome.status === 'rejected').map(({ reason }) => reason)
  expect(new Set(made.flatMap(({ shards }) => shards)).size).toBe(8)
  expect(refused.map(({ code, retryAfterSeconds }) => [code, retryAfterSeconds])).toEqual(
    Array.from({ length: 4 }, () => ['poolEmpty', 120]),
  )
  expect(refused[0].message).toContain('npm run pool -- grow N')
  expect(await listTenants(env)).toHaveLength(8)
  await startAgain()
})

test('a recreated tenant gets a fresh database, and the former one is returned to the pool', async () => {
  const first = await createTenant(env, { name: 'again', type: 'test' })
  await writeTo(first.shards[0]!, 'old')
  const second = await recreateTenant(env, first)
  expect(second).toMatchObject({ locator: first.locator, generation: 2, tokenEpoch: 2 })
  expect(second.shards).not.toEqual(first.shards)
  expect(await inState('returned')).toEqual(first.shards)
  expect((await refusal(recreateTenant(env, first))).code).toBe('versionConflict')
  expect(await inState('claimed')).toEqual(second.shards)
  await startAgain()
})

test('recreating a tenant fails without any change when the pool is empty', async () => {
  const tenants = await Promise.all(
    Array.from({ length: 8 }, (_, at) => createTenant(env, { name: `full-${at}`, type: 'test' })),
  )
  expect((await refusal(recreateTenant(env, tenants[0]!))).code).toBe('poolEmpty')
  expect(await readTenant(env, { name: 'full-0' }, noCalls())).toEqual(tenants[0])
  expect(await inState('claimed')).toHaveLength(8)
  await startAgain()
})

test('a deleted tenant is not found, and its name can be used for a new tenant', async () => {
  const first = await createTenant(env, { name: 'gone', type: 'test' })
  await deleteTenant(env, 'gone')
  expect(await readTenant(env, { name: 'gone' }, noCalls())).toBeUndefined()
  expect((await refusal(deleteTenant(env, 'gone'))).code).toBe('notFound')
  expect((await refusal(recreateTenant(env, first))).code).toBe('versionConflict')
  const second = await createTenant(env, { name: 'gone', type: 'production' })
  expect(second).toMatchObject({ generation: 1, versioned: true, type: 'production' })
  expect(second.locator).not.toBe(first.locator)
  // The row of the old tenant is gone, so nothing can be claimed for it either.
  expect((await refusal(recreateTenant(env, first))).code).toBe('versionConflict')
  expect(await inState('claimed')).toEqual(second.shards)
  await startAgain()
})

test('a tenant is not given a database that waits for a migration', async () => {
  await env.CONTROL.prepare(`update pool_database set migration = '0000_'`).run()
  const { code, message } = await refusal(createTenant(env, { name: 'early', type: 'test' }))
  expect([code, message]).toEqual(['tenantBehind', expect.stringContaining('npm run migrate')])
  await env.CONTROL.prepare(`update pool_database set migration = '9999_later'`).run()
  await createTenant(env, { name: 'early', type: 'test' })
  await startAgain()
})

test('a tenant whose database waits for a migration is found, but calls return 503', async () => {
  const tenant = await createTenant(env, { name: 'slow', type: 'test' })
  const migrated = (name: string) =>
    env.CONTROL.prepare('update pool_database set migration = ? where binding = ?')
      .bind(name, tenant.shards[0])
      .run()
  await migrated('0000_')
  const calls = noCalls()
  const behind = (await readTenant(env, { name: 'slow' }, calls))!
  const {
    sharesEventRows: _,
    keepsBooks: _books,
    keepsNotes: _notes,
    keepsProviders: _providers,
    keepsRoles: _roles,
    keepsDeploymentLog: _log,
    indexesInvoiceNumbers: _numbers,
    ...former
  } = tenant
  expect([behind, calls.d1]).toEqual([{ ...former, isBehind: true }, 1])
  const open = async () => shardDatabase(env, behind, 0, noCalls())
  expect(await refusal(open())).toMatchObject({ code: 'tenantBehind', retryAfterSeconds: 30 })
  forgetTenants()
  const body = { username: 'someone', password: 'x', tenantName: 'slow' }
  const answer = await callApi<{ code: string }>('POST', '/account/authenticate', { body })
  expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([
    503,
    'tenantBehind',
    '30',
  ])
  expect(await recreateTenant(env, behind)).toMatchObject({ isBehind: false })
  await migrated('9999_later')
  await startAgain()
})

test('a returned database is free only after a run that found it empty', async () => {
  const { shards, name } = await createTenant(env, { name: 'wiped', type: 'test' })
  const binding = shards[0]!
  await writeTo(binding, 'data')
  await boundDatabase(binding).exec(
    `insert into event (locator, request_id, type, at, data, account_locator, username) values ('y', 'y', 'y', 0, '{}', 'y', 'y')`,
  )
  await deleteTenant(env, name)
  expect(await wipeLater()).toEqual({ freed: [], emptied: [binding] })
  await writeTo(binding, 'by a request that came late')
  expect(await wipeLater()).toEqual({ freed: [], emptied: [binding] })
  expect(await wipeLater()).toEqual({ freed: [binding], emptied: [] })
  expect(await rowsIn(binding)).toBe(0)
  expect(await wipeLater()).toEqual({ freed: [], emptied: [] })
  const event = await boundDatabase(binding)
    .prepare(
      `insert into event (locator, request_id, type, at, data, account_locator, username)
       values ('x', 'x', 'x', 0, '{}', 'x', 'x') returning sequence`,
    )
    .first('sequence')
  expect(event).toBe(1)
  const migrations = await boundDatabase(binding).prepare('select name from migration').all()
  expect(migrations.results).not.toEqual([])
  for (const table of ['event', 'sqlite_sequence']) await boundDatabase(binding).exec(`delete from ${table}`)
})

test('a returned database is not free while a request may still write to it, empty or not', async () => {
  const { shards, name } = await createTenant(env, { name: 'brief', type: 'test' })
  await deleteTenant(env, name)
  expect(await wipeReturned(env)).toEqual({ freed: [], emptied: [] })
  await writeTo(shards[0]!, 'by a request that came late')
  expect(await wipeReturned(env)).toEqual({ freed: [], emptied: shards })
  expect(await wipeReturned(env)).toEqual({ freed: [], emptied: [] })
  expect(await wipeLater()).toEqual({ freed: shards, emptied: [] })
})

test('wiping a returned database deletes rows of tables without row ids too, in bounded steps', async () => {
  const { shards, name } = await createTenant(env, { name: 'keyed', type: 'test' })
  const database = boundDatabase(shards[0]!)
  await database
    .prepare('create table keyed (b text not null, a integer not null, primary key (a, b)) without rowid')
    .run()
  await database
    .prepare(
      `with recursive n(x) as (select 1 union all select x + 1 from n where x < 60000)
       insert into keyed (a, b) select x % 10, x from n`,
    )
    .run()
  await deleteTenant(env, name)
  const left = () => database.prepare('select count(*) as rows from keyed').first<number>('rows')
  expect(await wipeLater()).toEqual({ freed: [], emptied: shards })
  expect(await left()).toBe(10_000)
  expect(await wipeLater()).toEqual({ freed: [], emptied: shards })
  expect(await left()).toBe(0)
  expect(await wipeLater()).toEqual({ freed: shards, emptied: [] })
  await database.prepare('drop table keyed').run()
})

const putFiles = (tenant: Tenant, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, at) => env.FILES.put(fileKey(tenant, 'archives', `${at}`), 'x')),
  )

const filesOf = async (tenant: Tenant): Promise<number> =>
  (await env.FILES.list({ prefix: fileKey(tenant, '') })).objects.length

test('the files of a deleted tenant, and of no other, are deleted before its database is free', async () => {
  const stays = await createTenant(env, { name: 'stays', type: 'test' })
  const goes = await createTenant(env, { name: 'goes', type: 'test' })
  await putFiles(stays, 1)
  await putFiles(goes, 3)
  await deleteTenant(env, 'goes')
  expect(await wipeLater()).toEqual({ freed: [], emptied: goes.shards })
  expect([await filesOf(stays), await filesOf(goes)]).toEqual([1, 0])
  expect(await wipeLater()).toEqual({ freed: goes.shards, emptied: [] })
  expect(await inState('claimed')).toEqual(stays.shards)
  await startAgain()
})

test('recreating a tenant deletes only the files of its former generation, in bounded steps', async () => {
  const first = await createTenant(env, { name: 'again', type: 'test' })
  // Ten generations later, the names of the files begin with those of the first generation, except for the slash.
  const tenth: Tenant = { ...first, generation: 10 }
  await putFiles(first, 1_001)
  await putFiles(tenth, 1)
  const second = await recreateTenant(env, first)
  await putFiles(second, 2)
  const calls = noCalls()
  expect((await wipeReturned(env, calls)).emptied).toEqual(first.shards)
  expect(calls.r2).toBe(4)
  expect([await filesOf(first), await filesOf(second), await filesOf(tenth)]).toEqual([0, 2, 1])
  await env.FILES.delete(fileKey(tenth, 'archives', '0'))
  await startAgain()
})

test('a delayed run does not free a database that was claimed and returned again meanwhile', async () => {
  const { shards, name } = await createTenant(env, { name: 'old', type: 'test' })
  await deleteTenant(env, name)
  // This run has found the database empty. Its next batch on the control database would free it.
  const heldUp = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const binding = afterBatch(boundDatabase(shards[0]!), 2, async () => {
    heldUp.resolve()
    await goOn.promise
  })
  const outcome = wipeLater({ ...env, [shards[0]!]: binding })
  await heldUp.promise
  while ((await inState('returned')).length > 0) await wipeLater()
  for (let at = 0; at < 8; at += 1) await createTenant(env, { name: `new-${at}`, type: 'test' })
  await writeTo(shards[0]!, 'data of a tenant that is gone too')
  for (let at = 0; at < 8; at += 1) await deleteTenant(env, `new-${at}`)
  goOn.resolve()
  await outcome
  expect(await inState('returned')).toContain(shards[0])
  expect(await rowsIn(shards[0]!)).toBe(1)
  await startAgain()
})

test('wiping does not change the databases of other tenants', async () => {
  const stays = await createTenant(env, { name: 'stays', type: 'test' })
  const goes = await createTenant(env, { name: 'goes', type: 'test' })
  await writeTo(stays.shards[0]!, 'kept')
  await writeTo(goes.shards[0]!, 'wiped')
  await deleteTenant(env, 'goes')
  await wipeLater()
  expect(await rowsIn(stays.shards[0]!)).toBe(1)
  expect(await rowsIn(goes.shards[0]!)).toBe(0)
  await startAgain()
})

test('a delayed run does not wipe data that a new tenant has written since', async () => {
  const { shards, name } = await createTenant(env, { name: 'old', type: 'test' })
  const binding = shards[0]!
  await writeTo(binding, 'old data')
  await deleteTenant(env, name)
  // This run has seen the old data and has read that no tenant has the database. Then it is delayed.
  const heldUp = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const control = afterBatch(env.CONTROL, 2, async () => {
    heldUp.resolve()
    await goOn.promise
  })
  const outcome = wipeLater({ ...env, CONTROL: control }).then(
    () => 'deleted',
    () => 'stopped',
  )
  await heldUp.promise
  while ((await inState('returned')).length > 0) await wipeLater()
  for (let at = 0; at < 8; at += 1) await createTenant(env, { name: `new-${at}`, type: 'test' })
  await writeTo(binding, 'new data')
  goOn.resolve()
  expect(await outcome).toBe('stopped')
  expect(await rowsIn(binding)).toBe(1)
  await startAgain()
})

/** The database, with `pause` between its n-th batch and the response. */
function afterBatch(client: D1Database, nth: number, pause: () => Promise<void>): D1Database {
  let batches = 0
  const watched = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, property) {
        const value: unknown = Reflect.get(target, property)
        if (typeof value !== 'function') return value
        if (property === 'withSession') return (...how: unknown[]) => watched(value.apply(target, how))
        if (property !== 'batch') return value.bind(target)
        return async (...statements: unknown[]) => {
          const answer = await value.apply(target, statements)
          batches += 1
          if (batches === nth) await pause()
          return answer
        }
      },
    })
  return watched(client)
}
