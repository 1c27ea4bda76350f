// Each single database call of an operation fails once: before the batch is carried out, after it, or because the database is
// overloaded. In some runs the next call fails too. Sent again with its key, the operation has been carried out exactly once.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it, vi } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { webhookObject } from '../../src/platform/objects.ts'
import { forgetTenants, readTenant, shardName, type Tenant, tenantNow } from '../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { openReceiver } from '../support/receiver.ts'
import { size } from '../support/sizes.ts'
import { elapse } from './injection.ts'

const DAY_MS = 86_400_000

const FAULTS = ['before', 'after', 'overloaded'] as const
type Fault = (typeof FAULTS)[number]

/** Tests and service share one isolate, so all databases have the same prototype. */
type Sessions = { batch(this: unknown, statements: unknown): Promise<unknown> }

/** Runs `work` while the batches from number `first` on fail, `failing` of them. Returns the number of batches. */
async function whileFailing<Result>(
  { first, failing, fault }: { first: number; failing: number; fault: Fault },
  work: () => Promise<Result>,
): Promise<{ result: Result; batches: number }> {
  const sessions = Object.getPrototypeOf(env.CONTROL.withSession()) as Sessions
  const own = sessions.batch
  let batches = 0
  sessions.batch = async function (statements) {
    const number = batches++
    const fails = number >= first && number < first + failing
    if (fails && fault === 'before') throw new Error('D1_ERROR: Network connection lost.')
    if (fails && fault === 'overloaded')
      throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')
    const results = await own.call(this, statements)
    if (fails) throw new Error('D1_ERROR: Network connection lost.')
    return results
  }
  try {
    return { result: await work(), batches }
  } finally {
    sessions.batch = own
  }
}

/**
 * Calls `run` for every fault at every call, until an operation ends before the call that was to fail. `run` returns the number of
 * calls.
 */
async function atEachCall(
  run: (when: { first: number; failing: number; fault: Fault }) => Promise<number>,
  { faults = FAULTS, most = 2 }: { faults?: readonly Fault[]; most?: number } = {},
): Promise<void> {
  for (let failing = 1; failing <= most; failing += 1)
    // A failure may end the operation, so it has more calls than that run.
    for (const fault of faults)
      for (let first = 0; (await run({ first, failing, fault })) > first; first += 1);
}

let motor: Motor
let tenant: Tenant
/** Has the same policies, and no call of its own fails. */
let twin: Motor
let twinTenant: Tenant

const tenantOf = async ({ tenantLocator }: Motor): Promise<Tenant> =>
  (await readTenant(env, { locator: tenantLocator }, noCalls()))!

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('each')
  twin = await motorTenant('twin')
  tenant = await tenantOf(motor)
  twinTenant = await tenantOf(twin)
  vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})

/** Makes the service, and this module's copy of its code, read tenants again. */
function forgetEverywhere(): void {
  globalThis.forgetTenants?.()
  forgetTenants()
}

const client = (of = tenant): D1Database => boundDatabase(of.shards[0]!)

const eventsOf = async (policy: string, of: Tenant): Promise<string[]> => {
  const { results } = await client(of)
    .prepare(`select type from ${EVERY_EVENT} where policy_locator = ? order by sequence`)
    .bind(Number(policy))
    .all<{ type: string }>()
  return results.map(({ type }) => type)
}

/** What an operation leaves of a policy, without locators and times. */
async function outcomeOf(locator: string, of = motor) {
  const { body } = await of.get(`/policy/${locator}`)
  const its = of === motor ? tenant : twinTenant
  const row = await client(its)
    .prepare(
      `select p.version, (select count(*) from "write" where subject like ?1 || '%') as writes,
        (select count(*) from timer where subject = ?1) as timers,
        (select count(*) from journal where policy_locator = p.locator) as posted
       from policy p where locator = ?2`,
    )
    .bind(locator, Number(locator))
    .first<{ version: number; writes: number; timers: number; posted: number }>()
  return {
    ...row!,
    events: await eventsOf(locator, its),
    modifications: body.modifications.map(({ name, number }) => [name, number]),
    invoices: body.invoices
      .map(({ invoiceType, totalDue, settlementStatus, payments }) =>
        JSON.stringify([invoiceType, totalDue, settlementStatus, payments.length]),
      )
      .toSorted(),
    end: Number(body.effectiveContractEndTimestamp) - Number(body.originalContractStartTimestamp),
  }
}

const FROM_TODAY = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }

const draft = async (of = motor, times: object = FROM_TODAY): Promise<PolicyResponse> =>
  (await of.createPolicy({ ...times, paymentScheduleName: 'monthly' })).body

const issued = async (of = motor, times: object = FROM_TODAY): Promise<PolicyResponse> =>
  (await of.post(`/policy/${(await draft(of, times)).locator}/issue`)).body

type Operation = {
  prepare(): Promise<{ locator: string; method: 'POST' | 'PATCH'; path: string; body?: object }>
}

const OPERATIONS: Record<string, Operation> = {
  issue: {
    async prepare() {
      const { locator } = await draft()
      return { locator, method: 'POST', path: `/policy/${locator}/issue` }
    },
  },
  'pay an invoice': {
    async prepare() {
      const { locator, invoices } = await issued()
      const body = { fieldValues: { method: 'card' } }
      return { locator, method: 'POST', path: `/invoice/${invoices[0]!.locator}/pay`, body }
    },
  },
  cancel: {
    async prepare() {
      const { locator, originalContractStartTimestamp: start } = await issued()
      const { body } = await motor.post<{ locator: string }>(`/policies/${locator}/cancellations`, {
        effectiveTimestamp: Number(start) + 40 * DAY_MS,
        name: 'customer_request',
        cancellationCategory: 'other',
      })
      return { locator, method: 'PATCH', path: `/cancellations/${body.locator}/issue` }
    },
  },
}

