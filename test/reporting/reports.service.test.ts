// Reports of the service on a small tenant with policies that were issued, changed, paid and cancelled. Each figure is compared
// with the policies as the API shows them.
import { env } from 'cloudflare:workers'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { ReportLinesResponse, ReportStatusResponse } from '../../src/reporting/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000

let motor: Motor
let token: string
let start: number
const policies: string[] = []

const policy = (locator: string) => callOk<PolicyResponse>('GET', `/policy/${locator}`, { token })

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('reports')
  token = await motor.signIn('anna.admin')
  for (let at = 0; at < 4; at += 1) {
    const { body } = await motor.createPolicy({})
    await motor.post(`/policy/${body.locator}/issue`)
    policies.push(body.locator)
    start = Number(body.originalContractStartTimestamp)
  }
  await motor.createPolicy({ finalize: false })
  const first = await policy(policies[0]!)
  await motor.post(`/invoice/${first.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  await motor.post(`/policies/${policies[1]!}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: start + 180 * DAY_MS,
    state: 'issued',
    fieldValues: { claims_free_years: 9 },
  })
  await motor.post(`/policies/${policies[2]!}/cancellations`, {
    effectiveTimestamp: start + 240 * DAY_MS,
    name: 'customer_request',
    cancellationCategory: 'other',
    issue: true,
  })
})

const run = (name: string, body: object = {}): Promise<ReportStatusResponse> =>
  callOk<ReportStatusResponse>('POST', `/report/${name}?wait=20`, { token, body })

const whole = (more: object = {}) => ({ from: start - 400 * DAY_MS, to: start + 400 * DAY_MS, ...more })

/** A period of the real time, since transactions happen now although the policies start years later. */
const today = (more: object = {}) => ({ from: Date.now() - DAY_MS, to: Date.now() + DAY_MS, ...more })

const cents = (amount: unknown): number => Math.round(Number(amount) * 100)

const sumOf = ({ totals }: ReportStatusResponse, name: string): number =>
  totals.reduce((sum, one) => sum + cents(one.sums[name]), 0)

async function prices(of: (price: PolicyPriceResponse) => number): Promise<number> {
  const all = await Promise.all(
    policies.map(one => callOk<PolicyPriceResponse>('GET', `/policy/${one}/price`, { token })),
  )
  return all.reduce((sum, price) => sum + cents(of(price)), 0)
}

async function until(locator: string, ...states: string[]): Promise<ReportStatusResponse> {
  for (let tries = 0; tries < 500; tries += 1) {
    const report = await callOk<ReportStatusResponse>('GET', `/report/${locator}/status`, { token })
    if (states.includes(report.state)) return report
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`The report does not become ${states.join(' or ')}.`)
}

