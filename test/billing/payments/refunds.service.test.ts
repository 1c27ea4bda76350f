// Refunds through HTTP (brief 4.5): which invoices offset each other, how much may be paid out, and what previews say.
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../../src/kernel/time.ts'
import type { PaymentResponse, PolicyInvoiceResponse } from '../../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type { CancellationValueResponse } from '../../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../../src/transactions/endorsements/contract.ts'
import { boatTenant } from '../../support/boat.ts'
import { month } from '../../support/boat-product.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('refunds')
})

const issued = async (changes: object = {}): Promise<PolicyResponse> => {
  const { body } = await motor.createPolicy(changes)
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}
const read = async ({ locator }: PolicyResponse): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body
const pay = <Body = PaymentResponse & { message: string }>(invoice: { locator: string }, more: object = {}) =>
  motor.post<Body>(`/invoice/${invoice.locator}/pay`, { fieldValues: { method: ['card'] }, ...more })
const halfway = (policy: PolicyResponse): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, 6, 'month', 'Europe/Berlin' as TimeZone)
const cancellationValueOf = async (policy: PolicyResponse, at: number): Promise<CancellationValueResponse> =>
  (
    await motor.get<CancellationValueResponse>(
      `/policy/${policy.locator}/cancellationValue?coverageEndTimestamp=${at}`,
    )
  ).body

describe('A refund of an unpaid invoice', () => {
  it('settles that invoice in part, and cannot itself be paid out', async () => {
    const policy = await issued()
    const value = await cancellationValueOf(policy, halfway(policy))
    const cancelled = await motor.post<PolicyResponse>(`/policy/${policy.locator}/cancel`, {
      coverageEndTimestamp: halfway(policy),
    })
    const [first, refund] = cancelled.body.invoices
    expect(refund).toMatchObject({
      settlementType: 'paid',
      payments: [{ source: 'offset', amount: refund!.totalDue, offsetInvoiceLocator: first!.locator }],
    })
    expect(first).toMatchObject({
      settlementStatus: 'outstanding',
      outstandingAmount: value.balanceAfterCancellation,
      payments: [{ source: 'offset', amount: -refund!.totalDue, offsetInvoiceLocator: refund!.locator }],
    })
    expect(value.value).toBe(-refund!.totalDue)
    expect((await pay(refund!)).status).toBe(409)
    const reversed = await motor.post<{ message: string }>(`/payments/${first!.payments[0]!.locator}/reverse`)
    expect([reversed.status, reversed.body.message]).toEqual([409, expect.stringContaining('is an offset')])
  })
})

describe('A payout of a refund', () => {
  it('is rejected with 400 beyond the refund, and a bounced payment lets the rest settle its invoice', async () => {
    const policy = await issued()
    const paid = (await pay(policy.invoices[0]!)).body
    await motor.post(`/policy/${policy.locator}/withdraw`)
    const refund = (await read(policy)).invoices.at(-1)!
    expect((await pay(refund, { amount: -811.2 })).status).toBe(400)
    await pay(refund, { amount: -800 })
    // The payment bounces. Its invoice is open again, and the rest of the refund settles a part of it.
    expect((await motor.post(`/payments/${paid.locator}/reverse`)).status).toBe(200)
    expect((await read(policy)).invoices).toMatchObject([
      { settlementStatus: 'outstanding', outstandingAmount: 800 },
      { settlementType: 'paid' },
    ])
  })

  it('cannot credit more than was paid in', async () => {
    const policyholderLocator = await motor.newPolicyholder()
    const policy = await issued({ policyholderLocator, paymentScheduleName: 'monthly' })
    expect((await pay(policy.invoices[0]!)).status).toBe(200)
    await motor.post(`/policy/${policy.locator}/withdraw`)
    const refund = (await read(policy)).invoices.at(-1)!
    expect(refund).toMatchObject({ invoiceType: 'cancellation', totalDue: -67.6 })
    expect((await pay(refund, { source: 'credit', fieldValues: {} })).body).toMatchObject({ amount: -67.6 })
    expect((await pay(refund)).status).toBe(409)
  })
})