it.each(Object.entries(OPERATIONS))('%s', async (name, { prepare }) => {
  const send = async (
    sent: Awaited<ReturnType<Operation['prepare']>>,
    key?: string,
  ): Promise<Answer<object>> =>
    await callApi(sent.method, sent.path, {
      token: motor.token,
      body: sent.body,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
  const plain = await prepare()
  const before = await outcomeOf(plain.locator)
  expect((await send(plain, crypto.randomUUID())).status).toBe(200)
  const expected = await outcomeOf(plain.locator)
  let runs = 0
  await atEachCall(async when => {
    runs += 1
    const sent = await prepare()
    const key = crypto.randomUUID()
    forgetEverywhere()
    const { result, batches } = await whileFailing(when, () => send(sent, key))
    const label = `${name} ${JSON.stringify(when)} ${result.status} ${JSON.stringify(result.body).slice(0, 200)}`
    expect([200, 503], label).toContain(result.status)
    // All or nothing, before it is sent again.
    const left = await outcomeOf(sent.locator)
    const isDone = left.version === expected.version
    expect(left, label).toEqual(isDone ? expected : before)
    if (result.status === 200) expect(isDone, label).toBe(true)
    const again = await send(sent, key)
    expect(again.status, label).toBe(200)
    expect(await outcomeOf(sent.locator), label).toEqual(expected)
    return batches
  })
  expect(runs).toBeGreaterThanOrEqual(FAULTS.length * 2)
})

const SETTLE_MS = 61_000

/** Moves the clocks of both tenants without any alarm. */
async function sleep(ms: number): Promise<void> {
  await env.CONTROL.prepare('update tenant set clock_offset_ms = clock_offset_ms + ? where locator in (?, ?)')
    .bind(ms, tenant.locator, twinTenant.locator)
    .run()
  forgetEverywhere()
}

/** Looks until nothing is due, and again when the leases of interrupted timers have ended. */
async function wake(): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    const next = [
      await dispatchDue(env, shardName(tenant, 0)),
      await dispatchDue(env, shardName(twinTenant, 0)),
    ]
    if (next.some(at => at !== undefined && at <= Date.now())) continue
    quiet += 1
    await sleep(SETTLE_MS)
  }
}

it('a tick that invoices, starts a grace period and lapses the policy', async () => {
  const some = size({ faults: ['before', 'after'] as const, most: 1 }, {})
  await atEachCall(async when => {
    const start = tenantNow(await tenantOf(motor))
    const times = { policyStartTimestamp: start, policyEndTimestamp: start + 62 * DAY_MS }
    const { locator } = await issued(motor, times)
    const undisturbed = await issued(twin, times)
    await sleep(40 * DAY_MS)
    const { batches } = await whileFailing(when, () =>
      dispatchDue(env, shardName(tenant, 0)).catch(() => undefined),
    )
    await wake()
    const expected = await outcomeOf(undisturbed.locator, twin)
    expect(expected.events).toEqual(expect.arrayContaining(['policy.gracePeriod', 'policy.cancel']))
    expect(await outcomeOf(locator), JSON.stringify(when)).toEqual(expected)
    return batches
  }, some)
}, 240_000)

it('a delivery of a webhook', async () => {
  const receiver = await openReceiver({ status: 200 })
  const { locator: webhook } = await callOk<{ locator: string }>(
    'POST',
    `/event/${tenant.locator}/webhooks`,
    {
      token: await motor.signIn('anna.admin'),
      body: {
        name: 'books',
        enabled: true,
        eventTypes: ['policy.create'],
        endpoint: { url: receiver.url, headers: {} },
      },
    },
  )
  const object = webhookObject(env, tenant, 0, webhook as never) as unknown as DurableObjectStub
  const waiting = async () =>
    (await client()
      .prepare(`select count(*) as n from delivery where state in ('pending', 'waiting')`)
      .first('n'))!
  // Without a hint, nothing delivers until the dispatcher looks.
  const queue = Object.getPrototypeOf(env.ANNOUNCEMENTS) as Queue
  const hints = [vi.spyOn(queue, 'send'), vi.spyOn(queue, 'sendBatch')]
  for (const hint of hints) hint.mockImplementation(async () => undefined as never)
  await atEachCall(async when => {
    await draft()
    forgetEverywhere()
    const { batches } = await whileFailing(when, async () => {
      await dispatchDue(env, shardName(tenant, 0)).catch(() => {})
      await runDurableObjectAlarm(object).catch(() => {})
    })
    for (let tries = 0; tries < 10 && (await waiting()) !== 0; tries += 1) {
      elapse(61_000)
      forgetTenants()
      await dispatchDue(env, shardName(tenant, 0)).catch(() => {})
      await runDurableObjectAlarm(object).catch(() => {})
      await scheduler.wait(20)
    }
    expect(await waiting(), JSON.stringify(when)).toBe(0)
    return batches
  })
  for (const hint of hints) hint.mockRestore()
  const created = await client()
    .prepare(`select count(*) as n from delivery where webhook_locator = ? and state = 'sent'`)
    .bind(webhook)
    .first('n')
  const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(created)
}, 120_000)