describe('a report', () => {
  it('gives written premium, taxes and fees that match the prices of the policies to the cent', async () => {
    const written = await run('writtenPremium', whole())
    expect(written).toMatchObject({ state: 'finished', processed: 5, expected: 5, totalsCompleted: true })
    expect(sumOf(written, 'premium')).toBe(await prices(price => price.grossPremium))
    const charged = await run('charges', whole({ by: ['account'] }))
    const byAccount = Object.fromEntries(
      charged.totals.map(one => [one.group.account, cents(one.sums.amount)]),
    )
    expect(byAccount.tax).toBe(await prices(price => price.grossTaxes))
    expect(byAccount.fee).toBe(await prices(price => price.grossFees))
  })

  it('gives earned and unearned premium that total the written premium at any time', async () => {
    const written = sumOf(await run('writtenPremium', whole()), 'premium')
    let before = 0
    for (const day of [0, 100, 200, 300, 399]) {
      const to = start + day * DAY_MS
      const report = await run('earnedPremium', { from: start - DAY_MS, to, by: ['product'] })
      const earned = sumOf(report, 'earned')
      expect(earned + sumOf(report, 'unearned')).toBe(sumOf(report, 'written'))
      expect(earned).toBeGreaterThanOrEqual(before)
      before = earned
    }
    expect(before).toBe(written)
    const half = await run('earnedPremium', {
      from: start,
      to: start + 182 * DAY_MS,
      earning: 'daily',
      by: [],
    })
    expect(sumOf(half, 'earned')).toBeGreaterThan(0.4 * written)
  })

  it('gives receivables, payments, and the states of quotes and terms', async () => {
    const all = await Promise.all(policies.map(policy))
    const open = all
      .flatMap(({ invoices }) => invoices)
      .filter(one => one.settlementStatus === 'outstanding')
      .reduce((sum, one) => sum + cents(one.outstandingAmount ?? one.totalDue), 0)
    const owed = await run('receivables', { at: start + 399 * DAY_MS })
    expect(sumOf(owed, 'receivable')).toBe(open)
    expect(sumOf(owed, 'credit')).toBe(0)
    const paid = await run('payments', today())
    expect(paid.totals.map(one => one.group.type)).toEqual(['received'])
    expect(sumOf(paid, 'amount')).toBe(cents(all[0]!.invoices[0]!.totalDue))
    const quotes = await run('conversion', today({ by: ['state'] }))
    expect(quotes.totals.map(one => [one.group.state, one.sums.quotes])).toEqual([
      ['draft', 1],
      ['issued', 4],
    ])
    const terms = await run('retention', whole({ by: ['outcome'] }))
    expect(terms.totals.map(one => [one.group.outcome, one.sums.terms])).toEqual([
      ['cancelled', 1],
      ['inForce', 3],
    ])
  })

  it('gives the policies in force, and sums numeric fields of exposures', async () => {
    const at = { at: start + 200 * DAY_MS, sums: ['vehicle.vehicle_value'] }
    const [total] = (await run('inForce', at)).totals
    expect(total!.sums).toMatchObject({ policies: 4, exposures: 4, perils: 16 })
    const all = await Promise.all(policies.map(policy))
    const values = all.map(one =>
      Number(one.exposures[0]!.characteristics.at(-1)!.fieldValues.vehicle_value![0]),
    )
    expect(Number(total!.sums['vehicle.vehicle_value'])).toBe(values.reduce((sum, one) => sum + one, 0))
    const [later] = (await run('inForce', { at: start + 300 * DAY_MS })).totals
    expect(later!.sums.policies).toBe(3)
    expect((await run('inForce', { at: start - 10 * DAY_MS })).totals).toEqual([])
  })

  it('balances: debits equal credits by month and account', async () => {
    const ledger = await run('ledger', whole())
    expect(sumOf(ledger, 'debit')).toBe(sumOf(ledger, 'credit'))
    expect(sumOf(ledger, 'debit')).toBeGreaterThan(0)
  })

  it('lists transactions with the requested columns', async () => {
    const columns = ['field:claims_free_years', 'exposures:vehicle', 'sum:vehicle.vehicle_value']
    const report = await run('bordereau', whole({ columns }))
    const { items } = await callOk<ReportLinesResponse>('GET', `/report/${report.locator}/lines`, { token })
    expect(items).toHaveLength(6)
    const endorsement = items.find(one => one.transaction === 'endorsement')!
    expect(endorsement).toMatchObject({
      policyLocator: policies[1],
      'field:claims_free_years': '9',
      'exposures:vehicle': 1,
    })
    expect(Number(endorsement['sum:vehicle.vehicle_value'])).toBeGreaterThan(1_000)
    const cancellation = items.find(one => one.transaction === 'cancellation')!
    expect(Number(cancellation.premium)).toBeLessThan(0)
  })

  it('groups by fields of the policy, and lists the lines of a group', async () => {
    const report = await run('writtenPremium', whole({ by: ['peril', 'field:region_class', 'month'] }))
    const [total] = report.totals
    const query = `group=${encodeURIComponent(JSON.stringify(total!.group))}&pageSize=2`
    const found: ReportLinesResponse['items'] = []
    let token_: string | undefined
    do {
      const page = await callOk<ReportLinesResponse>(
        'GET',
        `/report/${report.locator}/lines?${query}${token_ === undefined ? '' : `&pagingToken=${token_}`}`,
        { token },
      )
      found.push(...page.items)
      token_ = page.pagingToken
      expect(page.listCompleted).toBe(token_ === undefined)
    } while (token_ !== undefined)
    expect(found).toHaveLength(total!.lines)
    expect(found.reduce((sum, one) => sum + cents(one.premium), 0)).toBe(cents(total!.sums.premium))
  })

  it('as known at an earlier time is the same as the report that was run then', async () => {
    const before = await run('writtenPremium', whole())
    const owedBefore = await run('receivables', { at: start + 399 * DAY_MS })
    await new Promise(resolve => setTimeout(resolve, 5))
    const { body } = await motor.createPolicy({})
    await motor.post(`/policy/${body.locator}/issue`)
    const again = await run('writtenPremium', whole({ knownAt: Number(before.knownAtTimestamp) }))
    expect(again.totals).toEqual(before.totals)
    const knownAt = Number(owedBefore.knownAtTimestamp)
    expect((await run('receivables', { at: start + 399 * DAY_MS, knownAt })).totals).toEqual(
      owedBefore.totals,
    )
    const now = await run('writtenPremium', whole())
    expect(sumOf(now, 'premium')).toBeGreaterThan(sumOf(before, 'premium'))
    policies.push(body.locator)
  })
})

