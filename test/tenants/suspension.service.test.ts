// Suspended tenants, and the fence that stops isolates that do not know of the suspension yet.
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { dispatcherObject } from '../../src/platform/objects.ts'
import {
  forgetTenants,
  readTenant,
  shardDatabase,
  shardName,
  type Tenant,
} from '../../src/platform/tenancy.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import { wakeTenants } from '../../src/tenants/housekeeping.ts'
import { createTenant, deleteTenant, recreateTenant, revokeTokens } from '../../src/tenants/service.ts'
import { closeDatabases, resumeTenant, suspendTenant } from '../../src/tenants/suspension.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { openReceiver } from '../support/receiver.ts'

beforeAll(() => prepareDatabases({ tenants: 16 }))

let motor: Motor
let tenant: Tenant
let made = 0

beforeEach(async () => {
  made += 1
  motor = await motorTenant(`fence${made}`)
  tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
})

/** The last minute of a day, which belongs to no tenant because there are fewer tenants. */
const NOBODYS_MINUTE = (1_440 * 60_000 - 1) as Instant

/** Isolates see the change within 5 s. */
const TRUST = { timeout: 8_000, interval: 100 }

const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  const problem = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (problem instanceof Refusal) return problem
  throw problem ?? new Error('It was not refused.')
}

const fenceOf = (binding: string) => boundDatabase(binding).prepare('select * from fence').first()

const rowsIn = (binding: string, table: string): Promise<number | null> =>
  boundDatabase(binding).prepare(`select count(*) as rows from ${table}`).first<number>('rows')

/** Reads as a batch of an isolate, an object or a run with this knowledge of the tenant. */
const readAs = (known: Tenant) => {
  const database = shardDatabase(env, known, 0, noCalls())
  return database.batch([database.build.all('select count(*) as rows from policy')])
}
const writeAs = (known: Tenant) => {
  const database = shardDatabase(env, known, 0, noCalls())
  return database.batch([
    database.rawQuery(
      `insert into aux_data (locator, key, value, ui_type, updated_at) values ('stale', 'stale', '{}', '', 1)`,
    ),
  ])
}

