// Custom events on a schedule, through HTTP and the clock of the tenant (resources brief 8.3).
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Uuid } from '../../../../src/kernel/locators.ts'
import { add, type Instant, type TimeZone } from '../../../../src/kernel/time.ts'
import { noCalls } from '../../../../src/platform/calls.ts'
import type { Timer } from '../../../../src/platform/events/timers.ts'
import { readTenant } from '../../../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../../../src/transactions/cancellations/contract.ts'
import type { EventScheduleListResponse } from '../../../../src/transactions/custom-events/contract.ts'
import { MOST_TRIES, scheduleDue } from '../../../../src/transactions/custom-events/service.ts'
import { callApi } from '../../../support/api.ts'
import { afterBatches } from '../../../support/between-batches.ts'
import { addDatabases, boundDatabase, prepareDatabases } from '../../../support/databases.ts'
import { motorWithoutLapses } from '../../../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../../../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const DAY_MS = 86_400_000

const EVENTS = [
  { type: 'custom.policy.welcome', schedule: { anchor: 'policyStart' } },
  {
    type: 'custom.policy.anniversary',
    schedule: { anchor: 'policyStart', cadence: { intervalDuration: 1, durationBasis: 'year' } },
  },
  {
    type: 'custom.policy.survey',
    schedule: {
      anchor: 'termStart',
      offset: { amount: 2, unit: 'month' },
      suppressOnStatuses: ['cancelled', 'expired'],
    },
  },
  {
    type: 'custom.policy.winback',
    schedule: {
      anchor: 'policyEnd',
      offset: { amount: 1, unit: 'month' },
      cadence: { intervalDuration: 1, durationBasis: 'month', limit: 2 },
    },
  },
  { type: 'custom.policy.changed', schedule: { anchor: 'segmentStart', offset: { amount: 1, unit: 'day' } } },
  { type: 'custom.rate.referred' },
]

const configured = (customEvents: object[]) => {
  const files = motorWithoutLapses()
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array))
  return { ...files, 'config.json': JSON.stringify({ ...config, customEvents }) }
}

let made = 0
const tenantWith = (events: object[] = EVENTS): Promise<Motor> => {
  made += 1
  return motorTenant(`scheduled${made}`, configured(events))
}

beforeAll(() => prepareDatabases({ tenants: 7 }))

async function issued(tenant: Motor): Promise<PolicyResponse> {
  const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
  const { body } = await tenant.createPolicy(span)
  return (await tenant.post(`/policy/${body.locator}/issue`)).body
}

async function advance(tenant: Motor, amount: number, unit = 'day'): Promise<void> {
  const { status, body } = await tenant.post<{ failed: number }>('/test/clock', { advance: { amount, unit } })
  expect([status, body.failed]).toEqual([200, 0])
}

type StreamEvent = { type: string; data: Record<string, string> }

async function dataOfEvents(tenant: Motor, type: string): Promise<StreamEvent['data'][]> {
  const path = `/eventstream/events?eventType=${type}&pageSize=1000`
  return (await tenant.get<{ events: StreamEvent[] }>(path)).body.events.map(({ data }) => data)
}

const path = (tenant: Motor) => `/event/${tenant.tenantLocator}/events/schedules`

const listed = async (tenant: Motor, query = '', list = 'list'): Promise<EventScheduleListResponse> =>
  (await tenant.get<EventScheduleListResponse>(`${path(tenant)}/${list}${query}`)).body

const scheduleOf = async (tenant: Motor, type: string) =>
  (await listed(tenant)).items.find(one => one.type === type)!

const later = (from: string | number, amount: number, unit: 'day' | 'month' | 'year'): number =>
  add(Number(from) as Instant, amount, unit, BERLIN)