describe('files of a report', () => {
  it('contain the totals of the report when other libraries read them', async () => {
    const report = await run('writtenPremium', whole())
    const file = async (format: string): Promise<ArrayBuffer> => {
      const { url, sha256, bytes } = report.files.find(one => one.format === format)!
      const { pathname } = new URL(url)
      const { status } = await callApi('GET', pathname)
      expect(status).toBe(200)
      const { objects } = await env.FILES.list()
      const { fileName } = report.files.find(one => one.format === format)!
      const key = objects.find(one => one.key.endsWith(`${report.locator}/${fileName}`))!.key
      const body = await (await env.FILES.get(key))!.arrayBuffer()
      const hash = [...new Uint8Array(await crypto.subtle.digest('SHA-256', body))]
      expect(hash.map(byte => byte.toString(16).padStart(2, '0')).join('')).toBe(sha256)
      expect(body.byteLength).toBe(bytes)
      return body
    }
    const text = async (format: string): Promise<string> => new TextDecoder().decode(await file(format))
    const total = sumOf(report, 'premium')
    const csv = parse(await text('csv'), { columns: true }) as Record<string, string>[]
    expect(csv).toHaveLength(report.lines)
    expect(csv.reduce((sum, one) => sum + cents(one.premium), 0)).toBe(total)
    const ndjson = (await text('ndjson'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, string>)
    expect(ndjson.reduce((sum, one) => sum + cents(one.premium), 0)).toBe(total)
    const rows = await parquetReadObjects({ file: await file('parquet') })
    expect(rows).toHaveLength(report.lines)
    expect(rows.reduce((sum, one) => sum + cents(one.premium), 0)).toBe(total)
    expect(rows.map(one => one.policyLocator)).toEqual(csv.map(one => one.policyLocator))
    expect(rows.map(one => (one.recordedAt as Date).toISOString())).toEqual(csv.map(one => one.recordedAt))
    const totals = parse(await text('totals'), { columns: true }) as Record<string, string>[]
    expect(totals.map(one => one.premium)).toEqual(report.totals.map(one => one.sums.premium))
    const manifest = JSON.parse(await text('manifest'))
    expect(manifest).toMatchObject({
      lines: report.lines,
      policies: report.processed,
      report: report.locator,
    })
    expect(cents(manifest.controlTotals[0].sums.premium)).toBe(total)
    expect(manifest.files.map((one: { format: string }) => one.format)).toEqual([
      'csv',
      'ndjson',
      'parquet',
      'totals',
    ])
  })

  it('exist for a report without lines too', async () => {
    const report = await run('writtenPremium', { from: 0, to: 1_000 })
    expect(report).toMatchObject({ state: 'finished', lines: 0, totals: [] })
    expect(report.files.map(({ format, rows }) => [format, rows])).toEqual([
      ['csv', 0],
      ['ndjson', 0],
      ['parquet', 0],
      ['totals', 0],
      ['manifest', undefined],
    ])
  })
})

describe('an invalid request', () => {
  it.each([
    ['writtenPremum', {}, 404, /Did you mean 'writtenPremium'/],
    ['writtenPremium', { by: ['perils'] }, 400, /Did you mean 'peril'/],
    ['writtenPremium', { by: ['field:region'] }, 400, /cannot be grouped by 'field:region'/],
    ['writtenPremium', { at: 1 }, 400, /does not accept 'at'/],
    ['writtenPremium', { from: 'yesterday' }, 400, /Send a day such as 2026-11-01/],
    ['writtenPremium', { from: '2026-02-30' }, 400, /'from' is '2026-02-30'/],
    ['writtenPremium', { from: '2027-01-02', to: '2027-01-01' }, 400, /is after 'to'/],
    ['writtenPremium', { period: 'previousMonth', from: '2027-01-02' }, 400, /either 'period' or/],
    ['writtenPremium', { period: 'lastMonth' }, 400, /period/],
    ['writtenPremium', { products: ['motor'] }, 400, /no product 'motor'/],
    ['writtenPremium', { knownAt: '2999-01-01' }, 400, /in the future/],
    ['inForce', { sums: ['vehicle.valu'] }, 400, /not a numeric field/],
    ['bordereau', { columns: ['field:clams'] }, 400, /has no column 'field:clams'/],
    ['bordereau', { bordereau: 'quota' }, 400, /has no bordereau 'quota'/],
    [
      'writtenPremium',
      {
        by: Array(7)
          .fill(0)
          .map((_, at) => `x${at}`),
      },
      400,
      /at most 6/,
    ],
  ])('for %s with %j is rejected', async (name, body, status, message) => {
    const answer = await callApi<{ message: string }>('POST', `/report/${name}`, { token, body })
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)])
  })

  it('for an unknown report returns 404, and for an unknown group or paging token 400', async () => {
    const other = '00000000-0000-4000-8000-000000000000'
    for (const [method, path] of [
      ['GET', `/report/${other}/status`],
      ['GET', `/report/${other}/lines`],
      ['PATCH', `/report/${other}/pause`],
      ['DELETE', `/reports/${other}`],
      ['DELETE', `/reports/schedules/${other}`],
    ] as const)
      expect((await callApi(method, path, { token })).status).toBe(404)
    const { locator } = await run('writtenPremium', whole())
    for (const query of ['group=x', 'group=[]', 'group={"perils":"x"}', 'pagingToken=x'])
      expect((await callApi('GET', `/report/${locator}/lines?${query}`, { token })).status).toBe(400)
  })
})