describe('a suspended tenant', () => {
  it('returns 503 with the reason for every call, and continues unchanged when it is resumed', async () => {
    const created = await motor.createPolicy()
    const path = `/policy/${created.body.locator}`
    const adminToken = await motor.signIn('anna.admin')
    await suspendTenant(env, tenant.name, 'the books are being checked.')
    await closeDatabases(env, tenant)
    const message = `The tenant '${tenant.name}' is suspended: the books are being checked.`
    // The fence informs the isolate that read the tenant less than 5 s ago. The other calls see it when they read the tenant
    // again.
    expect((await motor.get(path)).status).toBe(503)
    const calls = [
      callApi('GET', '/tenant/allowedOrigins', { token: adminToken }),
      motor.get(path),
      motor.post(`${path}/issue`),
      motor.get('/eventstream/events?startTimestamp=0'),
      callApi('POST', '/account/authenticate', {
        body: { username: 'alice.agent', password: 'wrong', hostName: motor.hostname },
      }),
    ]
    for (const { status, headers, body } of await Promise.all(calls)) {
      expect([status, headers.get('retry-after')]).toEqual([503, '30'])
      expect(body).toMatchObject({ code: 'tenantSuspended', message })
    }
    await resumeTenant(env, tenant.name)
    await vi.waitFor(async () => expect((await motor.get(path)).body).toEqual(created.body), TRUST)
    expect((await motor.post(`${path}/issue`)).status).toBe(200)
  })

  it('is protected by the fence from an isolate that still considers it active, without a round trip', async () => {
    await suspendTenant(env, tenant.name, 'for a while.')
    await closeDatabases(env, tenant)
    for (const work of [readAs, writeAs]) {
      const { code, message, status } = await refusal(work(tenant))
      expect([status, code]).toEqual([503, 'tenantSuspended'])
      expect(message).toContain('for a while.')
    }
    expect(await rowsIn(tenant.shards[0]!, 'aux_data')).toBe(0)
    await resumeTenant(env, tenant.name)
    await writeAs(tenant)
    expect(await rowsIn(tenant.shards[0]!, 'aux_data')).toBe(1)
  })

  it('has its transactions rejected in the object of the policy, which learned of the tenant before', async () => {
    const { body } = await motor.createPolicy()
    // As if a command in another process did it: this isolate still uses the tenant that it read.
    await motor.get('/products')
    await env.CONTROL.prepare('update tenant set suspension = ? where locator = ?')
      .bind(JSON.stringify({ state: 'suspended', reason: 'by hand.', since: 1 }), tenant.locator)
      .run()
    await boundDatabase(tenant.shards[0]!).prepare(`update fence set state = 'suspended'`).run()
    const writes = await rowsIn(tenant.shards[0]!, 'write')
    const refused = await motor.post(`/policy/${body.locator}/issue`)
    expect([refused.status, refused.body]).toMatchObject([503, { code: 'tenantSuspended' }])
    expect(await rowsIn(tenant.shards[0]!, 'write')).toBe(writes)
  })

  it('has no timers fired and no deliveries sent until it is resumed and the housekeeping wakes it', async () => {
    const receiver = await openReceiver()
    await callOk('POST', `/event/${tenant.locator}/webhooks`, {
      token: await motor.signIn('anna.admin'),
      body: {
        name: 'books',
        enabled: true,
        eventTypes: ['policy.create'],
        endpoint: { url: receiver.url, headers: {} },
      },
    })
    await motor.createPolicy()
    await suspendTenant(env, tenant.name)
    await boundDatabase(tenant.shards[0]!)
      .prepare(
        `insert into timer (locator, due_at, kind, subject, payload) values ('t', 1, 'quickQuote.expiry', 'none', '{}')`,
      )
      .run()
    await closeDatabases(env, tenant)
    const name = shardName(tenant, 0)
    const next = await dispatchDue(env, name)
    expect(next).toBeGreaterThan(Date.now() + 30_000)
    expect(await rowsIn(tenant.shards[0]!, 'timer')).toBeGreaterThan(0)
    expect(await receiver.received()).toEqual([])

    const dispatcher = dispatcherObject(env, tenant, 0)
    await runInDurableObject(dispatcher, (_, state) => state.storage.deleteAll())
    await resumeTenant(env, tenant.name)
    // A run that has sent as many statements as it should leaves it to the next one.
    await wakeTenants(env, { ...noCalls(), statements: 501 }, NOBODYS_MINUTE)
    expect(await runInDurableObject(dispatcher, (_, state) => state.storage.getAlarm())).toBeNull()
    await wakeTenants(env, noCalls(), NOBODYS_MINUTE)
    const armed = await runInDurableObject(dispatcher, (_, state) => state.storage.getAlarm())
    expect(armed).toBeGreaterThan(Date.now())
    expect(armed).toBeLessThan(Date.now() + 15_000)
    expect(await runDurableObjectAlarm(dispatcher)).toBe(true)
    expect(await rowsIn(tenant.shards[0]!, 'timer')).toBe(0)
    const calls = noCalls()
    await wakeTenants(env, calls, NOBODYS_MINUTE)
    expect([calls.d1, calls.object]).toEqual([1, 0])
  })

  it('is woken once a day like any other, so that an object that lost its storage is found', async () => {
    const dispatcher = dispatcherObject(env, tenant, 0)
    await runInDurableObject(dispatcher, (_, state) => state.storage.deleteAll())
    await boundDatabase(tenant.shards[0]!)
      .prepare(
        `insert into migration_run (locator, state, type, validate_only, total_accounts, created_at, created_by, username, updated_at, done_before)
         values ('m', 'processing', 'fullMigration', 0, 1, 1, 'a', 'a', 1, 0)`,
      )
      .run()
    const row = await env.CONTROL.prepare('select rowid % 1440 as minute from tenant where locator = ?')
      .bind(tenant.locator)
      .first<{ minute: number }>()
    await wakeTenants(env, noCalls(), NOBODYS_MINUTE)
    expect(await runInDurableObject(dispatcher, (_, state) => state.storage.getAlarm())).toBeNull()
    await wakeTenants(env, noCalls(), ((20_000 * 1_440 + row!.minute) * 60_000) as Instant)
    expect(await runInDurableObject(dispatcher, (_, state) => state.storage.getAlarm())).toBeGreaterThan(0)
    const timer = await boundDatabase(tenant.shards[0]!)
      .prepare(`select subject from timer where kind = 'migration.run'`)
      .first()
    expect(timer).toEqual({ subject: 'm' })
  })

  it('cannot be suspended or resumed if it does not exist or has moved', async () => {
    expect((await refusal(suspendTenant(env, 'nobody'))).code).toBe('notFound')
    await env.CONTROL.prepare('update tenant set suspension = ? where locator = ?')
      .bind(
        JSON.stringify({ state: 'moved', reason: 'to https://api.eu2.example.com.', since: 1 }),
        tenant.locator,
      )
      .run()
    forgetTenants()
    for (const change of [suspendTenant, resumeTenant])
      expect(await refusal(change(env, tenant.name))).toMatchObject({ code: 'wrongState', status: 409 })
    const { status, body } = await motor.get<{ message: string }>('/products')
    expect([status, body.message]).toEqual([
      421,
      `The tenant '${tenant.name}' is no longer served here: to https://api.eu2.example.com.`,
    ])
  })
})

