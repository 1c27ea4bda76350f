// A year of 1,200.00 with 500.00 paid, which lapses and is then withdrawn (brief 1.7, 4.5), through HTTP and the tenant's clock. A
// write-off settles what is open and creates no credit. At most what was paid in can be paid out.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import type {
  PaymentResponse,
  PolicyholderCreditsResponse,
  PolicyInvoiceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { GracePeriodResponse } from '../../src/transactions/lapses/contract.ts'
import type { Answer } from '../support/api.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { prepareDatabases } from '../support/databases.ts'

const POLICY = 'products/boat/policy'

/** Policies of a product without cancellations.json lapse. */
const lapsingBoats = (suffix: string): Promise<Boats> =>
  boatTenant(suffix, 'EUR', {
    files: {
      [`${POLICY}/policy.json`]: JSON.stringify({
        fields: [],
        paymentSchedules: [{ type: 'total', name: 'upfront', displayName: 'At once' }],
        defaultPaymentTerms: { amount: 10, unit: 'day' },
        lapse: { gracePeriodDays: 15, reinstatementPeriodDays: 30 },
      }),
    },
    without: [`${POLICY}/cancellations.json`],
  })

let boats: Boats
let made = 0

beforeAll(() => prepareDatabases({ tenants: 2 }))
beforeEach(async () => {
  made += 1
  boats = await lapsingBoats(`partpaid${made}`)
})

const pay = (invoice: PolicyInvoiceResponse, more: object = {}): Promise<Answer<PaymentResponse>> =>
  boats.call('POST', `/invoice/${invoice.locator}/pay`, { fieldValues: {}, ...more })

const amountsOf = (one: PolicyInvoiceResponse) => [
  one.invoiceType,
  one.totalDue,
  one.settlementType ?? one.outstandingAmount,
  one.payments.map(({ amount }) => amount),
]

const creditOf = async ({ policyholderLocator }: PolicyResponse): Promise<number[]> =>
  (
    await boats.ok<PolicyholderCreditsResponse>('GET', `/policyholder/${policyholderLocator}/credits`)
  ).balances.map(one => one.amount)

/** Returns a policy that was paid in part and lapsed 15 days after its due day, January 1. */
async function lapsed(): Promise<{ policy: PolicyResponse; payment: PaymentResponse }> {
  const policy = await boats.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
  const { body: payment } = await pay(policy.invoices[0]!, { amount: 500 })
  await boats.until((Number(policy.invoices[0]!.dueTimestamp) + 60_000) as Instant)
  const [grace] = await boats.ok<GracePeriodResponse[]>('GET', `/policy/${policy.locator}/gracePeriods`)
  await boats.until((Number(grace!.endTimestamp) + 60_000) as Instant)
  return { policy, payment }
}

describe('A year of 1,200.00 with 500.00 paid, lapsed and withdrawn,', () => {
  it('pays out and credits 500.00 in total and no more', async () => {
    const { policy } = await lapsed()
    const first = ['newBusiness', 1_200, 'writtenOff', [500]]
    // Sixteen days of January were covered: 51.61. The other 448.39 of the payment is given back.
    expect((await boats.read(policy)).invoices.map(amountsOf)).toEqual([
      first,
      ['cancellation', -448.39, -448.39, []],
    ])
    expect(await creditOf(policy)).toEqual([])

    await boats.ok('POST', `/policy/${policy.locator}/withdraw`)
    const { invoices } = await boats.read(policy)
    expect(invoices.map(amountsOf)).toEqual([
      first,
      ['cancellation', -448.39, -448.39, []],
      ['cancellation', -51.61, -51.61, []],
    ])
    expect(await creditOf(policy)).toEqual([])
    const [, ofLapse, ofWithdrawal] = invoices

    expect((await pay(ofLapse!, { amount: -500 })).status).toBe(400)
    expect((await pay(ofLapse!)).body).toMatchObject({ amount: -448.39, source: 'received' })
    expect((await pay(ofLapse!)).status).toBe(409)
    expect((await pay(ofWithdrawal!, { amount: -51.62 })).status).toBe(400)
    expect((await pay(ofWithdrawal!, { source: 'credit' })).body).toMatchObject({ amount: -51.61 })
    expect((await pay(ofWithdrawal!)).status).toBe(409)
    expect(await creditOf(policy)).toEqual([51.61])
    expect((await boats.read(policy)).invoices.map(amountsOf)).toEqual([
      first,
      ['cancellation', -448.39, 'paid', [-448.39]],
      ['cancellation', -51.61, 'paid', [-51.61]],
    ])
  })

  it('pays nothing out when the payment bounced before, and writes off both refunds', async () => {
    const { policy, payment } = await lapsed()
    await boats.ok('POST', `/policy/${policy.locator}/withdraw`)
    await boats.ok('POST', `/payments/${payment.locator}/reverse`)
    const [first, ...refunds] = (await boats.read(policy)).invoices
    expect(amountsOf(first!).slice(0, 3)).toEqual(['newBusiness', 1_200, 'writtenOff'])
    for (const refund of refunds) expect((await pay(refund)).status).toBe(409)
    expect((await boats.read(policy)).invoices.slice(1).map(amountsOf)).toEqual([
      ['cancellation', -448.39, 'writtenOff', []],
      ['cancellation', -51.61, 'writtenOff', []],
    ])
    expect(await creditOf(policy)).toEqual([])
  })
})
