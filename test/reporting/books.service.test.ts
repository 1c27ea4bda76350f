// The books through the service: balances and closed periods.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Instant, isoDay, type TimeZone } from '../../src/kernel/time.ts'
import type { BalancesResponse, BooksResponse, PeriodResponse } from '../../src/reporting/books/contract.ts'
import type { ReportLinesResponse, ReportStatusResponse } from '../../src/reporting/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000
const ZONE = 'Europe/Berlin' as TimeZone

const cents = (amount: unknown): number => Math.round(Number(amount) * 100)

async function livedPolicy(motor: Motor): Promise<{ locator: string; start: number }> {
  const { body } = await motor.createPolicy({})
  await motor.post(`/policy/${body.locator}/issue`)
  const start = Number(body.originalContractStartTimestamp)
  await motor.post(`/invoice/${body.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  return { locator: body.locator, start }
}

describe('the books', () => {
  let motor: Motor
  let token: string
  let start: number

  const balances = (query = '') => callOk<BalancesResponse>('GET', `/books/balances${query}`, { token })
  const close = (until: string | number) =>
    callApi<PeriodResponse & { message: string }>('POST', '/books/periods', { token, body: { until } })

  beforeAll(async () => {
    await prepareDatabases({ tenants: 2 })
    motor = await motorTenant('books')
    token = await motor.signIn('anna.admin')
    ;({ start } = await livedPolicy(motor))
    await livedPolicy(motor)
  })

  it('balance for each day and currency, and show where the money is', async () => {
    const all = await balances('?by=day&by=account')
    expect(all.isComplete).toBe(true)
    for (const [, ofDay] of Map.groupBy(all.items, ({ day, currency }) => `${day} ${currency}`)) {
      expect(ofDay.reduce((sum, one) => sum + cents(one.balance), 0)).toBe(0)
      expect(ofDay.length).toBeGreaterThan(1)
    }
    const accounts = Object.fromEntries(
      (await balances()).items.map(one => [one.account, cents(one.balance)]),
    )
    expect(accounts.cash).toBeGreaterThan(0)
    expect(accounts.receivable).toBe(0)
    expect(accounts.cash).toBe(-(accounts.premium! + accounts.tax! + accounts.fee!))
    const cash = await balances('?account=cash&by=month&by=product')
    expect(cash.items).toHaveLength(1)
    expect(cash.items[0]).toMatchObject({ product: 'private_motor', credit: 0 })
  })

  it('are the same after summaries are rebuilt, and count no row twice in simultaneous requests', async () => {
    const before = await balances('?by=day&by=account')
    await callOk('POST', '/books/summaries/rebuild', { token })
    const asked = await Promise.all([1, 2, 3, 4, 5].map(() => balances('?by=day&by=account')))
    expect((await balances('?by=day&by=account')).items).toEqual(before.items)
    expect(asked.length).toBe(5)
    const books = await callOk<BooksResponse>('GET', '/books', { token })
    expect(books).toMatchObject({ isSummarized: true, rows: books.summarizedRows })
  })

  it('accept no entry into a closed period: a late one is booked afterwards, and reports show both times', async () => {
    await callOk('POST', '/test/clock', {
      token,
      body: { advance: { amount: Math.ceil((start - Date.now()) / DAY_MS) + 40, unit: 'day' } },
    })
    const today = isoDay((start + 31 * DAY_MS) as Instant, ZONE)
    const before = await balances(`?to=${today}`)
    const { status, body } = await close(today)
    expect([status, body.untilTimestamp]).toEqual([200, String(body.untilTimestamp)])
    const { locator } = await livedPolicy(motor)
    expect((await balances(`?to=${today}`)).items).toEqual(before.items)
    const report = await callOk<ReportStatusResponse>('POST', '/report/writtenPremium?wait=20', {
      token,
      body: { from: today, to: start + 400 * DAY_MS, by: ['month'] },
    })
    const { items } = await callOk<ReportLinesResponse>('GET', `/report/${report.locator}/lines`, { token })
    const late = items.filter(one => one.policyLocator === locator)
    expect(late.length).toBeGreaterThan(0)
    for (const one of late) {
      expect(one.effectiveAt).toBe(new Date(start).toISOString())
      expect(one.bookedAt).toBe(new Date(Number(body.untilTimestamp)).toISOString())
    }
    const periods = await callOk<PeriodResponse[]>('GET', '/books/periods', { token })
    expect(periods).toHaveLength(1)
  })

  it.each([
    ['2999-01-01', 400, /in the future/],
    ['2020-01-01', 409, /already closed until/],
    [1_600_000_123_456, 400, /a day begins/],
    ['soon', 400, /Send a day such as/],
  ])('reject closing until %s', async (until, status, message) => {
    const answer = await close(until)
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)])
  })

  it.each([
    ['?account=premum', /no account 'premum'.*premium/],
    ['?by=peril', /'by\[0\]'|by.*(day|one of)/],
    ['?from=x', /'from' is 'x'\. Send a day such as/],
  ])('reject balances of %s', async (query, message) => {
    const answer = await callApi<{ message: string }>('GET', `/books/balances${query}`, { token })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)])
  })
})