describe('scheduled events of a policy', () => {
  it('are emitted once at each of their times, and the list shows the next time', async () => {
    const tenant = await tenantWith()
    const policy = await issued(tenant)
    const start = policy.originalContractStartTimestamp
    const end = policy.originalContractEndTimestamp
    const { items, listCompleted } = await listed(tenant)
    expect(listCompleted).toBe(true)
    expect(items.map(one => [one.type, one.state, one.policyLocator, one.failures])).toEqual(
      expect.arrayContaining(EVENTS.slice(0, 5).map(({ type }) => [type, 'active', policy.locator, 0])),
    )
    expect(items).toHaveLength(5)
    expect((await scheduleOf(tenant, 'custom.policy.winback')).nextTimestamp).toBe(
      new Date(later(end, 1, 'month')).toISOString(),
    )
    // The time of the day of issue is included, although it has passed.
    await advance(tenant, 1)
    expect(await dataOfEvents(tenant, 'custom.policy.welcome')).toEqual([
      {
        policyLocator: policy.locator,
        policyholderLocator: policy.policyholderLocator,
        productName: 'private_motor',
        scheduledTimestamp: start,
      },
    ])
    await advance(tenant, 3, 'month')
    expect((await dataOfEvents(tenant, 'custom.policy.survey')).map(data => data.scheduledTimestamp)).toEqual(
      [String(later(start, 2, 'month'))],
    )
    await advance(tenant, 15, 'month')
    expect(await dataOfEvents(tenant, 'custom.policy.welcome')).toHaveLength(1)
    expect(
      (await dataOfEvents(tenant, 'custom.policy.winback')).map(data => data.scheduledTimestamp),
    ).toEqual([String(later(end, 1, 'month')), String(later(end, 2, 'month'))])
    expect(await dataOfEvents(tenant, 'custom.policy.anniversary')).toHaveLength(1)
    expect((await scheduleOf(tenant, 'custom.policy.winback')).nextTimestamp).toBeUndefined()
  })

  it('follow a renewal or a cancellation that moves their anchor', async () => {
    const tenant = await tenantWith()
    const policy = await issued(tenant)
    const end = Number(policy.originalContractEndTimestamp)
    await tenant.post(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: later(end, 1, 'year'),
      state: 'issued',
    })
    expect((await scheduleOf(tenant, 'custom.policy.winback')).nextTimestamp).toBe(
      new Date(later(later(end, 1, 'year'), 1, 'month')).toISOString(),
    )
    const soon = Date.now() + 100 * DAY_MS
    await tenant.post<CancellationResponse>(`/policies/${policy.locator}/cancellations`, {
      name: 'customer_request',
      cancellationCategory: 'other',
      effectiveTimestamp: soon,
      issue: true,
    })
    await advance(tenant, 30, 'month')
    expect(
      (await dataOfEvents(tenant, 'custom.policy.winback')).map(data => data.scheduledTimestamp),
    ).toEqual([String(later(soon, 1, 'month')), String(later(soon, 2, 'month'))])
    // The policy was cancelled at these times, in both the first and the second term.
    expect(await dataOfEvents(tenant, 'custom.policy.survey')).toEqual([])
    // The event does not recur after the end of the policy.
    expect(await dataOfEvents(tenant, 'custom.policy.anniversary')).toHaveLength(1)
  })

  it('are emitted for each segment that an endorsement begins', async () => {
    const tenant = await tenantWith()
    const policy = await issued(tenant)
    const from = later(policy.originalContractStartTimestamp, 3, 'month')
    await tenant.post(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_contact',
      startTimestamp: from,
      fieldValues: { contact_phone: '+49 30 7654321' },
      state: 'issued',
    })
    await advance(tenant, 4, 'month')
    expect(
      (await dataOfEvents(tenant, 'custom.policy.changed')).map(data => data.scheduledTimestamp),
    ).toEqual([String(later(policy.originalContractStartTimestamp, 1, 'day')), String(later(from, 1, 'day'))])
  })
})

