// Nothing due is carried out for months, and then everything together: the result is the same as if it had been done day by day.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { forgetTenants, readTenant, shardName, tenantNow } from '../../src/platform/tenancy.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { boatTenant } from '../support/boat.ts'
import { boatFiles, month } from '../support/boat-product.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { type DeployedTenant, motorWithoutLapses, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000

beforeAll(() => prepareDatabases({ tenants: 12 }))

const tenantOf = async ({ tenantLocator }: DeployedTenant) =>
  (await readTenant(env, { locator: tenantLocator }, noCalls()))!

/** An issued policy of one year from today that is not paid. */
async function policyOf(motor: Motor): Promise<string> {
  const created = await motor.createPolicy({
    policyStartTimestamp: undefined,
    policyEndTimestamp: undefined,
    paymentScheduleName: 'monthly',
  })
  expect((await motor.post(`/policy/${created.body.locator}/issue`)).status).toBe(200)
  return created.body.locator
}

/** Moves the clock of the tenant without any alarm. */
async function sleep(motor: DeployedTenant, days: number): Promise<void> {
  await env.CONTROL.prepare('update tenant set clock_offset_ms = clock_offset_ms + ? where locator = ?')
    .bind(days * DAY_MS, motor.tenantLocator)
    .run()
  forgetTenants()
}

/** Runs alarms until nothing is due. */
async function wake(motor: DeployedTenant, most = 20): Promise<void> {
  for (let looks = 0; looks < most; looks += 1) {
    const due = await dispatchDue(env, shardName(await tenantOf(motor), 0))
    if (due === undefined || due > Date.now()) return
  }
  throw new Error('It does not come to an end.')
}

type Told = { type: string; data: Record<string, string> }

const told = async (motor: Motor, since = 'policy.issue'): Promise<string[]> => {
  const { body } = await motor.get<{ events: Told[] }>('/eventstream/events?startTimestamp=0&pageSize=1000')
  const types = body.events.map(({ type }) => type)
  return types.slice(types.indexOf(since))
}