describe('A refund of an accepted change that is invalidated', () => {
  it('is invalidated with its payout, although its rest was written off', async () => {
    const boats = await boatTenant('void-refund')
    const policy = await boats.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
    await boats.ok('POST', `/invoice/${policy.invoices[0]!.locator}/pay`, { fieldValues: {}, amount: 300 })
    const change = await boats.ok<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: month(6),
      state: 'accepted',
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '100' } }],
    })
    const refund = (await boats.read(policy)).invoices[1]!
    await boats.ok('POST', `/invoice/${refund.locator}/pay`, { fieldValues: {} })
    expect((await boats.read(policy)).invoices[1]).toMatchObject({
      settlementType: 'writtenOff',
      payments: [{ amount: -300 }],
    })
    await boats.ok('PATCH', `/endorsements/${change.locator}`, { action: 'invalidate' })
    const [first, gone] = (await boats.read(policy)).invoices
    expect(first).toMatchObject({ totalDue: 1_200, outstandingAmount: 900 })
    expect(gone).toMatchObject({
      settlementType: 'invalidated',
      payments: [{ amount: -300, reversedTimestamp: expect.any(String) }],
    })
  })
})

it('repeating a payout with the same key pays nothing more and leaves the rest of the refund outstanding', async () => {
  const boats = await boatTenant('repeated-refund')
  const policy = await boats.insured({ yearly: '2400', paymentScheduleName: 'upfront' })
  await boats.ok('POST', `/invoice/${policy.invoices[0]!.locator}/pay`, { fieldValues: {}, amount: 300 })
  await boats.ok('POST', `/policies/${policy.locator}/endorsements`, {
    endorsementName: 'change',
    startTimestamp: month(6),
    state: 'accepted',
    updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '100' } }],
  })
  const refund = (await boats.read(policy)).invoices[1]!
  const payOut = (amount: number) =>
    boats.call<{ code: string }>(
      'POST',
      `/invoice/${refund.locator}/pay`,
      { fieldValues: {}, amount },
      { 'idempotency-key': 'pay-out' },
    )
  const first = await payOut(-300)
  expect(first.status).toBe(200)
  const after = await boats.read(policy)
  expect(after.invoices[1]).toMatchObject({ settlementStatus: 'outstanding', outstandingAmount: -850 })
  expect((await payOut(-300)).body).toEqual(first.body)
  expect((await payOut(-200)).body.code).toBe('idempotencyConflict')
  expect(await boats.read(policy)).toEqual(after)
})

describe('A refund of an accepted change that was written off in full', () => {
  it('is invalidated with the change, so that the whole price is outstanding again', async () => {
    const boats = await boatTenant('void-written-off')
    const policy = await boats.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
    const change = await boats.ok<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: month(6),
      state: 'accepted',
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '600' } }],
    })
    const refund = (await boats.read(policy)).invoices[1]!
    expect((await boats.call('POST', `/invoice/${refund.locator}/pay`, {})).status).toBe(409)
    expect((await boats.read(policy)).invoices[1]).toMatchObject({ settlementType: 'writtenOff' })
    await boats.ok('PATCH', `/endorsements/${change.locator}`, { action: 'invalidate' })
    const [first, gone] = (await boats.read(policy)).invoices
    expect(first).toMatchObject({ totalDue: 1_200, outstandingAmount: 1_200 })
    expect(gone).toMatchObject({ totalDue: -300, settlementType: 'invalidated' })
  })
})

describe('A policy cancelled at its inception', () => {
  it('has a cancellation value of zero, and a withdrawal of it creates no invoice', async () => {
    const policy = await issued()
    const start = Number(policy.originalContractStartTimestamp)
    await motor.post(`/policy/${policy.locator}/cancel`, { coverageEndTimestamp: start })
    const before = await read(policy)
    const value = await cancellationValueOf(policy, start)
    expect(value).toMatchObject({ totalChange: 0, newTotal: 0 })
    expect(Math.abs(value.value)).toBe(0)
    expect(value.balanceAfterCancellation).toBe(0)
    const withdrawn = await motor.post<PolicyResponse>(`/policy/${policy.locator}/withdraw`)
    expect(withdrawn.status, JSON.stringify(withdrawn.body)).toBe(200)
    expect(withdrawn.body.cancellation?.modificationName).toBe('modification.policy.withdraw')
    const locators = (invoices: readonly PolicyInvoiceResponse[]) => invoices.map(one => one.locator)
    expect(locators(withdrawn.body.invoices)).toEqual(locators(before.invoices))
    expect((await motor.post(`/policy/${policy.locator}/withdraw`)).status).toBe(409)
  })
})
