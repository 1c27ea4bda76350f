// How full the databases of a tenant are, and the consequences. The quota replaces the size limit of a database, so that a small
// one is full.
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { auxDataRoutes } from '../../src/extension/auxdata/routes.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { forgetTenants, readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { measureShards } from '../../src/tenants/housekeeping.ts'
import { addShards, openNewShards } from '../../src/tenants/service.ts'
import { policyRoutes } from '../../src/transactions/policies/routes.ts'
import service from '../../src/worker.ts'
import { elapse } from '../faults/injection.ts'
import { mounted } from '../platform/http/mounted.ts'
import { callApi } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'

beforeAll(() => prepareDatabases({ tenants: 12 }))

let motor: Motor
let made = 0

beforeEach(async () => {
  made += 1
  motor = await motorTenant(`room${made}`)
})

const tenantNow = async (): Promise<Tenant> =>
  (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!

/** Makes the service and this test read the tenant again. */
function forget(): void {
  forgetTenants()
  globalThis.forgetTenants?.()
}

/** Fills each database of the tenant to this share, as far as it is as large as the first. */
async function fill(share: number): Promise<void> {
  const { shards } = await tenantNow()
  const { meta } = await boundDatabase(shards[0]!).prepare('select 1').run()
  await env.CONTROL.prepare('update tenant set quotas = ? where locator = ?')
    .bind(JSON.stringify({ databaseBytes: Math.floor(meta.size_after / share) }), motor.tenantLocator)
    .run()
  forget()
}

/** Runs the housekeeping in the minute of the tenant. */
async function measure(minute = 0): Promise<void> {
  const row = await env.CONTROL.prepare('select rowid % 10 as minute from tenant where locator = ?')
    .bind(motor.tenantLocator)
    .first<{ minute: number }>()
  await measureShards(env, noCalls(), ((row!.minute + minute) * 60_000) as Instant)
  forget()
}

const KEY = { 'idempotency-key': 'the-first-try' }
const newPolicyholder = (headers = {}) =>
  callApi('POST', '/policyholder/create', {
    token: motor.token,
    headers,
    body: { completed: true, values: plainYear().request.policyholder.values },
  })

const rowsOf = async () =>
  (
    await env.CONTROL.prepare(
      'select number, bytes, closes_at from shard where tenant_locator = ? order by number',
    )
      .bind(motor.tenantLocator)
      .all<{ number: number; bytes: number | null; closes_at: number | null }>()
  ).results

describe('a database', () => {
  it('is measured every ten minutes, and the operator is warned once an hour from 60 % on', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await fill(0.5)
    await measure()
    expect(warn).not.toHaveBeenCalled()
    await fill(0.7)
    await measure(10)
    expect(warn).not.toHaveBeenCalled()
    await measure(60)
    const { name, shards } = await tenantNow()
    expect(warn.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      { at: 'room', tenant: name, binding: shards[0], percent: 70 },
    ])
    expect(await rowsOf()).toMatchObject([{ bytes: expect.any(Number), closes_at: null }])
  })

  it('is measured by the tick of its minute, even if the tick is late', async () => {
    await fill(0.5)
    const minute = await env.CONTROL.prepare('select rowid % 10 from tenant where locator = ?')
      .bind(motor.tenantLocator)
      .first<number>('rowid % 10')
    const tick = (minutes: number) =>
      service.scheduled({ scheduledTime: minutes * 60_000 } as ScheduledController, env)
    // Years ago, so that the current time is in none of these minutes.
    await tick(10_000_000 + minute! + 1)
    expect(await rowsOf()).toMatchObject([{ bytes: null }])
    await tick(10_000_000 + minute!)
    expect(await rowsOf()).toMatchObject([{ bytes: expect.any(Number) }])
  })

  it('gets no new policyholders from 80 % on (507), but still serves its own', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    const first = await newPolicyholder(KEY)
    expect(first.status).toBe(200)
    await fill(0.85)
    await measure()
    // Every isolate must know of it before it applies.
    expect((await newPolicyholder()).status).toBe(200)
    elapse(11_000)
    const refused = await newPolicyholder()
    expect([refused.status, refused.body]).toMatchObject([507, { code: 'databaseFull' }])
    expect((await newPolicyholder(KEY)).body).toEqual(first.body)
    const { locator: policyholderLocator } = first.body as { locator: string }
    const created = await motor.post('/policy', { ...plainYear().request.policy, policyholderLocator })
    expect(created.status).toBe(200)
    expect((await motor.post(`/policy/${created.body.locator}/issue`)).status).toBe(200)
  })

  it('that is nearly full is relieved by a new one, which gets the new policyholders', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    const before = await newPolicyholder(KEY)
    const { name } = await tenantNow()
    await fill(0.85)
    await measure()
    await addShards(env, name, 2)
    elapse(11_000)
    await openNewShards(env, name)
    elapse(11_000)
    forget()
    const shardOf = ({ body }: { body: unknown }) =>
      Number.parseInt((body as { locator: string }).locator.slice(-2), 16)
    const after = await Promise.all(Array.from({ length: 8 }, () => newPolicyholder()))
    expect(new Set(after.map(shardOf))).toEqual(new Set([1]))
    expect((await newPolicyholder(KEY)).body).toEqual(before.body)
  })

  it('that is full rejects writes with 507, but repeats, reads, deletions and erasures still work', async () => {
    const created = await motor.createPolicy()
    const path = `/policy/${created.body.locator}`
    const issued = await motor.post(`${path}/issue`, undefined, KEY)
    expect(issued.status).toBe(200)
    const note = (method: string, path = '', body?: object) =>
      callApi(method, `/auxData/trips${path}`, { token: motor.token, ...(body && { body }) })
    expect((await note('PUT', '', { auxData: [{ key: 'a', value: 'b' }] })).status).toBe(200)
    const admin = await motor.signIn('anna.admin')
    const account = (username: string) => ({
      username,
      name: username,
      email: 'a@example.com',
      type: 'employee',
      password: 'Rhabarber-Kompott-7',
    })
    const added = await callApi<{ id: string }>('POST', '/account/v1/account', {
      token: admin,
      body: account('carla'),
    })
    expect(added.status).toBe(200)
    await fill(0.99)
    // A stolen token or password must be of no more use.
    for (const [method, path, body] of [
      ['POST', `/auth/users/${added.body.id}/revoke`, undefined],
      ['PUT', `/account/v1/accounts/${added.body.id}/password`, { password: 'Stachelbeer-Torte-8' }],
      ['PATCH', `/account/v1/accounts/${added.body.id}/disable`, undefined],
      ['DELETE', `/auth/users/${added.body.id}/credentials`, undefined],
    ] as const)
      expect([path, (await callApi(method, path, { token: admin, body })).status]).toEqual([path, 200])
    const another = await callApi('POST', '/account/v1/account', { token: admin, body: account('dora') })
    expect(another.status).toBe(507)
    for (const refused of [
      await motor.createPolicy(),
      await motor.post('/policyholder/create', { values: {} }),
    ])
      expect([refused.status, refused.body]).toMatchObject([507, { code: 'databaseFull' }])
    expect((await motor.post(`${path}/issue`, undefined, KEY)).body).toEqual(issued.body)
    expect((await motor.get(path)).status).toBe(200)
    expect((await note('DELETE', '/a')).status).toBe(200)
    const erased = await callApi('PATCH', `/policyholder/${created.body.policyholderLocator}/overwriteData`, {
      token: await motor.signIn('anna.admin'),
      body: { overwrites: { last_name: 'Erased' } },
    })
    expect([erased.status, erased.body]).toEqual([
      200,
      { policyholderLocator: created.body.policyholderLocator },
    ])
  })

  it('that an object fills is full immediately for the isolate that called the object', async () => {
    // This test's own copy of the service is a different isolate from that of the objects. It does not query the database itself,
    // neither to issue a policy nor to write auxiliary data.
    const isolate = mounted([...auxDataRoutes, ...policyRoutes])
    const call = async (method: string, path: string, body: object) => {
      const headers = { authorization: motor.token, 'content-type': 'application/json' }
      return (await isolate(method, path, { headers, body: JSON.stringify(body) })).status
    }
    const write = () => call('PUT', '/auxData/trips', { auxData: [{ key: 'a', value: 'b' }] })
    expect(await write()).toBe(200)
    const policies: string[] = []
    for (let at = 0; at < 12; at += 1) {
      const { locator } = (await motor.createPolicy()).body
      await motor.post(`/policy/${locator}/finalize`)
      policies.push(locator)
    }
    const { shards } = await tenantNow()
    const size = async () => (await boundDatabase(shards[0]!).prepare('select 1').run()).meta.size_after
    const before = await size()
    // The next page makes it full.
    await fill((0.98 * before) / (before + 1))
    for (const policy of policies)
      if ((await size()) === before) expect(await call('POST', `/policy/${policy}/issue`, {})).toBe(200)
    expect(await size()).toBeGreaterThan(before)
    expect(await write()).toBe(507)
  })
})
