// Each single database call of an operation fails once: before the batch is carried out, after it, or because the database is
// overloaded. In some runs the next call fails too. Sent again with its key, the operation has been carried out exactly once.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it, vi } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { webhookObject } from '../../src/platform/objects.ts'
import { forgetTenants, readTenant, shardName, type Tenant } from '../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { openReceiver } from '../support/receiver.ts'
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

/** Calls `run` for every fault at every call, until an operation ends before the call that was to fail. */
async function atEachCall(
  run: (when: { first: number; failing: number; fault: Fault }) => Promise<number>,
): Promise<void> {
  for (const failing of [1, 2])
    for (const fault of FAULTS)
      for (let first = 0, batches = 1; first < batches; first += 1)
        batches = await run({ first, failing, fault })
}

let motor: Motor
let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('each')
  tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
  vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})

const client = (): D1Database => boundDatabase(tenant.shards[0]!)

const eventsOf = async (policy: string): Promise<string[]> => {
  const { results } = await client()
    .prepare(`select type from ${EVERY_EVENT} where policy_locator = ? order by sequence`)
    .bind(Number(policy))
    .all<{ type: string }>()
  return results.map(({ type }) => type)
}

/** What an operation leaves of a policy, without locators and times. */
async function outcomeOf(locator: string) {
  const { body } = await motor.get(`/policy/${locator}`)
  const row = await client()
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
    events: await eventsOf(locator),
    modifications: body.modifications.map(({ name, number }) => [name, number]),
    invoices: body.invoices
      .map(({ invoiceType, totalDue, settlementStatus, payments }) =>
        JSON.stringify([invoiceType, totalDue, settlementStatus, payments.length]),
      )
      .toSorted(),
    end: Number(body.effectiveContractEndTimestamp) - Number(body.originalContractStartTimestamp),
  }
}

const draft = async (): Promise<PolicyResponse> =>
  (
    await motor.createPolicy({
      policyStartTimestamp: undefined,
      policyEndTimestamp: undefined,
      paymentScheduleName: 'monthly',
    })
  ).body

const issued = async (): Promise<PolicyResponse> =>
  (await motor.post(`/policy/${(await draft()).locator}/issue`)).body

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
    forgetTenants()
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
  await atEachCall(async when => {
    await whileFailing({ ...when, first: 1_000 }, async () => await draft())
    forgetTenants()
    const { batches } = await whileFailing(when, async () => {
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
  const created = await client()
    .prepare(`select count(*) as n from delivery where webhook_locator = ? and state = 'sent'`)
    .bind(webhook)
    .first('n')
  const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(created)
}, 120_000)
