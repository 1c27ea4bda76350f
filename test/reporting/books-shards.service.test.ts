// The books of a tenant with two databases: balances are sums over both journals, and a period is closed in both.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { shardOfUuid, type Uuid } from '../../src/kernel/locators.ts'
import { dayStart, type Instant, isoDay, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { bookedAt } from '../../src/policy/journal/rows.ts'
import { readJournalRow } from '../../src/policy/store/journal.ts'
import type { BalancesResponse, BooksResponse, PeriodResponse } from '../../src/reporting/books/contract.ts'
import { addShards, openNewShards } from '../../src/tenants/service.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000
const ZONE = 'Europe/Berlin' as TimeZone
const KNOWN_AFTER_MS = 5_100
const BACKLOG = 3_500

const cents = (amount: unknown): number => Math.round(Number(amount) * 100)
const day = (text: string): Instant => dayStart(text, ZONE)!

let motor: Motor
let token: string
/** One policy in each shard. */
let policies: PolicyResponse[]

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('ledgers')
  token = await motor.signIn('anna.admin')
  await addShards(env, motor.tenantName, 2)
  await openNewShards(env, motor.tenantName)
  await env.CONTROL.prepare('update shard set opens_at = 0').run()
  await scheduler.wait(KNOWN_AFTER_MS)
  policies = [await issued(0), await issued(1)]
})

async function issued(shard: number): Promise<PolicyResponse> {
  for (;;) {
    const policyholderLocator = await motor.newPolicyholder()
    if (shardOfUuid(policyholderLocator as Uuid) !== shard) continue
    const { body } = await motor.createPolicy({ policyholderLocator })
    return (await motor.post(`/policy/${body.locator}/issue`)).body
  }
}

const balances = (query: string) => callOk<BalancesResponse>('GET', `/books/balances${query}`, { token })
const close = (until: string) => callApi<PeriodResponse>('POST', '/books/periods', { token, body: { until } })

/** Journal rows of a shard. Shard N uses database N + 1 of the pool. */
async function journalOf(shard: number) {
  const { results } = await boundDatabase(poolBinding(shard + 1))
    .prepare(
      `select id, policy_locator as policyLocator, policyholder_locator as policyholderLocator, product_name as productName, currency, kind, at,
        effective_at as effectiveAt, modification_locator as modificationLocator, segment_locator as segmentLocator,
        closed_until as closedUntil, entries from journal order by id`,
    )
    .all<Parameters<typeof readJournalRow>[0]>()
  return results.map(readJournalRow)
}

/** Balances in cents by day and account, computed independently of the summaries. */
async function expectedBalances(): Promise<Record<string, number>> {
  const rows = (await Promise.all([journalOf(0), journalOf(1)])).flat()
  const sums: Record<string, number> = {}
  for (const row of rows)
    for (const entry of row.entries) {
      const place = `${isoDay(bookedAt(row, entry), ZONE)} ${entry.account}`
      sums[place] = (sums[place] ?? 0) + entry.minor
    }
  return sums
}

const balancesByDay = ({ items }: BalancesResponse): Record<string, number> =>
  Object.fromEntries(items.map(one => [`${one.day} ${one.account}`, cents(one.balance)]))