describe('a report run', () => {
  it('can be paused and resumed, and is deleted with its files', async () => {
    const { locator } = await run('conversion')
    const answer = await callApi<{ message: string }>('PATCH', `/report/${locator}/pause`, { token })
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringMatching(/finished/)])
    await boundDatabase(poolBinding(1))
      .prepare(
        `update report set state = 'running', shard = 0, after = 0, portions = 0, steps = 0, files = null where locator = ?`,
      )
      .bind(locator)
      .run()
    await callOk('PATCH', `/report/${locator}/pause`, { token })
    expect((await until(locator, 'paused')).files).toEqual([])
    await callOk('PATCH', `/report/${locator}/resume`, { token })
    expect((await until(locator, 'finished')).files).toHaveLength(5)
    const keys = async () =>
      (await env.FILES.list()).objects.map(({ key }) => key).filter(key => key.includes(locator))
    expect((await keys()).length).toBeGreaterThan(5)
    await callOk('DELETE', `/reports/${locator}`, { token })
    expect(await keys()).toEqual([])
    expect((await callApi('GET', `/report/${locator}/status`, { token })).status).toBe(404)
  })

  it('is rejected with 409 while four reports run', async () => {
    const database = boundDatabase(poolBinding(1))
    const made = await Promise.all([1, 2, 3, 4].map(() => run('conversion', whole())))
    const names = made.map(({ locator }) => `'${locator}'`).join(', ')
    await database.prepare(`update report set state = 'running' where locator in (${names})`).run()
    const refused = await callApi<{ message: string }>('POST', '/report/conversion', { token, body: {} })
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringMatching(/4 reports are running/),
    ])
    await database.prepare(`update report set state = 'finished' where locator in (${names})`).run()
  })

  it('is returned again when the request is repeated with the same key', async () => {
    const headers = { 'idempotency-key': 'report-1' }
    const once = await callOk<ReportStatusResponse>('POST', '/report/charges?wait=20', {
      token,
      body: whole(),
      headers,
    })
    const again = await callOk<ReportStatusResponse>('POST', '/report/charges?wait=20', {
      token,
      body: whole(),
      headers,
    })
    expect(again.locator).toBe(once.locator)
  })

  it('emits report.finish', async () => {
    const { locator } = await run('charges', whole())
    const { results } = await boundDatabase(poolBinding(1))
      .prepare(`select data from event where type = 'report.finish'`)
      .all<{ data: string }>()
    expect(results.map(({ data }) => JSON.parse(data))).toContainEqual({
      reportLocator: locator,
      reportName: 'charges',
      reportState: 'finished',
    })
  })

  it('is listed, the newest first', async () => {
    await run('conversion', whole())
    type List = { items: { locator: string; name: string }[]; listCompleted: boolean; pagingToken?: string }
    const all = await callOk<List>('GET', '/reports?name=conversion', { token })
    expect(new Set(all.items.map(one => one.name))).toEqual(new Set(['conversion']))
    const first = await callOk<List>('GET', '/reports?name=conversion&pageSize=1', { token })
    expect(first.items).toEqual(all.items.slice(0, 1))
    const next = await callOk<List>(
      'GET',
      `/reports?name=conversion&pageSize=1&pagingToken=${first.pagingToken}`,
      { token },
    )
    expect(next.items).toEqual(all.items.slice(1, 2))
    const kinds = await callOk<{ name: string }[]>('GET', '/reports/kinds', { token })
    expect(kinds.map(({ name }) => name)).toContain('earnedPremium')
  })
})