describe('after an outage', () => {
  it('an unpaid policy ends and is billed as if the clock had moved day by day', async () => {
    const [slept, walked] = [await motorTenant('slept'), await motorTenant('walked')]
    const seen = await Promise.all(
      [slept, walked].map(async motor => {
        const policy = await policyOf(motor)
        if (motor === slept) {
          await sleep(motor, 400)
          await wake(motor)
          // Late bills are due at the end of the day.
          await sleep(motor, 1)
          await wake(motor)
        } else
          for (let day = 0; day < 400; day += 8)
            expect(
              (await motor.post<object>('/test/clock', { advance: { amount: 8, unit: 'day' } })).body,
            ).toMatchObject({ completed: true, failed: 0 })
        const { body } = await motor.get(`/policy/${policy}`)
        const cancellations = await motor.get<CancellationResponse[]>(`/policies/${policy}/cancellations`)
        return {
          told: await told(motor),
          invoices: body.invoices.map(({ startTimestamp, endTimestamp, totalDue, settlementStatus }) => [
            new Date(Number(startTimestamp)).toISOString().slice(0, 13),
            new Date(Number(endTimestamp)).toISOString().slice(0, 13),
            totalDue,
            settlementStatus,
          ]),
          end: new Date(Number(body.effectiveContractEndTimestamp)).toISOString().slice(0, 13),
          cancellations: cancellations.body.map(({ name, state }) => [name, state]),
        }
      }),
    )
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]!.told).toContain('policy.cancel')
    expect(seen[0]!.told).not.toContain('policy.end')
  })

  it.each([
    ['lapse', ['products/boat/policy/cancellations.json'], ['policy.lapse']],
    ['cancellation', [], ['policy.cancel', 'invoice.pastDue']],
  ])(
    'an invoice past due when the grace period ends is reported after the %s, if still owed',
    async (name, without, most) => {
      const path = 'products/boat/policy/policy.json'
      const product = JSON.parse(boatFiles('EUR', false)[path]!) as object
      const lapse = { gracePeriodDays: 7, reinstatementPeriodDays: 30 }
      const files = { [path]: JSON.stringify({ ...product, lapse }) }
      const seen = await Promise.all(
        ['slept', 'walked'].map(async way => {
          const boats = await boatTenant(`${name}${way}`, 'EUR', { files, without })
          await boats.insured({ yearly: '5200', paymentScheduleName: 'weekly' })
          // The bill of January 8 is created. That of January 1 is not paid, and its grace period ends when the other is past
          // due.
          await boats.until(month(-1, 31))
          if (way === 'slept') {
            await sleep(boats, 10)
            await wake(boats)
          } else for (let at = 1; at <= 10; at += 1) await boats.until(month(0, at))
          const { events } = await boats.ok<{ events: Told[] }>(
            'GET',
            '/eventstream/events?startTimestamp=0&pageSize=1000',
          )
          return events
            .map(({ type }) => type)
            .slice(events.findIndex(one => one.type === 'policy.gracePeriod'))
        }),
      )
      expect(seen[0]).toEqual(seen[1])
      expect(seen[0]!.filter(type => /pastDue|policy.lapse|policy.cancel/.test(type))).toEqual(most)
    },
  )

  it('late invoices are due at the end of the day, with one for each period', async () => {
    const motor = await motorTenant('late', motorWithoutLapses())
    const policy = await policyOf(motor)
    await sleep(motor, 100)
    const at = tenantNow(await tenantOf(motor))
    await wake(motor)
    const { body } = await motor.get(`/policy/${policy}`)
    expect(body.invoices).toHaveLength(4)
    expect(new Set(body.invoices.map(one => one.startTimestamp)).size).toBe(4)
    for (const { dueTimestamp } of body.invoices.slice(1)) expect(Number(dueTimestamp)).toBeGreaterThan(at)
  })

  it('scheduled events are emitted once for each of their times, in order, with the state of the policy then', async () => {
    const files = motorWithoutLapses()
    const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array)) as object
    const schedule = {
      anchor: 'policyStart',
      cadence: { intervalDuration: 1, durationBasis: 'month' },
      suppressOnStatuses: ['expired'],
    }
    const customEvents = [{ type: 'custom.policy.monthly', schedule }]
    const motor = await motorTenant('events', {
      ...files,
      'config.json': JSON.stringify({ ...config, customEvents }),
    })
    const policy = await policyOf(motor)
    await sleep(motor, 400)
    await wake(motor)
    const { body } = await motor.get<{ events: Told[] }>('/eventstream/events?startTimestamp=0&pageSize=1000')
    const times = body.events
      .filter(({ type }) => type === 'custom.policy.monthly')
      .map(({ data }) => Number(data.scheduledTimestamp))
    expect(times).toHaveLength(12)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    const { body: seen } = await motor.get(`/policy/${policy}`)
    expect(times[0]).toBe(Number(seen.originalContractStartTimestamp))
  })

  it('a timer that fails is repeated before the others of its subject, which wait for it only once', async () => {
    const motor = await motorTenant('failing')
    const client = boundDatabase((await tenantOf(motor)).shards[0]!)
    await client.exec(
      `insert into timer (locator, due_at, kind, subject, payload) values ('a', 1, 'of.tomorrow', 's', '{}'), ('b', 2, 'quickQuote.expiry', 's', '{}'), ('c', 3, 'quickQuote.expiry', 'other', '{}')`,
    )
    const left = async () => {
      await wake(motor)
      const { results } = await client
        .prepare(`select locator from timer where subject in ('s', 'other') order by 1`)
        .all<{ locator: string }>()
      return results.map(({ locator }) => locator)
    }
    expect(await left()).toEqual(['a', 'b'])
    // Set while the others are leased, and due before them.
    await client.exec(
      `insert into timer (locator, due_at, kind, subject, payload) values ('d', 0, 'quickQuote.expiry', 's', '{}')`,
    )
    expect(await left()).toEqual(['a', 'b', 'd'])
    await sleep(motor, 1)
    expect(await left()).toEqual(['a'])
  })

  it('a run sends fewer than 1,000 statements, and later runs do the rest', async () => {
    const motor = await motorTenant('many', motorWithoutPapers())
    const tenant = await tenantOf(motor)
    const client = boundDatabase(tenant.shards[0]!)
    await client.exec(
      `insert into timer (locator, due_at, kind, subject, payload) with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200) select 't' || i, i, 'quickQuote.expiry', 's' || i, '{}' from n`,
    )
    const left = async () =>
      (await client.prepare('select count(*) as n from timer').first<{ n: number }>())!.n
    let looks = 0
    for (; (await left()) > 0 && looks < 20; looks += 1) {
      let sent = 0
      const counted = {
        withSession: (constraint?: string) => {
          const session = client.withSession(constraint)
          return {
            prepare: (query: string) => session.prepare(query),
            getBookmark: () => session.getBookmark(),
            batch: (statements: D1PreparedStatement[]) => {
              sent += statements.length
              return session.batch(statements)
            },
          }
        },
      }
      await dispatchDue({ ...env, [tenant.shards[0]!]: counted } as unknown as Env, shardName(tenant, 0))
      expect(sent).toBeLessThan(1_000)
    }
    expect(looks).toBeGreaterThan(1)
    expect(await left()).toBe(0)
  })
})
