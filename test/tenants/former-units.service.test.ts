// A tenant whose amounts may be in the minor units of an earlier release is treated as suspended until the mark is cleared.
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import {
  controlDatabase,
  forgetTenants,
  readTenant,
  shardName,
  type Tenant,
} from '../../src/platform/tenancy.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import { createTenant, recreateTenant } from '../../src/tenants/service.ts'
import { tenantsOfMinuteQuery } from '../../src/tenants/store.ts'
import { acceptUnits, resumeTenant, suspendTenant } from '../../src/tenants/suspension.ts'
import { callApi } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

beforeAll(() => prepareDatabases({ tenants: 12 }))

let motor: Motor
let tenant: Tenant
let made = 0

beforeEach(async () => {
  made += 1
  motor = await motorTenant(`units${made}`)
  tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
})

/** Marks the tenant as the migration marks every tenant that existed before it. No isolate has cached it. */
async function mark(suspension: object | null = null): Promise<void> {
  await env.CONTROL.prepare('update tenant set former_units = true, suspension = ? where locator = ?')
    .bind(suspension && JSON.stringify(suspension), tenant.locator)
    .run()
  forgetTenants()
}

/** Isolates see the change within 5 s. */
const TRUST = { timeout: 8_000, interval: 100 }

const isMarked = (locator: string): Promise<unknown> =>
  env.CONTROL.prepare('select former_units from tenant where locator = ?').bind(locator).first('former_units')

describe('a tenant whose amounts may be in former units', () => {
  it('returns 503 with the reason and what to do for every call, until the mark is cleared', async () => {
    const other = await motorTenant(`units-other${made}`)
    const created = await motor.createPolicy()
    const path = `/policy/${created.body.locator}`
    const adminToken = await motor.signIn('anna.admin')
    await mark()
    await vi.waitFor(async () => expect((await motor.get(path)).status).toBe(503), TRUST)
    const calls = [
      motor.get(path),
      motor.post(`${path}/issue`),
      motor.get('/eventstream/events?startTimestamp=0'),
      callApi('GET', '/tenant/allowedOrigins', { token: adminToken }),
      callApi('POST', '/account/authenticate', {
        body: { username: 'alice.agent', password: 'wrong', hostName: motor.hostname },
      }),
    ]
    const start = `The tenant '${tenant.name}' is suspended: its amounts may be in minor units of an earlier release, `
    const end =
      'The operator must export it with the earlier release and import it with this one (docs/operate.md, Upgrades).'
    for (const { status, body } of await Promise.all(calls)) {
      expect([status, body]).toMatchObject([503, { code: 'tenantSuspended' }])
      const { message } = body as { message: string }
      expect(message.startsWith(start) && message.endsWith(end), message).toBe(true)
    }
    expect((await other.get('/products')).status).toBe(200)
    expect(await acceptUnits(env, tenant.name)).not.toHaveProperty('suspension')
    await vi.waitFor(async () => expect((await motor.get(path)).body).toEqual(created.body), TRUST)
    expect((await motor.post(`${path}/issue`)).status).toBe(200)
  })

  it('has no timers fired and no turn in the tasks of the minute', async () => {
    const control = controlDatabase(env, noCalls())
    const turns = async (): Promise<string[]> =>
      (await control.batch([tenantsOfMinuteQuery(control, 0 as Instant, 1)]))[0].map(one => one.tenant.name)
    expect(await turns()).toContain(tenant.name)
    await motor.createPolicy()
    await boundDatabase(tenant.shards[0]!)
      .prepare(
        `insert into timer (locator, due_at, kind, subject, payload) values ('t', 1, 'quickQuote.expiry', 'none', '{}')`,
      )
      .run()
    const timers = () =>
      boundDatabase(tenant.shards[0]!)
        .prepare(`select count(*) as n from timer where locator = 't'`)
        .first('n')
    await mark()
    expect(await turns()).not.toContain(tenant.name)
    expect(await dispatchDue(env, shardName(tenant, 0))).toBeGreaterThan(Date.now() + 30_000)
    expect(await timers()).toBe(1)
    await acceptUnits(env, tenant.name)
    await dispatchDue(env, shardName(tenant, 0))
    expect(await timers()).toBe(0)
  })

  it('cannot be resumed, and a separate suspension remains when the mark is cleared', async () => {
    await mark()
    await expect(resumeTenant(env, tenant.name)).rejects.toMatchObject({ code: 'wrongState', status: 409 })
    const { suspension } = await suspendTenant(env, tenant.name, 'it is exported.')
    // The suspension begins now, so that work in progress can finish.
    expect(suspension!.since).toBeGreaterThan(Date.now() - 60_000)
    await expect(resumeTenant(env, tenant.name)).rejects.toMatchObject({ code: 'wrongState' })
    expect(await acceptUnits(env, tenant.name)).toMatchObject({ suspension: { reason: 'it is exported.' } })
    expect(await resumeTenant(env, tenant.name)).not.toHaveProperty('suspension')
  })

  it('that has moved returns 421', async () => {
    await mark({ state: 'moved', reason: 'to https://api.eu2.example.com.', since: 1 })
    await vi.waitFor(async () => expect((await motor.get('/products')).status).toBe(421), TRUST)
  })

  it('is marked only if an earlier release created it, not if it is new or recreated', async () => {
    const created = await createTenant(env, { name: `fresh${made}`, type: 'test' })
    expect(await isMarked(created.locator)).toBeNull()
    await mark()
    await recreateTenant(env, tenant)
    expect(await isMarked(tenant.locator)).toBeNull()
    await env.CONTROL.prepare(
      `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at)
       values ('earlier', 'earlier', 'earlier', 'test', 'active', 1, 1, 1, 0)`,
    ).run()
    expect(await isMarked('earlier')).toBe(1)
  })
})