describe('an event schedule', () => {
  it('that was deleted emits nothing more, even if its times move', async () => {
    const tenant = await tenantWith()
    const policy = await issued(tenant)
    const { locator } = await scheduleOf(tenant, 'custom.policy.winback')
    const remove = () => callApi('DELETE', `${path(tenant)}/${locator}`, { token: tenant.token })
    expect((await remove()).status).toBe(200)
    expect((await remove()).status).toBe(404)
    await tenant.post(`/policies/${policy.locator}/cancellations`, {
      name: 'customer_request',
      cancellationCategory: 'other',
      effectiveTimestamp: Date.now() + DAY_MS,
      issue: true,
    })
    await advance(tenant, 3, 'month')
    expect(await dataOfEvents(tenant, 'custom.policy.winback')).toEqual([])
    expect((await listed(tenant)).items.map(one => one.type)).not.toContain('custom.policy.winback')
  })

  it('that fails repeatedly is listed as failed until it is resumed', async () => {
    const tenant = await tenantWith()
    const policy = await issued(tenant)
    const schedule = await scheduleOf(tenant, 'custom.policy.survey')
    const resume = () =>
      callApi('PATCH', `${path(tenant)}/${schedule.locator}/resume`, { token: tenant.token })
    expect((await resume()).status).toBe(409)
    const here = (await readTenant(env, { locator: tenant.tenantLocator as Uuid }, noCalls()))!
    const database = boundDatabase(here.shards[0]!)
    const row = await database
      .prepare(
        `select locator, due_at as dueAt, kind, subject, payload from timer where payload ->> 'type' = ?`,
      )
      .bind('custom.policy.survey')
      .first<Omit<Timer, 'payload'> & { payload: string }>()
    const timer = { ...row!, payload: JSON.parse(row!.payload) } as Timer
    const broken = {
      ...env,
      POLICY: {
        idFromName: () => undefined,
        get: () => ({ execute: () => Promise.reject(new Error('The object is away.')) }),
      },
    } as unknown as Env
    for (let turn = 1; turn <= MOST_TRIES; turn += 1) {
      const fired = scheduleDue(timer, { env: broken, tenant: here, shard: 0, calls: noCalls() })
      if (turn < MOST_TRIES) await expect(fired).rejects.toThrow('away')
      else await fired
    }
    // The dispatcher removes a timer once its handler returns.
    await database.prepare('delete from timer where locator = ?').bind(timer.locator).run()
    expect((await listed(tenant)).items.map(one => one.type)).not.toContain('custom.policy.survey')
    expect((await listed(tenant, '', 'failed-list')).items).toEqual([
      expect.objectContaining({
        locator: schedule.locator,
        state: 'failed',
        failures: MOST_TRIES,
        problem: 'The object is away.',
        nextTimestamp: schedule.nextTimestamp,
      }),
    ])
    await advance(tenant, 3, 'month')
    expect(await dataOfEvents(tenant, 'custom.policy.survey')).toEqual([])
    // Two simultaneous calls: one of them resumes it.
    const both = await afterBatches(1, resume, resume)
    expect([both?.acted.status, both?.sent.status]).toEqual([200, 409])
    await advance(tenant, 1)
    expect(await dataOfEvents(tenant, 'custom.policy.survey')).toMatchObject([
      {
        policyLocator: policy.locator,
        scheduledTimestamp: String(Date.parse(schedule.nextTimestamp!)),
      },
    ])
    expect((await listed(tenant, '', 'failed-list')).items).toEqual([])
  })

  it('is listed page by page and by policy, and deleting an unknown one returns 404', async () => {
    const tenant = await tenantWith(EVENTS.slice(0, 2))
    const first = await issued(tenant)
    await issued(tenant)
    const whole = await listed(tenant)
    expect(whole.items).toHaveLength(4)
    const pages = [await listed(tenant, '?count=3'), await listed(tenant, '?offset=3&count=3')]
    expect(pages.map(page => page.listCompleted)).toEqual([false, true])
    expect(pages.flatMap(page => page.items)).toEqual(whole.items)
    const ofFirst = await listed(tenant, `?policyLocator=${first.locator}`)
    expect(ofFirst.items.map(one => one.policyLocator)).toEqual([first.locator, first.locator])
    expect((await listed(tenant, '?policyLocator=nonsense')).items).toEqual([])
    // With a policy, only its database is read. A locator of another one has no policy.
    await addDatabases(tenant.tenantLocator, 7)
    const tripsFor = async (query: string) => roundTrips(await tenant.get(`${path(tenant)}/list${query}`)).d1
    await expect.poll(() => tripsFor(''), { timeout: 15_000, interval: 500 }).toBe(2)
    expect(await tripsFor(`?policyLocator=${first.locator}`)).toBe(1)
    expect(await listed(tenant, `?policyLocator=${first.locator}`)).toEqual(ofFirst)
    expect((await listed(tenant, `?policyLocator=${Number(first.locator) + 1}`)).items).toEqual([])
    expect((await listed(tenant, `?policyLocator=${Number(first.locator) + 2}`)).items).toEqual([])
    expect((await tenant.get(`${path(tenant)}/list?offset=-1`)).status).toBe(400)
    for (const locator of ['nonsense', crypto.randomUUID()]) {
      const { status } = await callApi('DELETE', `${path(tenant)}/${locator}`, { token: tenant.token })
      expect(status).toBe(404)
    }
  })
})