describe('the fence', () => {
  it('keeps isolates that knew a recreated tenant out of its former database', async () => {
    const before = tenant
    const now = await recreateTenant(env, tenant)
    expect(await fenceOf(before.shards[0]!)).toMatchObject({ state: 'moved', generation: 1 })
    expect(await fenceOf(now.shards[0]!)).toMatchObject({ state: 'serving', generation: 2, token_epoch: 2 })
    for (const work of [readAs, writeAs])
      expect(await refusal(work(before))).toMatchObject({ code: 'unavailable', status: 503 })
    expect(await rowsIn(before.shards[0]!, 'aux_data')).toBe(0)
    await writeAs(now)
  })

  it('keeps isolates that knew a deleted tenant out of the data of the next one', async () => {
    const before = tenant
    await deleteTenant(env, tenant.name)
    const later = (Date.now() + 60_000) as Parameters<typeof wipeReturned>[2]
    while ((await fenceOf(before.shards[0]!)) !== null) await wipeReturned(env, noCalls(), later)
    let next = await createTenant(env, { name: `next${made}`, type: 'test' })
    for (let at = 0; next.shards[0] !== before.shards[0]; at += 1)
      next = await createTenant(env, { name: `next${made}-${at}`, type: 'test' })
    for (const work of [readAs, writeAs])
      expect(await refusal(work(before))).toMatchObject({ code: 'unavailable', status: 503 })
    expect(await fenceOf(before.shards[0]!)).toMatchObject({ tenant_locator: next.locator, state: 'serving' })
  })

  it('is created by the first call in a database without one (of an earlier release), only for its own tenant', async () => {
    const remove = () => boundDatabase(tenant.shards[0]!).prepare('delete from fence').run()
    await remove()
    await readAs(tenant)
    expect(await fenceOf(tenant.shards[0]!)).toMatchObject({
      tenant_locator: tenant.locator,
      generation: 1,
      state: 'serving',
      token_epoch: 1,
      restores: 0,
    })
    await remove()
    await writeAs(tenant)
    expect(await rowsIn(tenant.shards[0]!, 'aux_data')).toBe(1)
    await remove()
    expect((await refusal(readAs({ ...tenant, generation: 7 }))).code).toBe('unavailable')
    expect(await fenceOf(tenant.shards[0]!)).toBeNull()
  })

  it('rejects revoked tokens in an isolate that does not know of the revocation', async () => {
    await revokeTokens(env, tenant)
    expect((await refusal(readAs(tenant))).code).toBe('unavailable')
    const { status } = await motor.get('/products')
    expect(status).toBe(401)
  })

  it('rejects requests of isolates that do not know that the database was restored', async () => {
    await boundDatabase(tenant.shards[0]!).prepare('update fence set restores = 1').run()
    expect((await refusal(writeAs(tenant))).code).toBe('unavailable')
    await env.CONTROL.prepare('update tenant set restores = ? where locator = ?')
      .bind(JSON.stringify([{ to: 1, at: 2 }]), tenant.locator)
      .run()
    await writeAs((await readTenant(env, { name: tenant.name }, noCalls()))!)
  })
})