describe('a report schedule', () => {
  it('runs its report at the calendar times, and once for times that were missed', async () => {
    const body = {
      reportName: 'writtenPremium',
      parameters: { period: 'previousDay' },
      calendar: { every: 'day', hour: 6 },
    }
    type Schedule = { locator: string; nextTimestamp: string; lastReportLocator?: string }
    const made = await callOk<Schedule>('POST', '/reports/schedules', { token, body })
    const wrong = { ...body, calendar: { every: 'week', day: 8 } }
    expect((await callApi('POST', '/reports/schedules', { token, body: wrong })).status).toBe(400)
    await callOk('POST', '/test/clock', { token, body: { advance: { amount: 3, unit: 'day' } } })
    const read = async (): Promise<Schedule> =>
      (await callOk<Schedule[]>('GET', '/reports/schedules', { token })).find(
        one => one.locator === made.locator,
      )!
    await expect.poll(async () => (await read()).lastReportLocator, { timeout: 20_000 }).toBeDefined()
    const schedule = await read()
    const report = await until(schedule.lastReportLocator!, 'finished')
    expect(report).toMatchObject({ scheduleLocator: made.locator, name: 'writtenPremium' })
    const { fromTimestamp, toTimestamp } = report.parameters as Record<string, string>
    expect(Number(toTimestamp) - Number(fromTimestamp)).toBe(DAY_MS)
    expect(Number(schedule.nextTimestamp)).toBeGreaterThan(Number(made.nextTimestamp) + 2 * DAY_MS)
    await callOk('DELETE', `/reports/schedules/${made.locator}`, { token })
    expect(await read()).toBe(undefined)
  })
})
