// How long reports and impacts are kept, and how one whose object was lost continues.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { dispatcherObject } from '../../src/platform/objects.ts'
import { forgetTenants, readTenant } from '../../src/platform/tenancy.ts'
import type { ReportStatusResponse } from '../../src/reporting/contract.ts'
import type { ImpactCreateResponse, ImpactResponse } from '../../src/servicing/impact/contract.ts'
import { wakeTenants } from '../../src/tenants/housekeeping.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { archiveOf, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000

let motor: Motor
let token: string
let client: D1Database

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('kept')
  token = await motor.signIn('anna.admin')
  const { shards } = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
  client = boundDatabase(shards[0]!)
})

const advance = (days: number) =>
  callOk('POST', '/test/clock', { token, body: { advance: { amount: days, unit: 'day' } } })

/** The operations that reports and impacts have in common. */
const WORK = {
  report: {
    path: (locator: string) => `/report/${locator}/status`,
    resume: (locator: string) => `/report/${locator}/resume`,
    async make() {
      const asked = { token, body: { from: 0, to: Date.now() } }
      return (await callOk<ReportStatusResponse>('POST', '/report/ledger?wait=20', asked)).locator
    },
    /** Marks it as running, although no object knows of it. */
    lose: `update report set state = 'running', shard = 0, after = 0, portions = 0, steps = 0, processed = 0, files = null`,
    fail: `update report set state = 'error'`,
  },
  impact: {
    path: (locator: string) => `/impacts/${locator}`,
    resume: (locator: string) => `/impacts/${locator}/resume`,
    async make() {
      const body = new FormData()
      body.set('day', String(Date.now() + DAY_MS))
      body.set('name', 'the same')
      body.set(
        'zipFile',
        new Blob([archiveOf(motorWithoutPapers())], { type: 'application/zip' }),
        'motor.zip',
      )
      return (await callOk<ImpactCreateResponse>('POST', '/impacts', { token, body })).impact!.locator
    },
    lose: `update impact_run set state = 'running', shard = 0, after = 0, portions = 0`,
    fail: `update impact_run set state = 'error'`,
  },
} as const

describe.each(Object.entries(WORK))('the %s of a tenant', (_, { make, path, resume, lose, fail }) => {
  const read = (locator: string) =>
    callOk<ReportStatusResponse | ImpactResponse>('GET', path(locator), { token })
  const statusOf = async (locator: string) => (await callApi('GET', path(locator), { token })).status
  const finished = (locator: string) =>
    expect.poll(async () => (await read(locator)).state, { timeout: 20_000 }).toBe('finished')

  it('is removed 30 days after it finished', async () => {
    const locator = await make()
    await finished(locator)
    await advance(29)
    expect(await statusOf(locator)).toBe(200)
    await advance(2)
    expect(await statusOf(locator)).toBe(404)
  })

  it('is removed 30 days after it finished again if it stopped and was resumed', async () => {
    const locator = await make()
    await finished(locator)
    await client.exec(fail)
    await advance(20)
    await callOk('PATCH', resume(locator), { token })
    await finished(locator)
    await advance(25)
    expect(await statusOf(locator)).toBe(200)
    await advance(6)
    expect(await statusOf(locator)).toBe(404)
  })

  it('continues within a day if its object lost its alarm, and an overdue one is removed', async () => {
    const locator = await make()
    await finished(locator)
    await client.exec(`${lose}; delete from timer`)
    const tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
    const row = await env.CONTROL.prepare('select rowid % 1440 as minute from tenant where locator = ?')
      .bind(motor.tenantLocator)
      .first<{ minute: number }>()
    const wake = async () => {
      forgetTenants()
      await wakeTenants(env, noCalls(), ((20_000 * 1_440 + row!.minute) * 60_000) as Instant)
      await runDurableObjectAlarm(dispatcherObject(env, tenant, 0))
    }
    await wake()
    await finished(locator)
    await client.exec('delete from timer')
    await advance(31)
    await wake()
    expect(await statusOf(locator)).toBe(404)
  })
})
