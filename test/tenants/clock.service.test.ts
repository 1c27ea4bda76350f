// Moving the clock of a test tenant through HTTP, and the work that falls due on the way.
import { evictAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { add, endOfDay, type Instant, startOfDay, type TimeZone } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { dispatcherObject } from '../../src/platform/objects.ts'
import { forgetTenants, readTenant, shardName, type Tenant, tenantNow } from '../../src/platform/tenancy.ts'
import type { GetPolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import { createTenant } from '../../src/tenants/service.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { archiveOf, deployForm, motorWithoutLapses } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { openReceiver } from '../support/receiver.ts'
import { administrator } from '../support/sign-in.ts'
import { size } from '../support/sizes.ts'

beforeAll(() => prepareDatabases({ tenants: 24 }))

const BERLIN = 'Europe/Berlin' as TimeZone
const DAY_MS = 86_400_000
/** More than enough for the work of one step: the clock continues meanwhile. */
const SOON_MS = 60_000

let motor: Motor
let made = 0

beforeEach(async () => {
  made += 1
  motor = await motorTenant(`clock${made}`, motorWithoutLapses())
})

const tenantOf = async ({ tenantLocator }: Motor): Promise<Tenant> =>
  (await readTenant(env, { locator: tenantLocator }, noCalls()))!

const timeOf = async (of: Motor): Promise<Instant> => tenantNow(await tenantOf(of))

/** The test itself reads the new clock immediately instead of within 5 s. */
async function move(body: object, of = motor, headers = {}): Promise<Answer<ClockResponse>> {
  const answer = await of.post<ClockResponse>('/test/clock', body, headers)
  forgetTenants()
  return answer
}

async function moveTo(timestamp: Instant, of = motor): Promise<void> {
  const { status, body } = await move({ timestamp }, of)
  expect([status, body]).toEqual([
    200,
    { timestamp: String(timestamp), targetTimestamp: String(timestamp), completed: true, failed: 0 },
  ])
}

const advance = async (amount: number, unit: string, of = motor): Promise<ClockResponse> => {
  const { status, body } = await move({ advance: { amount, unit } }, of)
  expect([status, body.completed, body.failed]).toEqual([200, true, 0])
  return body
}

/** An issued policy of one year from today. */
async function policyOf(of: Motor, changes: object = {}): Promise<PolicyResponse> {
  const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
  const created = await of.createPolicy({ ...span, ...changes })
  expect(created.status).toBe(200)
  const { status, body } = await of.post(`/policy/${created.body.locator}/issue`)
  expect(status).toBe(200)
  return body
}

type StreamEvent = { type: string; timestamp: string; data: Record<string, string>; username: string }

async function stream(of: Motor, type: string): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  let query = `startTimestamp=0&pageSize=1000`
  for (;;) {
    const { body } = await of.get<{ events: StreamEvent[]; pagingToken: string }>(
      `/eventstream/attributedEvents?${query}`,
    )
    events.push(...body.events.filter(event => event.type.startsWith(type)))
    if (body.events.length === 0) return events
    query = `pagingToken=${encodeURIComponent(body.pagingToken)}`
  }
}

/** The end events of the stream, without their times. */
const ends = async (of: Motor) =>
  (await stream(of, 'policy.end')).map(({ type, data }) => [type, data.reminderName, data.endTimestamp])

const endsOf = ({ effectiveContractEndTimestamp: end }: PolicyResponse) => [
  ['policy.end.reminder', 'renewal_offer', end],
  ['policy.end.reminder', 'last_call', end],
  ['policy.end', undefined, end],
]

const databaseOf = async (of: Motor): Promise<D1Database> => boundDatabase((await tenantOf(of)).shards[0]!)

const timersOf = async (of: Motor): Promise<Record<string, unknown>[]> =>
  (await (await databaseOf(of)).prepare('select * from timer order by due_at, subject, locator').all())
    .results

/** Waits for documents, because pending documents make the dispatcher look again in a minute. */
const papersMade = async (of: Motor): Promise<void> => {
  const waiting = (await databaseOf(of)).prepare('select count(*) as count from document_job')
  for (let turn = 0; turn < 200 && (await waiting.first('count')) !== 0; turn += 1)
    await new Promise(resolve => setTimeout(resolve, 100))
}

describe('the end of a policy', () => {
  it('is reminded of and announced in one jump, each event at its time and by the system', async () => {
    const policy = await policyOf(motor)
    const end = Number(policy.effectiveContractEndTimestamp) as Instant
    await moveTo((end + DAY_MS) as Instant)
    expect(await ends(motor)).toEqual(endsOf(policy))
    const emitted = await stream(motor, 'policy.end')
    const due = [add(end, -42, 'day', BERLIN), add(end, -7, 'day', BERLIN), end]
    for (const [at, event] of emitted.entries()) {
      expect(Number(event.timestamp) - due[at]!).toBeGreaterThanOrEqual(0)
      expect(Number(event.timestamp) - due[at]!).toBeLessThan(SOON_MS)
      expect(event).toMatchObject({ username: 'system', data: { policyLocator: policy.locator } })
    }
    expect(await timersOf(motor)).toEqual([])
  })

  it('is announced in the same way when the clock moves day by day and objects are evicted', async () => {
    const policy = await policyOf(motor)
    const end = Number(policy.effectiveContractEndTimestamp) as Instant
    let emitted = 0
    for (let day = add(end, -44, 'day', BERLIN); day < end + 2 * DAY_MS; day = add(day, 1, 'day', BERLIN)) {
      await moveTo((day + 60_000) as Instant)
      const due = [42, 7, 0].filter(days => add(end, -days, 'day', BERLIN) <= day).length
      const events = await ends(motor)
      expect(events).toHaveLength(due)
      if (events.length > emitted || day % 5 === 0) await evictAllDurableObjects()
      emitted = events.length
    }
    expect(await ends(motor)).toEqual(endsOf(policy))
  })

  it('is not announced before it is reached', async () => {
    const policy = await policyOf(motor)
    await moveTo((Number(policy.effectiveContractEndTimestamp) - 60_000) as Instant)
    expect(await ends(motor)).toEqual(endsOf(policy).slice(0, 2))
  })

  it('is announced once, even if its timers fire again or simultaneously', async () => {
    const policy = await policyOf(motor)
    const end = Number(policy.effectiveContractEndTimestamp) as Instant
    const kept = await timersOf(motor)
    const database = await databaseOf(motor)
    const setAgain = () =>
      database.batch(
        kept.map(timer =>
          database
            .prepare('insert into timer (locator, due_at, kind, subject, payload) values (?, ?, ?, ?, ?)')
            .bind(timer.locator, timer.due_at, timer.kind, timer.subject, timer.payload),
        ),
      )
    await moveTo(end)
    await setAgain()
    await dispatchDue(env, shardName(await tenantOf(motor), 0))
    await setAgain()
    await evictAllDurableObjects()
    const name = shardName(await tenantOf(motor), 0)
    await Promise.all([advance(1, 'minute'), dispatchDue(env, name), dispatchDue(env, name)])
    expect(await ends(motor)).toEqual(endsOf(policy))
  })

  it('is announced in order for each policy, even if everything is late', async () => {
    const policies = [await policyOf(motor), await policyOf(motor)]
    // Three years earlier, with the intervals unchanged.
    await (await databaseOf(motor)).exec('update timer set due_at = due_at - 94608000000')
    await dispatchDue(env, shardName(await tenantOf(motor), 0))
    const emitted = await stream(motor, 'policy.end')
    for (const policy of policies)
      expect(
        emitted
          .filter(event => event.data.policyLocator === policy.locator)
          .map(({ type, data }) => [type, data.reminderName, data.endTimestamp]),
      ).toEqual(endsOf(policy))
  })

  it('is not announced for a policy that was never issued', async () => {
    await motor.createPolicy({ policyStartTimestamp: undefined, policyEndTimestamp: undefined })
    await advance(2, 'year')
    expect(await ends(motor)).toEqual([])
  })

  it('is delivered to webhooks', async () => {
    const receiver = await openReceiver()
    await callOk('POST', `/event/${motor.tenantLocator}/webhooks`, {
      token: await motor.signIn('anna.admin'),
      body: {
        name: 'ends',
        enabled: true,
        endpoint: { url: receiver.url, headers: {} },
        failureHandling: { triggers: [], divert: false, suspend: false },
        eventTypes: ['policy.end.*', 'policy.end'],
      },
    })
    await policyOf(motor)
    await advance(13, 'month')
    expect(await receiver.wait(3)).toHaveLength(3)
  })
})

describe('planned invoices', () => {
  const monthly = { paymentScheduleName: 'monthly' }

  const invoicesOf = async (policy: PolicyResponse, of: Motor) => {
    const { body } = await of.get(`/policy/${policy.locator}`)
    return body.invoices.toSorted((a, b) => Number(a.startTimestamp) - Number(b.startTimestamp))
  }

  it('are created on time, and total exactly the price of the policy', async () => {
    const policy = await policyOf(motor, monthly)
    await advance(1, 'year')
    const invoices = await invoicesOf(policy, motor)
    expect(invoices).toHaveLength(12)
    for (const invoice of invoices.slice(1)) {
      const dueAt = Number(invoice.dueTimestamp) as Instant
      expect(dueAt).toBe(endOfDay(Number(invoice.startTimestamp) as Instant, BERLIN))
      const late = Number(invoice.createdTimestamp) - add(dueAt, -14, 'day', BERLIN)
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(SOON_MS)
    }
    const { body: price } = await motor.get<GetPolicyPriceResponse>(`/policy/${policy.locator}/price`)
    const cents = invoices.map(invoice => Math.round(invoice.totalDue * 100))
    expect(cents.reduce((sum, one) => sum + one, 0)).toBe(Math.round(price.totalDue * 100))
    expect(Math.max(...cents.slice(1)) - Math.min(...cents.slice(1))).toBeLessThan(200)
    const emitted = await stream(motor, 'invoice.issue')
    expect(emitted.map(event => [event.data.invoiceLocator, Number(event.data.totalDue)])).toEqual(
      invoices.map(invoice => [invoice.locator, invoice.totalDue]),
    )
  })

  it('are the same whether the clock jumps or moves week by week with restarts', async () => {
    const walking = await motorTenant(`walk${made}`, motorWithoutLapses())
    const policies = [await policyOf(motor, monthly), await policyOf(walking, monthly)] as const
    const weeks = size(9, 52)
    await advance(weeks, 'week')
    for (let week = 0; week < weeks; week += 1) {
      await advance(1, 'week', walking)
      if (week % 7 === 0) await evictAllDurableObjects()
    }
    const shown = async (policy: PolicyResponse, of: Motor) =>
      (await invoicesOf(policy, of)).map(({ startTimestamp, dueTimestamp, totalDue }) => [
        startTimestamp,
        dueTimestamp,
        totalDue,
      ])
    expect(await shown(policies[1], walking)).toEqual(await shown(policies[0], motor))
  })
})

describe('the clock of a tenant', () => {
  it('sets the time of requests, records and events, while tokens use the real time', async () => {
    const before = Date.now()
    await advance(3, 'year')
    const { body: policy } = await motor.createPolicy({
      policyStartTimestamp: undefined,
      policyEndTimestamp: undefined,
    })
    const then = add(before as Instant, 3, 'year', BERLIN)
    for (const at of [policy.createdTimestamp, (await stream(motor, 'policy.create'))[0]!.timestamp]) {
      expect(Number(at) - then).toBeGreaterThanOrEqual(0)
      expect(Number(at) - then).toBeLessThan(60_000)
    }
    expect(Number(policy.originalContractStartTimestamp)).toBe(startOfDay(then, BERLIN))
    const token = await motor.signIn('alice.agent')
    const logins = await stream(motor, 'login')
    expect(Number(logins.at(-1)!.timestamp)).toBeGreaterThanOrEqual(then)
    const renewed = await callOk<{ expiresTimestamp: string }>('POST', '/account/renewAuthentication', {
      token,
    })
    expect(Number(renewed.expiresTimestamp) - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  it('does not affect other tenants, and is reset when the tenant is recreated', async () => {
    const other = await motorTenant(`other${made}`, motorWithoutLapses())
    await advance(1, 'year')
    expect(Math.abs((await timeOf(other)) - Date.now())).toBeLessThan(SOON_MS)
    expect((await timeOf(motor)) - Date.now()).toBeGreaterThan(360 * DAY_MS)
    await callOk('POST', '/configuration/studio/deploy', {
      token: await administrator(),
      body: deployForm(archiveOf(motorWithoutLapses()), {
        tenantName: motor.tenantName,
        recreate: 'true',
      }),
    })
    expect(Math.abs((await timeOf(motor)) - Date.now())).toBeLessThan(SOON_MS)
  })

  it('cannot be moved in a production tenant (400)', async () => {
    const { name, locator } = await createTenant(env, { name: `live${made}`, type: 'production' })
    await administrator()
    const { authorizationToken } = await callOk<{ authorizationToken: string }>(
      'POST',
      `/account/authenticateAdmin?tenantName=${name}`,
      { body: { username: 'administrator', password: 'correct horse battery staple' } },
    )
    const { status, body } = await callApi<{ message: string }>('POST', '/test/clock', {
      token: authorizationToken,
      body: { advance: { amount: 1, unit: 'day' } },
    })
    expect([status, body]).toMatchObject([400, { code: 'tenantTypeMismatch' }])
    expect(body.message).toContain('production tenant')
    expect((await readTenant(env, { locator }, noCalls()))!.clockOffsetMs).toBe(0)
  })

  it('cannot be moved back, more than 10 years ahead, or by another caller than a user of the tenant', async () => {
    await advance(1, 'day')
    const back = await move({ timestamp: Date.now() + DAY_MS / 2 })
    expect([back.status, back.body]).toMatchObject([400, { code: 'invalidRequest' }])
    expect((await move({ advance: { amount: 11, unit: 'year' } })).status).toBe(400)
    expect((await move({ advance: { amount: -1, unit: 'day' } })).status).toBe(400)
    expect((await callApi('POST', '/test/clock', { body: {} })).status).toBe(401)
    const { status } = await move({ advance: { amount: 1, unit: 'day' } }, {
      ...motor,
      post: async (path: string, body: unknown) =>
        callApi('POST', path, { token: await administrator(), body }),
    } as Motor)
    expect(status).toBe(403)
  })

  it('moves once when the request is repeated with the same Idempotency-Key', async () => {
    const by = { advance: { amount: 1, unit: 'year' } }
    const first = await move(by, motor, { 'idempotency-key': 'once' })
    await dispatchDue(env, shardName(await tenantOf(motor), 0))
    const second = await move(by, motor, { 'idempotency-key': 'once' })
    expect(second.body.targetTimestamp).toBe(first.body.targetTimestamp)
    expect((await timeOf(motor)) - Date.now()).toBeLessThan(367 * DAY_MS)
  })

  it('stops where a call with too much work ended, and continues with the next call', async () => {
    const policies = await Promise.all(Array.from({ length: 4 }, () => policyOf(motor)))
    const { body: locators } = { body: policies.map(policy => policy.locator) }
    const database = await databaseOf(motor)
    const from = await timeOf(motor)
    await database.batch(
      Array.from({ length: 400 }, (_, at) =>
        database
          .prepare(
            `insert into timer (locator, due_at, kind, subject, payload) values (?, ?, 'policy.invoice', ?, '{}')`,
          )
          .bind(`t${at}`, from + (at + 1) * 60_000, locators[at % 4]),
      ),
    )
    const target = from + 1_000 * 60_000
    let last = from
    let calls = 0
    for (;;) {
      const { body } = await move({ timestamp: target })
      calls += 1
      expect(Number(body.timestamp)).toBeGreaterThan(last)
      last = Number(body.timestamp) as Instant
      const standing = await timeOf(motor)
      expect(Math.abs(standing - last)).toBeLessThan(SOON_MS)
      const [left] = (
        await database
          .prepare('select count(*) as n from timer where due_at <= ?')
          .bind(last)
          .all<{ n: number }>()
      ).results
      expect(left!.n).toBe(0)
      expect(body.targetTimestamp).toBe(String(target))
      if (body.completed) break
    }
    expect(calls).toBeGreaterThan(1)
    expect(calls).toBeLessThan(10)
    expect(last).toBe(target)
  })

  it('is not blocked by a timer that fails: it reports the failure and tries again later', async () => {
    const database = await databaseOf(motor)
    const policy = await policyOf(motor)
    await database.exec(
      `insert into timer (locator, due_at, kind, subject, payload) values ('t', 0, 'of.tomorrow', '', '{}')`,
    )
    const { body } = await move({ advance: { amount: 2, unit: 'year' } })
    expect(body).toMatchObject({ completed: true, failed: 1 })
    expect(await ends(motor)).toEqual(endsOf(policy))
    const [left] = await timersOf(motor)
    expect(left).toMatchObject({ locator: 't', due_at: Number(body.timestamp) + 60_000 })
  })

  it('makes the dispatcher set its alarm again, since the next timer is due sooner', async () => {
    const policy = await policyOf(motor)
    const end = Number(policy.effectiveContractEndTimestamp) as Instant
    await moveTo((end - 8 * DAY_MS) as Instant)
    const tenant = await tenantOf(motor)
    const object = dispatcherObject(env, tenant, 0)
    const alarm = await runInDurableObject(object, (_, state) => state.storage.getAlarm())
    expect(alarm! - Date.now()).toBeLessThanOrEqual(10_000)
    await papersMade(motor)
    const due = await dispatchDue(env, shardName(tenant, 0))
    const reminder = add(end, -7, 'day', BERLIN) - tenant.clockOffsetMs
    expect(due).toBe(reminder)
  })
})
