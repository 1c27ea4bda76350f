// Partial payments, overpayments and the resulting credit of a policyholder, through HTTP.
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type {
  PaymentResponse,
  PolicyholderCreditsResponse,
  PolicyInvoiceResponse,
} from '../../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../../support/motor.ts'

const byCard = { method: 'card' }

let motor: Motor
let holder: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('credits')
})

beforeEach(async () => {
  holder = await motor.newPolicyholder()
})

/** A policy of the holder with one invoice of 811.19. */
const accepted = async (changes: object = {}): Promise<PolicyResponse> => {
  const { status, body } = await motor.createPolicy({ policyholderLocator: holder, ...changes })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const pay = ({ locator }: { locator: string }, amount?: number | string, more: object = {}) =>
  motor.post<PaymentResponse & { message: string }>(`/invoice/${locator}/pay`, {
    fieldValues: byCard,
    amount,
    ...more,
  })

const paid = async (invoice: { locator: string }, amount?: number): Promise<PaymentResponse> => {
  const { status, body } = await pay(invoice, amount)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const reverse = ({ locator }: { locator: string }) =>
  motor.post<PaymentResponse & { message: string }>(`/payments/${locator}/reverse`)

const invoice = async ({ locator }: { locator: string }): Promise<PolicyInvoiceResponse> =>
  (await motor.get<PolicyInvoiceResponse>(`/invoice/${locator}`)).body

const credits = async (query = ''): Promise<PolicyholderCreditsResponse> => {
  const { status, body } = await motor.get<PolicyholderCreditsResponse>(
    `/policyholder/${holder}/credits${query}`,
  )
  expect(status).toBe(200)
  return body
}

const balance = async (): Promise<number> => (await credits()).balances[0]?.amount ?? 0

describe('A partial payment', () => {
  it('leaves the invoice outstanding until the rest is paid', async () => {
    const [due] = (await accepted()).invoices
    const first = await paid(due!, 300)
    expect(first).toMatchObject({ amount: 300 })
    expect(first).not.toHaveProperty('creditedAmount')
    expect(await invoice(due!)).toMatchObject({
      settlementStatus: 'outstanding',
      outstandingAmount: 511.19,
      payments: [first],
      statuses: [{ status: 'unfulfilled' }],
    })
    const second = await paid(due!)
    expect(second.amount).toBe(511.19)
    expect(await invoice(due!)).toMatchObject({ settlementType: 'paid', payments: [first, second] })
  })

  it('restores the amount due when it is reversed, and reopens an invoice that was paid', async () => {
    const [due] = (await accepted()).invoices
    const first = await paid(due!, '300.00' as never)
    const second = await paid(due!, 500)
    await reverse(first)
    expect(await invoice(due!)).toMatchObject({
      outstandingAmount: 311.19,
      statuses: [{ status: 'unfulfilled' }],
    })
    await paid(due!)
    await reverse(second)
    expect(await invoice(due!)).toMatchObject({ settlementStatus: 'outstanding', outstandingAmount: 500 })
  })

  it('counts towards the balance after a cancellation', async () => {
    const { locator, invoices, originalContractStartTimestamp } = await accepted()
    await motor.post(`/policy/${locator}/issue`)
    await paid(invoices[0]!, 300)
    const path = `/policy/${locator}/cancellationValue?coverageEndTimestamp=${originalContractStartTimestamp}`
    const { body } = await motor.get<{ value: number; balanceAfterCancellation: number }>(path)
    expect(body).toMatchObject({ value: 811.19, balanceAfterCancellation: -300 })
  })

  it.each([
    [0, 'amount 0.00 must be above zero, because the invoice still asks for 811.19 EUR.'],
    [-5, 'amount -5.00 must be above zero, because the invoice still asks for 811.19 EUR.'],
    ['10.005', 'amount 10.005 has more decimal places than EUR permits.'],
    ['ten', 'must be a plain decimal number'],
  ])('of %s is rejected with 400', async (amount, message) => {
    const [due] = (await accepted()).invoices
    const { status, body } = await pay(due!, amount)
    expect(status).toBe(400)
    expect(body.message).toContain(message)
    expect((await invoice(due!)).payments).toEqual([])
  })

  it('of a refund is negative and at most the refund', async () => {
    const { locator, invoices } = await accepted()
    await paid(invoices[0]!)
    await motor.post(`/policy/${locator}/issue`)
    await motor.post(`/policy/${locator}/withdraw`)
    const refund = (await motor.get(`/policy/${locator}`)).body.invoices.at(-1)!
    expect((await pay(refund, 100)).body.message).toBe(
      'amount 100.00 must be below zero, because the invoice still asks for -811.19 EUR.',
    )
    expect((await pay(refund, -811.2)).status).toBe(400)
    await paid(refund, -800)
    expect(await invoice(refund)).toMatchObject({ outstandingAmount: -11.19 })
    expect((await paid(refund)).amount).toBe(-11.19)
    expect(await balance()).toBe(0)
  })
})

describe('A policyholder’s credit', () => {
  it('comes from an overpayment and pays the next invoices of all the policyholder’s policies', async () => {
    const first = await accepted()
    const over = await paid(first.invoices[0]!, 1_000)
    expect(over).toMatchObject({ amount: 1_000, creditedAmount: 188.81, creditedAmountCurrency: 'EUR' })
    expect(await invoice(first.invoices[0]!)).toMatchObject({ settlementType: 'paid' })
    expect(await balance()).toBe(188.81)

    const second = await accepted()
    expect(second.invoices[0]).toMatchObject({
      settlementStatus: 'outstanding',
      outstandingAmount: 622.38,
      payments: [{ amount: 188.81, source: 'credit', fieldValues: {} }],
    })
    const [use] = second.invoices[0]!.payments
    expect(await credits()).toEqual({
      policyholderLocator: holder,
      balances: [],
      movements: [
        {
          paymentLocator: over.locator,
          policyLocator: first.locator,
          invoiceLocator: first.invoices[0]!.locator,
          type: 'overpayment',
          amount: 188.81,
          amountCurrency: 'EUR',
          postedTimestamp: over.postedTimestamp,
        },
        {
          paymentLocator: use!.locator,
          policyLocator: second.locator,
          invoiceLocator: second.invoices[0]!.locator,
          type: 'use',
          amount: -188.81,
          amountCurrency: 'EUR',
          postedTimestamp: use!.postedTimestamp,
        },
      ],
    })
    expect((await accepted()).invoices[0]!.payments).toEqual([])
  })

  it('pays several invoices created together in order of their due time, and one issued early', async () => {
    await paid((await accepted()).invoices[0]!, 811.19 + 70)
    const monthly = await accepted({ paymentScheduleName: 'monthly' })
    const [first] = monthly.invoices
    expect(first).toMatchObject({ totalDue: 67.6, settlementType: 'paid' })
    expect(await balance()).toBe(2.4)
    const { status, body: next } = await motor.post<PolicyInvoiceResponse>(
      `/policy/${monthly.locator}/issueNextInvoice`,
    )
    expect(status, JSON.stringify(next)).toBe(200)
    expect(next).toMatchObject({
      totalDue: 67.6,
      outstandingAmount: 65.2,
      payments: [{ amount: 2.4, source: 'credit' }],
    })
  })

  it('can pay an existing invoice up to its balance, and beyond it is rejected with 409', async () => {
    const open = (await accepted()).invoices[0]!
    const other = (await accepted()).invoices[0]!
    await paid(other, 1_000)
    const tooMuch = await pay(open, 200, { source: 'credit' })
    expect(tooMuch.status).toBe(409)
    expect(tooMuch.body.message).toContain(
      'has a credit of 188.81 EUR, which is not enough for this payment.',
    )
    const { status, body } = await motor.post<PaymentResponse>(`/invoice/${open.locator}/pay`, {
      source: 'credit',
    })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ amount: 188.81, source: 'credit', fieldValues: {} })
    expect(await invoice(open)).toMatchObject({ outstandingAmount: 622.38 })
    expect((await pay(open, undefined, { source: 'credit' })).status).toBe(409)
  })

  it('grows by a refund that is credited instead of paid out', async () => {
    const policy = await accepted()
    await paid(policy.invoices[0]!)
    await motor.post(`/policy/${policy.locator}/issue`)
    await motor.post(`/policy/${policy.locator}/withdraw`)
    const refund = (await motor.get(`/policy/${policy.locator}`)).body.invoices.at(-1)!
    expect((await pay(refund, -900, { source: 'credit' })).status).toBe(400)
    const { status, body } = await pay(refund, -800, { source: 'credit' })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(await invoice(refund)).toMatchObject({ outstandingAmount: -11.19 })
    expect(await credits()).toMatchObject({
      balances: [{ amount: 800, amountCurrency: 'EUR' }],
      movements: [{ type: 'refund', amount: 800, paymentLocator: body.locator }],
    })
    expect((await accepted()).invoices[0]).toMatchObject({ outstandingAmount: 11.19 })
    const refused = await reverse(body)
    expect(refused.status).toBe(409)
  })

  it('that another policy uses cannot be reversed (409), and returns when that use is undone', async () => {
    const over = await paid((await accepted()).invoices[0]!, 1_000)
    const second = await accepted()
    const refused = await reverse(over)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toBe(
      `This would take 188.81 EUR from the credit of policyholder ${holder}, but only 0.00 EUR is left. First reverse payments of other policies that were made from the credit; GET /policyholder/${holder}/credits lists them.`,
    )
    expect((await motor.post(`/policy/${second.locator}/discard`)).status).toBe(200)
    expect(await balance()).toBe(188.81)
    expect((await reverse(over)).status).toBe(200)
    expect(await balance()).toBe(0)
  })

  it('is used only once when three policies are finalized concurrently', async () => {
    const drafts = await Promise.all([1, 2, 3].map(() => accepted({ finalize: false })))
    await paid((await accepted()).invoices[0]!, 1_000)
    const finalized = await Promise.all(
      drafts.map(({ locator }) => motor.post(`/policy/${locator}/finalize`)),
    )
    expect(finalized.map(one => one.status)).toEqual([200, 200, 200])
    const used = finalized.flatMap(one => one.body.invoices[0]!.payments.map(payment => payment.amount))
    expect(used).toEqual([188.81])
    expect(await balance()).toBe(0)
  })

  it('pays ten concurrent policies in full while it lasts, then one in part, then none', async () => {
    const policies = 10
    await paid((await accepted()).invoices[0]!, 811.19 * (1 + 6) + 100)
    const created = await Promise.all(
      Array.from({ length: policies }, () => motor.createPolicy({ policyholderLocator: holder })),
    )
    expect(created.map(one => one.status)).toEqual(created.map(() => 200))
    const used = created.map(({ body }) => body.invoices[0]!.payments.map(one => one.amount)).sort()
    const full = Array.from({ length: 6 }, () => [811.19])
    expect(used).toEqual([[], [], [], [100], ...full])
    expect(await balance()).toBe(0)
    const { movements } = await credits()
    expect(movements.filter(one => one.type === 'use')).toHaveLength(7)
  })

  it('is listed in pages, in one round trip', async () => {
    for (let at = 0; at < 3; at += 1) await paid((await accepted()).invoices[0]!, 900)
    const first = await credits('?pageSize=2')
    expect(first.movements).toHaveLength(2)
    const second = await credits(`?pageSize=2&pagingToken=${first.pagingToken}`)
    const all = await credits()
    expect([...first.movements, ...second.movements].slice(0, 4)).toEqual(all.movements.slice(0, 4))
    expect(all).not.toHaveProperty('pagingToken')
    await motor.get('/v1/ping/authorized')
    const trips = roundTrips(await motor.get(`/policyholder/${holder}/credits`))
    expect(trips).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect((await motor.get('/policyholder/00000000-0000-4000-8000-000000000000/credits')).status).toBe(404)
  })

  it('adds no round trips to writes', async () => {
    await paid((await accepted()).invoices[0]!, 1_000)
    await motor.get('/v1/ping/authorized')
    expect(roundTrips(await motor.createPolicy({ policyholderLocator: holder }))).toMatchObject({ d1: 2 })
    await evictAllDurableObjects()
    const [, last] = [await accepted(), await accepted()]
    await evictAllDurableObjects()
    expect(roundTrips(await pay(last.invoices[0]!))).toMatchObject({ d1: 2, object: 1 })
  })
})
