// Reading invoices with their items and the plan, and issuing invoices early, through HTTP (brief 3.5).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../../src/kernel/time.ts'
import type {
  CheckInvoicesResponse,
  FinancialTransactionResponse,
  GetInvoiceFinancialTransactionsResponse,
  PaymentResponse,
  PolicyInvoiceResponse,
} from '../../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import { callApi } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../../support/motor.ts'
import { plainTenant } from '../../support/plain-product.ts'
import { withoutFiles } from '../../support/without-files.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('invoices')
})

const cents = (amount: number): number => Math.round(amount * 100)

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  const answer = await motor.post(`/policy/${body.locator}/issue`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const read = async ({ locator }: { locator: string }): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const check = async ({ locator }: { locator: string }): Promise<CheckInvoicesResponse> =>
  (await motor.get<CheckInvoicesResponse>(`/policy/${locator}/checkInvoices`)).body

const pay = async ({ locator }: { locator: string }, more: object = {}): Promise<PaymentResponse> => {
  const answer = await motor.post<PaymentResponse>(`/invoice/${locator}/pay`, {
    fieldValues: { method: 'card' },
    ...more,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

/** The amount due according to the items. */
const dueOf = (items: readonly FinancialTransactionResponse[]): number =>
  items.filter(one => one.type !== 'commission').reduce((total, { amount }) => total + cents(amount), 0)

/** The locators of all peril characteristics of the policy, with the name of the peril. */
const characteristicsOf = (policy: PolicyResponse): Map<string, string> =>
  new Map(
    policy.exposures.flatMap(exposure =>
      exposure.perils.flatMap(peril => peril.characteristics.map(one => [one.locator, peril.name] as const)),
    ),
  )

function isAboutCharacteristics(
  policy: PolicyResponse,
  items: readonly FinancialTransactionResponse[],
): void {
  const known = characteristicsOf(policy)
  const ofPerils = items.filter(one => one.perilName !== undefined)
  expect(ofPerils.length).toBeGreaterThan(0)
  for (const { perilCharacteristicsLocator, perilName } of ofPerils)
    expect(known.get(perilCharacteristicsLocator!)).toBe(perilName)
}

describe('The items of an invoice', () => {
  it('add up to its total, and name the perils, taxes and fees that they are for', async () => {
    const policy = await issued()
    const [invoice] = policy.invoices
    const { status, body } = await motor.get<GetInvoiceFinancialTransactionsResponse>(
      `/invoice/${invoice!.locator}/financialTransactions`,
    )
    expect(status).toBe(200)
    const amounts = (type: string) =>
      body.financialTransactions.filter(one => one.type === type).map(one => one.amount)
    expect(amounts('premium').sort((a, b) => a - b)).toEqual([46.8, 50.28, 120.84, 453.25])
    expect(amounts('tax').reduce((sum, one) => sum + cents(one), 0)).toBe(12_752)
    expect(amounts('fee')).toEqual([12.5])
    expect(dueOf(body.financialTransactions)).toBe(81_119)
    isAboutCharacteristics(policy, body.financialTransactions)
    for (const one of body.financialTransactions)
      expect(one).toMatchObject({
        postedTimestamp: invoice!.createdTimestamp,
        policyModificationLocator: invoice!.policyModificationLocator,
        amountCurrency: 'EUR',
      })
    expect((await motor.get('/invoice/nonsense/financialTransactions')).status).toBe(404)
  })

  it('on a bill that a cancellation shrinks are the planned items and what the cancellation takes back', async () => {
    const policy = await issued({ paymentScheduleName: 'quarterly' })
    await motor.post(`/policy/${policy.locator}/cancel`, {
      coverageEndTimestamp: add(Number(policy.originalContractStartTimestamp) as Instant, 4, 'month', BERLIN),
    })
    const now = await read(policy)
    const { invoices, futureInvoices } = await check(policy)
    // The quarter that begins before the end of coverage shrinks to a month, and nothing is given back.
    expect(invoices).toHaveLength(1)
    const monthsIn = (count: number): string =>
      String(add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', BERLIN))
    expect(futureInvoices.map(one => [one.startTimestamp, one.endTimestamp])).toEqual([
      [monthsIn(3), monthsIn(4)],
    ])
    const last = futureInvoices[0]!
    const { body: price } = await motor.post<{ total: number }>(`/policy/${policy.locator}/price`)
    expect(dueOf(last.financialTransactions)).toBe(cents(price.total) - cents(invoices[0]!.totalDue))
    const byModification = new Set(last.financialTransactions.map(one => one.policyModificationLocator))
    expect(byModification.size).toBe(2)
    isAboutCharacteristics(now, last.financialTransactions)
  })
})

describe('GET /policy/{locator}/checkInvoices', () => {
  it('lists all invoices and planned invoices with their items, which add up to the price to the cent', async () => {
    const policy = await issued({ paymentScheduleName: 'monthly' })
    const checked = await check(policy)
    expect(checked.policyLocator).toBe(policy.locator)
    expect(checked.invoices).toHaveLength(1)
    expect(checked.futureInvoices).toHaveLength(11)
    const { financialTransactions, ...invoice } = checked.invoices[0]!
    expect(invoice).toEqual(policy.invoices[0])
    expect(dueOf(financialTransactions)).toBe(6_760)
    const planned = checked.futureInvoices.map(one => dueOf(one.financialTransactions))
    expect(planned.slice(0, -1)).toEqual(Array.from({ length: 10 }, () => 6_760))
    expect(planned.reduce((sum, one) => sum + one, 6_760)).toBe(81_119)
    expect(checked.futureInvoices.map(one => Number(one.issueTimestamp))).toEqual(
      checked.futureInvoices.map(one => add(Number(one.dueTimestamp) as Instant, -14, 'day', BERLIN)),
    )
    await motor.get('/v1/ping/authorized')
    const trips = roundTrips(await motor.get(`/policy/${policy.locator}/checkInvoices`))
    expect(trips).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
  })
})

describe('POST /policy/{locator}/issueNextInvoice', () => {
  it('issues the earliest planned invoice with its planned due time, and returns 409 when none is planned', async () => {
    const policy = await issued({ paymentScheduleName: 'semiannually' })
    const [planned] = (await check(policy)).futureInvoices
    const { status, body: next } = await motor.post<PolicyInvoiceResponse>(
      `/policy/${policy.locator}/issueNextInvoice`,
    )
    expect(status, JSON.stringify(next)).toBe(200)
    expect(next).toMatchObject({
      invoiceType: 'installment',
      dueTimestamp: planned!.dueTimestamp,
      startTimestamp: planned!.startTimestamp,
      settlementStatus: 'outstanding',
    })
    expect(cents(next.totalDue)).toBe(dueOf(planned!.financialTransactions))
    const checked = await check(policy)
    expect(checked.futureInvoices).toEqual([])
    expect(checked.invoices.map(one => one.locator)).toEqual([policy.invoices[0]!.locator, next.locator])
    const none = await motor.post<{ message: string }>(`/policy/${policy.locator}/issueNextInvoice`)
    expect(none.status).toBe(409)
    expect(none.body.message).toContain('has no planned invoice')
    const { body } = await motor.get<{ events: { type: string; data: Record<string, string> }[] }>(
      '/eventstream/events?startTimestamp=0&pageSize=1000',
    )
    const invoiceEvents = body.events.filter(one => one.data.invoiceLocator === next.locator)
    expect(invoiceEvents.map(one => one.type)).toEqual(['invoice.issue', 'policy.invoice'])
  })

  it('leaves nothing for the timer to issue again, and nothing is issued for an invalidated quote', async () => {
    const other = await motorTenant('nextclock')
    const create = async (): Promise<PolicyResponse> =>
      (await other.createPolicy({ paymentScheduleName: 'monthly' })).body
    const [ahead, takenBack] = [await create(), await create()]
    await other.post(`/policy/${ahead.locator}/issue`)
    await other.post(`/policy/${ahead.locator}/issueNextInvoice`)
    const { body: quotes } = await other.get<{ locator: string }[]>(`/policies/${takenBack.locator}/quotes`)
    await callApi('PATCH', `/quotes/${quotes[0]!.locator}/invalidate`, { token: other.token })
    const start = Number(ahead.originalContractStartTimestamp) as Instant
    await other.post('/test/clock', { timestamp: add(start, 2, 'month', BERLIN) })
    const statuses = async ({ locator }: PolicyResponse) =>
      (await other.get(`/policy/${locator}`)).body.invoices.map(one => one.statuses.at(-1)!.status)
    expect(await statuses(ahead)).toEqual(['unfulfilled', 'unfulfilled', 'paid'])
    expect(await statuses(takenBack)).toEqual(['invalidated'])
  })
})

describe('GET /policyholder/{locator}/invoices', () => {
  it('lists the invoices of all policies, oldest first, in one round trip', async () => {
    const policyholderLocator = await motor.newPolicyholder()
    const first = await issued({ policyholderLocator })
    const second = await issued({ policyholderLocator, paymentScheduleName: 'monthly' })
    await pay(first.invoices[0]!)
    const next = await motor.post<PolicyInvoiceResponse>(`/policy/${first.locator}/issueNextInvoice`)
    expect(next.status).toBe(409)
    const { body: third } = await motor.post<PolicyInvoiceResponse>(
      `/policy/${second.locator}/issueNextInvoice`,
    )
    await motor.get('/v1/ping/authorized')
    const answer = await motor.get<PolicyInvoiceResponse[]>(`/policyholder/${policyholderLocator}/invoices`)
    expect(roundTrips(answer)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect(answer.body).toEqual([
      ...(await read(first)).invoices,
      ...(await read(second)).invoices.filter(one => one.locator !== third.locator),
      third,
    ])
    const nobody = await motor.get('/policyholder/00000000-0000-4000-8000-000000000000/invoices')
    expect(nobody.status).toBe(404)
  })
})

describe('POST /policies/{locator}/snapshot', () => {
  it('returns invoices and payments as they were at the given time', async () => {
    const policy = await issued()
    const [invoice] = policy.invoices
    const kept: { at: number; answer: PolicyResponse }[] = []
    const pause = () => new Promise(done => setTimeout(done, 4))
    const step = async <T>(take: () => Promise<T>): Promise<T> => {
      const taken = await take()
      await pause()
      kept.push({ at: Date.now(), answer: await read(policy) })
      await pause()
      return taken
    }
    const part = await step(() => pay(invoice!, { amount: 300 }))
    const rest = await step(() => pay(invoice!, { amount: 600 }))
    await step(() => motor.post(`/payments/${part.locator}/reverse`))
    await step(() => pay(invoice!))
    await step(() => motor.post(`/payments/${rest.locator}/reverse`))
    expect(kept.map(one => one.answer.invoices[0]!.outstandingAmount)).toEqual([
      511.19,
      undefined,
      300,
      undefined,
      511.19,
    ])
    for (const { at, answer } of kept) {
      const { body } = await motor.post(`/policies/${policy.locator}/snapshot`, { asOfTimestamp: at })
      expect(withoutFiles(body)).toEqual(withoutFiles(answer))
    }
  })
})

it('without payment terms an invoice is issued on its due day, before its due time', async () => {
  const tenant = await plainTenant('no-terms', {
    timezone: 'Asia/Kolkata',
    paymentSchedules: [{ type: 'monthly', name: 'monthly', displayName: 'Monthly' }],
  })
  const start = Date.UTC(2030, 0, 9, 18, 30)
  await tenant.ok('POST', '/test/clock', { timestamp: start })
  const policy = await tenant.issue({ start, end: Date.UTC(2031, 0, 9, 18, 30) }, '1200')
  const due = Date.UTC(2030, 1, 10, 18, 30) - 1
  await tenant.ok('POST', '/test/clock', { timestamp: due - 3_600_000 })
  const { invoices } = await tenant.ok<PolicyResponse>('GET', `/policy/${policy.locator}`)
  expect(invoices.map(one => one.totalDue)).toEqual([100, 100])
  const made = Number(invoices[1]!.createdTimestamp)
  expect(Number(invoices[1]!.dueTimestamp)).toBe(due)
  expect([made <= due, made > due - 86_400_000]).toEqual([true, true])
})
