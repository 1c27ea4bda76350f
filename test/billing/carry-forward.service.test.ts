// Invoices below the threshold are carried forward, and totals of 5 or less are not divided (brief 4.4, 5.6).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, dayStart, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyInvoiceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant } from '../support/plain-product.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const START = dayStart('2030-01-01', BERLIN)!
const month = (count: number): Instant => add(START, count, 'month', BERLIN)

let plain: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  plain = await plainTenant('carry', {
    timezone: BERLIN,
    paymentSchedules: [{ type: 'monthly', name: 'monthly', displayName: 'Monthly' }],
    invoicing: { carryForwardBelow: 2 },
  })
})

const issued = (yearly: string): Promise<PolicyResponse> =>
  plain.issue({ start: START, end: month(12) }, yearly)

const invoicesOf = async ({ locator }: PolicyResponse): Promise<PolicyInvoiceResponse[]> =>
  (await plain.ok<PolicyResponse>('GET', `/policy/${locator}`)).invoices

const next = ({ locator }: PolicyResponse): Promise<PolicyInvoiceResponse> =>
  plain.ok('POST', `/policy/${locator}/issueNextInvoice`)

const settlementsOf = (invoices: PolicyInvoiceResponse[]) =>
  invoices.map(({ totalDue, settlementType }) => [totalDue, settlementType])

const itemsOf = async ({ locator }: PolicyInvoiceResponse): Promise<number[]> => {
  const { financialTransactions } = await plain.ok<{ financialTransactions: { amount: number }[] }>(
    'GET',
    `/invoice/${locator}/financialTransactions`,
  )
  return financialTransactions.map(one => one.amount)
}

describe('An invoice below the product’s threshold', () => {
  it('is settled as carried forward, cannot be paid (409), and has its items billed by the next invoice', async () => {
    const policy = await issued('18')
    await next(policy)
    const third = await next(policy)
    await next(policy)
    const invoices = await invoicesOf(policy)
    expect(settlementsOf(invoices)).toEqual([
      [1.5, 'carriedForward'],
      [3, undefined],
      [1.5, 'carriedForward'],
      [3, undefined],
    ])
    expect(await itemsOf(invoices[0]!)).toEqual([1.5])
    expect(await itemsOf(invoices[1]!)).toEqual([1.5, 1.5])
    expect(third).toMatchObject({
      totalDue: 1.5,
      settlementStatus: 'settled',
      settlementType: 'carriedForward',
    })
    const pay = await plain.call<{ message: string }>('POST', `/invoice/${third.locator}/pay`, {})
    expect(pay.status).toBe(409)
    expect(await plain.ok('POST', `/invoice/${invoices[1]!.locator}/pay`, {})).toMatchObject({ amount: 3 })
  })

  it('can be carried forward several times, and the last of the plan bills the rest to the cent', async () => {
    const policy = await issued('6.05')
    for (let count = 1; count < 12; count++) await next(policy)
    const invoices = await invoicesOf(policy)
    // Twelfths of 50 cents; the last one has the cents that rounding leaves.
    expect(settlementsOf(invoices)).toEqual([
      [0.5, 'carriedForward'],
      [1, 'carriedForward'],
      [1.5, 'carriedForward'],
      [2, undefined],
      [0.5, 'carriedForward'],
      [1, 'carriedForward'],
      [1.5, 'carriedForward'],
      [2, undefined],
      [0.5, 'carriedForward'],
      [1, 'carriedForward'],
      [1.5, 'carriedForward'],
      [2.05, undefined],
    ])
    expect((await plain.call('POST', `/policy/${policy.locator}/issueNextInvoice`)).status).toBe(409)
  })

  it('is invalidated with its renewal, and later previews leave it out', async () => {
    const policy = await issued('18')
    const { locator } = await plain.ok<RenewalResponse>('POST', `/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: month(24),
      state: 'accepted',
    })
    expect(settlementsOf(await invoicesOf(policy)).at(-1)).toEqual([1.5, 'carriedForward'])
    await plain.ok('PATCH', `/renewals/${locator}`, { action: 'invalidate' })
    expect(settlementsOf(await invoicesOf(policy)).at(-1)).toEqual([1.5, 'invalidated'])
    const { invoices } = await plain.ok<PolicyPreviewResponse>(
      'POST',
      `/policies/${policy.locator}/preview`,
      { cancellation: { name: 'wish', effectiveTimestamp: month(11) } },
    )
    expect(invoices.filter(one => Number(one.startTimestamp) >= month(12))).toEqual([])
  })

  it('is left out of the preview of its transaction, whose next bill has its amount', async () => {
    const policy = await issued('18')
    const { invoices, price } = await plain.ok<PolicyPreviewResponse>(
      'POST',
      `/policies/${policy.locator}/preview`,
      { renewal: { renewalEndTimestamp: month(24) } },
    )
    const ofRenewal = invoices.filter(one => Number(one.startTimestamp) >= month(12))
    expect(ofRenewal.map(one => one.totalDue)).toEqual([3, ...Array(10).fill(1.5)])
    // The first invoice of the policy is carried forward too.
    expect(invoices.reduce((sum, one) => sum + one.totalDue, 0)).toBe(price.newTotal)
  })

  it('is billed by the invoice of a cancellation, less what the cancellation gives back', async () => {
    const policy = await issued('18')
    await plain.ok('POST', `/policies/${policy.locator}/cancellations`, {
      name: 'wish',
      effectiveTimestamp: month(1),
      issue: true,
    })
    // 1.50 was carried forward and 16.50 of the year is cancelled, so 1.50 remains to be paid.
    expect(settlementsOf(await invoicesOf(policy))).toEqual([
      [1.5, 'carriedForward'],
      [1.5, undefined],
    ])
  })
})

it('a policy of 5.00 gets a single invoice, and one of 5.01 is divided by its schedule', async () => {
  expect(settlementsOf(await invoicesOf(await issued('5')))).toEqual([[5, undefined]])
  expect(settlementsOf(await invoicesOf(await issued('5.01')))).toEqual([[0.42, 'carriedForward']])
})