describe('the books of two databases', () => {
  it('include every payment, overpayment and endorsement of both databases', async () => {
    const [first, second] = policies as [PolicyResponse, PolicyResponse]
    const pay = (invoice: string, amount?: number) =>
      motor.post<{ locator: string }>(`/invoice/${invoice}/pay`, {
        fieldValues: { method: 'card' },
        ...(amount !== undefined && { amount }),
      })
    const invoices = async ({ locator }: PolicyResponse) =>
      (await motor.get(`/policy/${locator}`)).body.invoices
    expect((await pay((await invoices(first))[0]!.locator)).status).toBe(200)
    expect((await pay((await invoices(second))[0]!.locator, 100)).status).toBe(200)
    expect((await pay((await invoices(second))[0]!.locator, 900)).status).toBe(200)
    const start = Number(first.originalContractStartTimestamp)
    const endorsement = await motor.post(`/policies/${first.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start + 90 * DAY_MS,
      state: 'issued',
      fieldValues: { claims_free_years: 2 },
    })
    expect(endorsement.status).toBe(200)
    expect((await pay((await invoices(first))[1]!.locator)).status).toBe(200)
    const found = await balances('?by=day,account')
    expect(found.isComplete).toBe(true)
    expect(balancesByDay(found)).toEqual(await expectedBalances())
    const daily = await balances('?by=day')
    expect(daily.items.length).toBeGreaterThan(2)
    for (const { debit, credit, balance } of daily.items) expect([debit, balance]).toEqual([credit, 0])
    const [all, ...others] = (await balances('?by=currency')).items
    expect([all!.currency, all!.debit, others]).toEqual(['EUR', all!.credit, []])
  })

  it('reject a time within a day, since sums are kept by day', async () => {
    const { status, body } = await callApi<{ message: string }>(
      'GET',
      `/books/balances?to=${day('2035-01-01') + 1}`,
      { token },
    )
    expect([status, body.message]).toEqual([400, expect.stringMatching(/'to' is within 2035-01-01/)])
  })

  it('are closed in both databases by repeating a call that closed only one', async () => {
    await callOk('POST', '/test/clock', {
      token,
      body: { advance: { amount: Math.ceil((day('2035-03-10') - Date.now()) / DAY_MS), unit: 'day' } },
    })
    const until = day('2035-02-01')
    const before = await balances('?by=day&by=account&to=2035-02-01')
    await boundDatabase(poolBinding(2))
      .prepare('update books set closed_until = ? where id = 1')
      .bind(until)
      .run()
    const half = await callOk<BooksResponse>('GET', '/books', { token })
    expect(half.closedUntilTimestamp).toBeUndefined()
    const answers = await Promise.all([close('2035-02-01'), close('2035-02-01')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const whole = await callOk<BooksResponse>('GET', '/books', { token })
    expect(whole).toMatchObject({ closedUntilTimestamp: String(until) })
    for (const { locator } of policies) {
      const { status } = await motor.post(`/policies/${locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: day('2035-01-10'),
        state: 'issued',
        fieldValues: { claims_free_years: 1 },
      })
      expect(status).toBe(200)
    }
    const after = await balances('?by=day&by=account')
    expect(after.items.filter(one => one.day! < '2035-02-01')).toEqual(before.items)
    expect(balancesByDay(after)['2035-02-01 premium']).toBeLessThan(0)
    expect(balancesByDay(after)).toEqual(await expectedBalances())
    const periods = await callOk<PeriodResponse[]>('GET', '/books/periods', { token })
    expect(periods.map(one => one.untilTimestamp)).toEqual([String(until)])
  })

  it('are reported as incomplete while a backlog is summed, which counts each row once', async () => {
    const entries = JSON.stringify([
      ['cash', 100],
      ['credit', -100],
    ])
    await boundDatabase(poolBinding(2))
      .prepare(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
          insert into journal (policyholder_locator, currency, kind, at, effective_at, closed_until, entries)
          select 'made-up', 'CHF', 'disbursement', ?2, ?2, 0, ?3 from n`,
      )
      .bind(BACKLOG, day('2035-03-01'), entries)
      .run()
    const behind = await callOk<BooksResponse>('GET', '/books', { token })
    expect(behind.rows - behind.summarizedRows).toBe(BACKLOG)
    const first = await balances('?account=cash')
    expect(first.isComplete).toBe(false)
    await expect
      .poll(async () => (await balances('?account=cash')).isComplete, { timeout: 10_000 })
      .toBe(true)
    const { items } = await balances('?account=cash&by=account&by=product')
    expect(items.find(one => one.currency === 'CHF')).toMatchObject({
      product: '',
      debit: BACKLOG,
      credit: 0,
      balance: BACKLOG,
    })
    expect(await callOk<BooksResponse>('GET', '/books', { token })).toMatchObject({ isSummarized: true })
  })
})
