// Paying invoices and reversing payments, through HTTP (brief 4.4).

import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  orderedUuid,
  type PolicyLocator,
  shardOfUuid,
  type Uuid,
  uuidOfPolicy,
} from '../../../src/kernel/locators.ts'
import { add, endOfDay, type Instant, type TimeZone } from '../../../src/kernel/time.ts'
import type { PaymentResponse, PolicyInvoiceResponse } from '../../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import { callApi } from '../../support/api.ts'
import { boundDatabase, prepareDatabases } from '../../support/databases.ts'
import { leaveOutPolicy } from '../../support/journal/exclusions.ts'
import { type Motor, motorTenant, roundTrips } from '../../support/motor.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const byCard = { fieldValues: { method: 'card' } }

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('pays')
})

/** A finalized policy with one invoice of 811.19, due at the end of January 1, 2027. */
const accepted = async (changes: object = {}): Promise<PolicyResponse> => {
  const { status, body } = await motor.createPolicy(changes)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const issued = async (changes: object = {}): Promise<PolicyResponse> =>
  (await motor.post(`/policy/${(await accepted(changes)).locator}/issue`)).body

const pay = (invoice: { locator: string }, body: object = byCard, headers = {}) =>
  motor.post<PaymentResponse & { message: string }>(`/invoice/${invoice.locator}/pay`, body, headers)

const reverse = (payment: { locator: string }) =>
  motor.post<PaymentResponse & { message: string }>(`/payments/${payment.locator}/reverse`)

const invoice = async ({ locator }: { locator: string }): Promise<PolicyInvoiceResponse> =>
  (await motor.get<PolicyInvoiceResponse>(`/invoice/${locator}`)).body

const read = async ({ locator }: { locator: string }): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

type Event = { type: string; data: Record<string, string> }

const eventsOf = async (policy: { locator: string }, ...types: string[]): Promise<Event[]> => {
  const { body } = await motor.get<{ events: Event[] }>('/eventstream/events?startTimestamp=0&pageSize=1000')
  return body.events.filter(one => one.data.policyLocator === policy.locator && types.includes(one.type))
}

describe('POST /invoice/{locator}/pay', () => {
  it('settles the invoice in full without an amount, whether or not its policy is issued', async () => {
    const policy = await accepted()
    const [due] = policy.invoices
    expect(due).toMatchObject({
      totalDue: 811.19,
      settlementStatus: 'outstanding',
      outstandingAmount: 811.19,
    })
    const { status, body: payment } = await pay(due!)
    expect(status, JSON.stringify(payment)).toBe(200)
    expect(payment).toMatchObject({
      invoiceLocator: due!.locator,
      amount: 811.19,
      amountCurrency: 'EUR',
      source: 'received',
      fieldValues: { method: ['card'] },
      mediaByLocator: {},
    })
    expect(payment).not.toHaveProperty('reversedTimestamp')
    const after = await invoice(due!)
    expect(after).toMatchObject({
      settlementStatus: 'settled',
      settlementType: 'paid',
      transactionIssued: false,
      payments: [payment],
      updatedTimestamp: payment.postedTimestamp,
      statuses: [{ status: 'unfulfilled' }, { status: 'paid', timestamp: payment.postedTimestamp }],
    })
    expect(after).not.toHaveProperty('outstandingAmount')
    expect((await motor.get(`/payments/${payment.locator}`)).body).toEqual(payment)
    expect((await read(policy)).invoices).toEqual([after])
    await motor.post(`/policy/${policy.locator}/issue`)
    expect((await read(policy)).invoices).toEqual([{ ...after, transactionIssued: true }])
    expect(await eventsOf(policy, 'payment.pay')).toMatchObject([
      { data: { paymentLocator: payment.locator, invoiceLocator: due!.locator, amount: '811.19' } },
    ])
  })

  it('returns 409 for a second payment, and the original response for a repeat with the same key', async () => {
    const [due] = (await accepted()).invoices
    const headers = { 'idempotency-key': 'once' }
    const first = await pay(due!, byCard, headers)
    const second = await pay(due!)
    expect(second.status).toBe(409)
    expect(second.body.message).toBe(
      `Invoice ${due!.displayId} is paid and cannot be paid; it allows reverse.`,
    )
    expect((await pay(due!, {})).status).toBe(409)
    expect((await pay(due!, byCard, headers)).body).toEqual(first.body)
    expect((await invoice(due!)).payments).toHaveLength(1)
  })

  it('validates the field values against payment.json, including required fields', async () => {
    const [due] = (await accepted()).invoices
    const refused = await motor.post<{ paymentFieldErrors: { errors: object[] }; code: string }>(
      `/invoice/${due!.locator}/pay`,
      { fieldValues: { method: ['direct_debit', 'card'], mandate: 'x' } },
    )
    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('paymentValidation')
    expect(refused.body.paymentFieldErrors.errors).toMatchObject([
      { fieldName: 'method', code: 'INVALID_VALUE' },
      { fieldName: 'mandate_reference', code: 'MISSING' },
      { fieldName: 'mandate', code: 'INVALID_FIELD' },
    ])
    const empty = await motor.post<{ paymentFieldErrors: { errors: object[] } }>(
      `/invoice/${due!.locator}/pay`,
    )
    expect(empty.status).toBe(400)
    expect(empty.body.paymentFieldErrors.errors).toMatchObject([{ fieldName: 'method', code: 'MISSING' }])
    expect((await invoice(due!)).payments).toEqual([])
    const { body } = await pay(due!, {
      fieldValues: { method: 'direct_debit', mandate_reference: 'MND-1', received_on: '2026-11-20' },
    })
    expect(body.fieldValues).toEqual({
      method: ['direct_debit'],
      mandate_reference: ['MND-1'],
      received_on: [String(Date.UTC(2026, 10, 19, 23))],
    })
  })

  it('pays a refund with a negative amount', async () => {
    const policy = await issued()
    expect((await pay(policy.invoices[0]!)).status).toBe(200)
    await motor.post(`/policy/${policy.locator}/withdraw`)
    const refund = (await read(policy)).invoices.at(-1)!
    expect(refund).toMatchObject({ invoiceType: 'cancellation', totalDue: -811.19 })
    const { status, body } = await pay(refund)
    expect(status).toBe(200)
    expect(body.amount).toBe(-811.19)
    expect(await invoice(refund)).toMatchObject({ settlementType: 'paid', payments: [{ amount: -811.19 }] })
  })

  it('returns 404 for an unknown invoice, and 409 for an invalidated one', async () => {
    expect((await pay({ locator: '00000000-0000-4000-8000-000000000000' })).status).toBe(404)
    expect((await pay({ locator: 'nonsense' })).status).toBe(404)
    // The locators of an invoice and a payment of a policy that does not exist.
    const made = uuidOfPolicy((1_000_000_000_000 * 64) as PolicyLocator)
    for (const answer of [await pay({ locator: made }), await reverse({ locator: made })]) {
      expect([answer.status, answer.body]).toMatchObject([404, { message: expect.stringContaining(made) }])
      expect(JSON.stringify(answer.body)).not.toContain('policy')
    }
    const policy = await accepted()
    await motor.post(`/policy/${policy.locator}/discard`)
    const { status, body } = await pay(policy.invoices[0]!)
    expect(status).toBe(409)
    expect(body.message).toContain('is invalidated and cannot be paid; it allows no action.')
  })

  it('makes one call to the policy’s object, which reads at most once and writes once', async () => {
    const [due] = (await accepted()).invoices
    await motor.get('/v1/ping/authorized')
    const warm = await pay(due!)
    expect(roundTrips(warm)).toEqual({ d1: 1, object: 1, r2: 0, queue: 0 })
    const read = await motor.get(`/invoice/${due!.locator}`)
    expect(roundTrips(read)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect(roundTrips(await motor.get(`/payments/${warm.body.locator}`))).toMatchObject({ d1: 1, object: 0 })
    await evictAllDurableObjects()
    expect(roundTrips(await reverse(warm.body))).toEqual({ d1: 2, object: 1, r2: 0, queue: 0 })
  })

  it('takes one more look-up for an invoice of an earlier release, whose locator does not name its policy', async () => {
    const [due] = (await accepted()).invoices
    const older = orderedUuid(shardOfUuid(due!.locator as Uuid))
    leaveOutPolicy(due!.policyLocator)
    const database = boundDatabase('TENANT_001')
    await database.prepare('update invoice set locator = ? where locator = ?').bind(older, due!.locator).run()
    await evictAllDurableObjects()
    await motor.get('/v1/ping/authorized')
    const paid = await pay({ locator: older })
    expect([paid.status, roundTrips(paid)]).toEqual([200, { d1: 3, object: 1, r2: 0, queue: 0 }])
    expect(await invoice({ locator: older })).toMatchObject({ settlementType: 'paid' })
  })

  it('returns 401 without a token', async () => {
    const [due] = (await accepted()).invoices
    expect((await callApi('POST', `/invoice/${due!.locator}/pay`, { body: byCard })).status).toBe(401)
  })
})

describe('POST /payments/{locator}/reverse', () => {
  it('reopens the invoice and emits payment.reverse, and returns 409 the second time', async () => {
    const policy = await issued()
    const [due] = policy.invoices
    const { body: payment } = await pay(due!)
    const { status, body: reversed } = await reverse(payment)
    expect(status).toBe(200)
    expect(reversed).toEqual({ ...payment, reversedTimestamp: expect.stringMatching(/^\d+$/) })
    expect(await invoice(due!)).toMatchObject({
      settlementStatus: 'outstanding',
      outstandingAmount: 811.19,
      dueTimestamp: due!.dueTimestamp,
      payments: [reversed],
      statuses: [{ status: 'unfulfilled' }, { status: 'paid' }, { status: 'unfulfilled' }],
    })
    const again = await reverse(payment)
    expect(again.status).toBe(409)
    expect(again.body.message).toBe(
      `Payment ${payment.displayId} is reversed and cannot be reversed; it allows no action.`,
    )
    expect(await eventsOf(policy, 'payment.reverse')).toMatchObject([
      { data: { paymentLocator: payment.locator, invoiceLocator: due!.locator, amount: '811.19' } },
    ])
    expect((await pay(due!)).status).toBe(200)
    expect((await invoice(due!)).payments).toHaveLength(2)
  })

  it('moves a due time that has passed to the end of the day', async () => {
    const past = await motorTenant('pastdue')
    const created = await past.createPolicy({
      policyStartTimestamp: add(Date.now() as Instant, 1, 'day', BERLIN),
      policyEndTimestamp: add(Date.now() as Instant, 366, 'day', BERLIN),
    })
    const [due] = created.body.invoices
    const { body: payment } = await past.post<PaymentResponse>(`/invoice/${due!.locator}/pay`, byCard)
    const moved = await past.post('/test/clock', { timestamp: Date.now() + 3 * 86_400_000 })
    expect(moved.status).toBe(200)
    const { body: reversed } = await past.post<PaymentResponse>(`/payments/${payment.locator}/reverse`)
    const reversedAt = Number(reversed.reversedTimestamp) as Instant
    expect(reversedAt).toBeGreaterThan(Number(due!.dueTimestamp))
    const { body: open } = await past.get<PolicyInvoiceResponse>(`/invoice/${due!.locator}`)
    expect(open.dueTimestamp).toBe(String(endOfDay(reversedAt, BERLIN)))
    const snapshot = async (at: number) =>
      (await past.post(`/policies/${created.body.locator}/snapshot`, { asOfTimestamp: at })).body.invoices
    expect(await snapshot(Number(due!.createdTimestamp))).toEqual([due])
    expect(await snapshot(reversedAt - 1)).toMatchObject([
      { dueTimestamp: due!.dueTimestamp, settlementType: 'paid', payments: [{ amount: 811.19 }] },
    ])
  })
})

describe('A payment for a transaction that is taken back', () => {
  let policy: PolicyResponse

  const patch = async <Body = PolicyResponse>(path: string, body?: object): Promise<Body> => {
    const answer = await callApi<Body>('PATCH', path, { token: motor.token, body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body
  }

  /** Pays the policy's last invoice and returns it. */
  const paidLast = async (): Promise<PolicyInvoiceResponse> => {
    const last = (await read(policy)).invoices.at(-1)!
    const { status, body } = await pay(last)
    expect(status, JSON.stringify(body)).toBe(200)
    return await invoice(last)
  }

  const isGivenBack = async (paid: PolicyInvoiceResponse): Promise<void> => {
    expect(await invoice(paid)).toMatchObject({
      settlementType: 'invalidated',
      payments: [{ amount: paid.totalDue, reversedTimestamp: expect.any(String) }],
      statuses: ['unfulfilled', 'paid', 'unfulfilled', 'invalidated'].map(status => ({ status })),
    })
    const events = await eventsOf(policy, 'payment.reverse', 'invoice.invalidate')
    const invoiceEvents = events.filter(one => one.data.invoiceLocator === paid.locator)
    expect(invoiceEvents.map(one => one.type)).toEqual(['payment.reverse', 'invoice.invalidate'])
  }

  describe('of an issued policy', () => {
    beforeEach(async () => {
      policy = await issued()
    })

    it('is reversed when a renewal is invalidated', async () => {
      const { body: renewal } = await motor.post<{ locator: string }>(
        `/policies/${policy.locator}/renewals`,
        {
          renewalEndTimestamp: Number(policy.effectiveContractEndTimestamp) + 365 * 86_400_000,
          state: 'accepted',
        },
      )
      const paid = await paidLast()
      expect(paid.invoiceType).toBe('renewal')
      await patch(`/renewals/${renewal.locator}`, { action: 'invalidate' })
      await isGivenBack(paid)
    })

    it('is reversed when a reinstatement is invalidated', async () => {
      const { body: cancellation } = await motor.post<{ locator: string }>(
        `/policies/${policy.locator}/cancellations`,
        {
          name: 'customer_request',
          cancellationCategory: 'other',
          effectiveTimestamp: Number(policy.originalContractStartTimestamp) + 100 * 86_400_000,
          issue: true,
        },
      )
      const reinstatement = await patch<{ locator: string }>(
        `/cancellations/${cancellation.locator}/reinstate`,
        {},
      )
      await patch(`/reinstatements/${reinstatement.locator}/accept`)
      const paid = await paidLast()
      expect(paid.invoiceType).toBe('reinstatement')
      await patch(`/reinstatements/${reinstatement.locator}/invalidate`)
      await isGivenBack(paid)
    })
  })

  describe('of new business', () => {
    beforeEach(async () => {
      policy = await accepted()
    })

    it('is reversed when the quote is invalidated', async () => {
      const paid = await paidLast()
      const { body: quotes } = await motor.get<{ locator: string }[]>(`/policies/${policy.locator}/quotes`)
      await patch(`/quotes/${quotes[0]!.locator}/invalidate`)
      await isGivenBack(paid)
    })

    it('is reversed when the policy is discarded', async () => {
      const paid = await paidLast()
      expect((await motor.post(`/policy/${policy.locator}/discard`)).status).toBe(200)
      await isGivenBack(paid)
    })
  })
})
