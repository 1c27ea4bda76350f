// Adding and reversing fees by hand, through HTTP (brief 3.3). Each update is billed immediately by a separate invoice, no earlier
// invoice changes, and cancellations treat these fees like any others.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import type {
  GetPolicyPriceResponse,
  PolicyFeeSummaryResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { Answer } from '../support/api.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'

let of: Boats

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  of = await boatTenant('fees')
})

const insured = (tenant = of) => tenant.insured({ yearly: '1200', paymentScheduleName: 'monthly' })

const reminder = { feeName: 'reminder', amount: '12.50', startTimestamp: month(0), endTimestamp: month(12) }
const mooring = { feeName: 'mooring', amount: 120, startTimestamp: month(0), endTimestamp: month(12) }

const change = (
  { locator }: PolicyResponse,
  body: object,
  tenant = of,
): Promise<Answer<PolicyFeeSummaryResponse & { message: string }>> =>
  tenant.call('PATCH', `/policy/${locator}/fees`, body)

async function changed(policy: PolicyResponse, body: object, tenant = of) {
  const { status, body: answer } = await change(policy, body, tenant)
  expect([status, answer]).toEqual([200, { fees: expect.any(Array) }])
  return answer.fees
}

const amounts = async (policy: PolicyResponse, tenant = of): Promise<[string, number][]> =>
  (await tenant.read(policy)).invoices.map(one => [one.invoiceType, one.totalDue])

const costs = async (policy: PolicyResponse): Promise<number> =>
  (await of.ok<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)).total

const cancel = (policy: PolicyResponse, effectiveTimestamp: Instant) =>
  of.ok<{ locator: string }>('POST', `/policies/${policy.locator}/cancellations`, {
    name: 'sold',
    effectiveTimestamp,
    issue: true,
  })

const reinstate = (cancellation: { locator: string }, body: object) =>
  of.ok<{ locator: string }>('PATCH', `/cancellations/${cancellation.locator}/reinstate`, body)

describe('Fees that are added', () => {
  it('are billed immediately by one invoice of type other, and change the price but no earlier invoice', async () => {
    const policy = await insured()
    const before = await of.read(policy)
    const fees = await changed(policy, { newFees: [reminder, { ...mooring, description: 'Berth 7' }] })
    expect(fees.map(({ locator: _, ...fee }) => fee)).toEqual([
      {
        name: 'reminder',
        description: 'Reminder',
        startTimestamp: String(month(0)),
        endTimestamp: String(month(12)),
        amount: 12.5,
        amountCurrency: 'EUR',
        reversed: false,
      },
      {
        name: 'mooring',
        description: 'Berth 7',
        startTimestamp: String(month(0)),
        endTimestamp: String(month(12)),
        amount: 120,
        amountCurrency: 'EUR',
        reversed: false,
      },
    ])
    const after = await of.read(policy)
    expect(after.fees).toEqual(fees)
    expect(after.grossFees).toBe(132.5)
    expect(await costs(policy)).toBe(1332.5)
    const [first, made] = after.invoices
    expect(first).toEqual(before.invoices[0])
    expect(made).toMatchObject({
      invoiceType: 'other',
      totalDue: 132.5,
      transactionIssued: true,
      startTimestamp: String(month(0)),
      endTimestamp: String(month(12)),
    })
    expect(after.invoices).toHaveLength(2)
  })

  it('appear in the next response with the price, in all its forms', async () => {
    const policy = await insured()
    const due = async (): Promise<number> =>
      (await of.ok<GetPolicyPriceResponse>('GET', `/policy/${policy.locator}/price`)).totalDue
    const read = async (): Promise<number[]> => [
      await costs(policy),
      await costs(policy),
      await due(),
      await due(),
      await costs(policy),
    ]
    expect(await read()).toEqual([1200, 1200, 1200, 1200, 1200])
    const [fee] = await changed(policy, { newFees: [mooring] })
    expect(await read()).toEqual([1320, 1320, 1320, 1320, 1320])
    await changed(policy, { reverseFees: [fee!.locator] })
    expect(await read()).toEqual([1200, 1200, 1200, 1200, 1200])
  })

  it('are reported by policy.update and then by the events of their invoice', async () => {
    const policy = await insured()
    await changed(policy, { newFees: [reminder] })
    const { invoices } = await of.read(policy)
    const { events } = await of.ok<{ events: { type: string; data: Record<string, string> }[] }>(
      'GET',
      '/eventstream/events?startTimestamp=0&pageSize=1000',
    )
    const told = events.filter(one => one.data.policyLocator === policy.locator).slice(-3)
    expect(told.map(one => one.type)).toEqual(['policy.update', 'invoice.issue', 'policy.invoice'])
    expect(told[0]!.data.modificationLocator).toBe(invoices[1]!.policyModificationLocator)
    expect(told[1]!.data).toMatchObject({ totalDue: '12.50', invoiceType: 'other' })
  })

  it('leave no gap in modification numbers, and do not block an accepted endorsement', async () => {
    const policy = await insured()
    const quoted = await of.ok<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: month(6),
      state: 'accepted',
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '1800' } }],
    })
    // The remaining six months are planned at 150 each.
    expect(quoted.invoice).toBeUndefined()
    await changed(policy, { newFees: [reminder] })
    await of.ok('PATCH', `/endorsements/${quoted.locator}`, { action: 'issue' })
    await changed(policy, { newFees: [reminder] })
    await cancel(policy, month(9))
    expect((await of.read(policy)).modifications.map(one => [one.number, one.name])).toEqual([
      [0, 'modification.policy.create'],
      [1, 'change'],
      [2, 'modification.policy.cancel'],
    ])
    expect(await costs(policy)).toBe(600 + 450 + 25)
  })

  it('take at most two D1 round trips with a warm object: a block of locators and the write', async () => {
    const policy = await insured()
    await changed(policy, { newFees: [reminder] })
    const answer = await change(policy, { newFees: [reminder] })
    expect(roundTrips(answer)).toMatchObject({ object: 1 })
    expect(roundTrips(answer).d1).toBeLessThanOrEqual(2)
  })
})

describe('Fees that are reversed', () => {
  it('are refunded by one invoice for each update, which also bills new fees', async () => {
    const policy = await insured()
    const [first, second] = await changed(policy, { newFees: [reminder, mooring] })
    const fees = await changed(policy, {
      newFees: [{ ...reminder, amount: 20 }],
      reverseFees: [second!.locator],
    })
    expect(fees.map(one => [one.name, one.amount, one.reversed])).toEqual([
      ['reminder', 12.5, false],
      ['mooring', 0, true],
      ['reminder', 20, false],
    ])
    await changed(policy, { reverseFees: [first!.locator] })
    expect(await amounts(policy)).toEqual([
      ['newBusiness', 100],
      ['other', 132.5],
      ['other', -100],
      ['other', -12.5],
    ])
    expect(await costs(policy)).toBe(1220)
  })

  it('cannot be reversed again (409), named twice (400) or unknown to the policy (404)', async () => {
    const policy = await insured()
    const other = await insured()
    const [fee] = await changed(policy, { newFees: [reminder] })
    const [elsewhere] = await changed(other, { newFees: [reminder] })
    const twice = await change(policy, { reverseFees: [fee!.locator, fee!.locator] })
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('twice')])
    await changed(policy, { reverseFees: [fee!.locator] })
    const again = await change(policy, { reverseFees: [fee!.locator] })
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('is already reversed')])
    expect((await change(policy, { reverseFees: [elsewhere!.locator] })).status).toBe(404)
    expect((await change(policy, { reverseFees: ['nothing'] })).status).toBe(404)
    expect(await amounts(policy)).toHaveLength(3)
  })
})

describe('Transactions on a policy with added fees', () => {
  it('cancelling gives back the rest of a proratable fee only, and reinstating brings it back', async () => {
    const policy = await insured()
    const later = { ...reminder, startTimestamp: month(10) }
    await changed(policy, { newFees: [reminder, mooring, later] })
    const cancellation = await cancel(policy, month(9))
    const fees = (await of.read(policy)).fees
    expect(fees.map(one => [one.name, one.amount, one.reversed])).toEqual([
      ['reminder', 12.5, false],
      ['mooring', 90, false],
      ['reminder', 0, true],
    ])
    const gone = await change(policy, { reverseFees: [fees[2]!.locator] })
    expect([gone.status, gone.body.message]).toEqual([409, expect.stringContaining('cancellation')])
    // The remaining part is reversed, and a reinstatement keeps it so. The other fee comes back.
    await changed(policy, { reverseFees: [fees[1]!.locator] })
    await reinstate(cancellation, { issue: true })
    expect((await of.read(policy)).fees.map(one => [one.name, one.amount, one.reversed])).toEqual([
      ['reminder', 12.5, false],
      ['mooring', 0, true],
      ['reminder', 12.5, false],
    ])
    expect((await amounts(policy)).slice(1)).toEqual([
      ['other', 145],
      // The bills of the months shrink, so this is 42.50 of fees only.
      ['cancellation', -42.5],
      ['other', -90],
      ['reinstatement', 12.5],
    ])
    expect(await costs(policy)).toBe(1225)
  })

  it('an accepted reinstatement protects the fees it restores from being reversed (409)', async () => {
    const policy = await insured()
    const [fee] = await changed(policy, { newFees: [mooring] })
    const cancellation = await cancel(policy, month(6))
    const back = await reinstate(cancellation, { issue: false })
    await of.ok('PATCH', `/reinstatements/${back.locator}/accept`)
    const blocked = await change(policy, { reverseFees: [fee!.locator] })
    expect([blocked.status, blocked.body.message]).toEqual([409, expect.stringContaining('reinstatement')])
    await changed(policy, { newFees: [reminder] })
    await of.ok('PATCH', `/reinstatements/${back.locator}/issue`)
    await changed(policy, { reverseFees: [fee!.locator] })
    expect(await costs(policy)).toBe(1212.5)
  })

  it('a pending endorsement shows in newTotal the fees changed since', async () => {
    const policy = await insured()
    const endorsement = await of.ok<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      state: 'quoted',
      startTimestamp: month(6),
    })
    const path = `/endorsements/${endorsement.locator}`
    const price = async () => {
      const { newGrossFees, grossFeesChange, newTotal, totalChange } = await of.ok<PolicyPriceChangeResponse>(
        'GET',
        `${path}/price`,
      )
      return { newGrossFees, grossFeesChange, rest: newTotal - totalChange }
    }
    const [first] = await changed(policy, { newFees: [mooring] })
    expect(await price()).toEqual({ newGrossFees: 120, grossFeesChange: 0, rest: 1320 })
    await of.ok('PATCH', path, { action: 'accept' })
    await changed(policy, { newFees: [reminder], reverseFees: [first!.locator] })
    expect(await price()).toEqual({ newGrossFees: 12.5, grossFeesChange: 0, rest: 1212.5 })
    expect((await of.ok<PolicyResponse>('GET', `${path}/policyWhenIssued`)).grossFees).toBe(12.5)
    await of.ok('PATCH', path, { action: 'issue' })
    await changed(policy, { newFees: [mooring] })
    expect(await price()).toEqual({ newGrossFees: 12.5, grossFeesChange: 0, rest: 1212.5 })
  })

  it('a withdrawal gives all fees back, and later fee updates return 409', async () => {
    const policy = await insured()
    await changed(policy, { newFees: [reminder, mooring] })
    await of.ok('POST', `/policy/${policy.locator}/withdraw`)
    expect(await costs(policy)).toBe(0)
    expect((await amounts(policy)).at(-1)).toEqual(['cancellation', -232.5])
    expect((await change(policy, { newFees: [reminder] })).status).toBe(409)
  })
})

describe('PATCH /policy/{locator}/fees', () => {
  it('rejects the whole update when one fee is invalid, and writes nothing', async () => {
    const policy = await insured()
    const before = await of.read(policy)
    const wrong: [object, string][] = [
      [{ ...reminder, feeName: 'harbour' }, "declares no fee 'harbour'"],
      [{ ...reminder, amount: 0 }, 'must be above 0'],
      [{ ...reminder, amount: '-5' }, 'must be above 0'],
      [{ ...reminder, amount: '0.125' }, '2 decimal places of EUR'],
      [{ ...reminder, endTimestamp: month(0) }, 'must be after startTimestamp'],
      [{ ...reminder, startTimestamp: month(-1) }, "must not be before the contract's start"],
      [{ ...reminder, amount: 'much' }, 'plain decimal number'],
    ]
    for (const [fee, message] of wrong) {
      const answer = await change(policy, { newFees: [mooring, fee] })
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)])
      expect(answer.body.message).toContain('newFees[1]')
    }
    const huge = await change(policy, { newFees: [{ ...reminder, amount: '999999999999999' }] })
    expect(huge.status).toBe(422)
    const many = await change(policy, { newFees: Array(2_001).fill(reminder) })
    expect([many.status, many.body.message]).toEqual([413, expect.stringContaining('2001 fees')])
    expect(await of.read(policy)).toEqual(before)
    expect(await amounts(policy)).toEqual([['newBusiness', 100]])
  })

  it('returns the fees and writes nothing for an empty update', async () => {
    const policy = await insured()
    const before = await of.read(policy)
    expect(await changed(policy, { newFees: null, reverseFees: [] })).toEqual([])
    expect(await of.read(policy)).toEqual(before)
  })

  it('returns 409 before the policy is issued', async () => {
    const { locator, ...draft } = await insured()
    const { policyholderLocator } = draft
    const finalized = await of.ok<PolicyResponse>('POST', '/policy', {
      productName: 'boat',
      policyholderLocator,
      exposures: [{ exposureName: 'hull', fieldValues: { yearly: '1' }, perils: [{ name: 'sinking' }] }],
    })
    const answer = await change(finalized, { newFees: [reminder] })
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('finalized')])
    expect((await of.call('PATCH', '/policy/12800/fees', { newFees: [reminder] })).status).toBe(404)
  })

  it('returns the original response for a repeat with the same key, even with 500 fees', async () => {
    const policy = await insured()
    const send = () =>
      of.call<PolicyFeeSummaryResponse>(
        'PATCH',
        `/policy/${policy.locator}/fees`,
        { newFees: Array(500).fill({ ...reminder, amount: 1 }) },
        { 'idempotency-key': 'many' },
      )
    const first = await send()
    expect(first.body.fees).toHaveLength(500)
    expect((await send()).body).toEqual(first.body)
    expect(await amounts(policy)).toEqual([
      ['newBusiness', 100],
      ['other', 500],
    ])
  })

  it.each([
    ['JPY', '13', 13, '0.5', '0 decimal places of JPY'],
    ['BHD', '1.005', 1.005, '1.0005', '3 decimal places of BHD'],
  ])(
    'keeps the exact amount in %s, and rejects more decimal places',
    async (currency, amount, total, tooFine, message) => {
      const tenant = await boatTenant(`fees${currency.toLowerCase()}`, currency)
      const policy = await insured(tenant)
      await changed(policy, { newFees: [{ ...reminder, amount }] }, tenant)
      expect((await amounts(policy, tenant)).at(-1)).toEqual(['other', total])
      const refused = await change(policy, { newFees: [{ ...reminder, amount: tooFine }] }, tenant)
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(message)])
    },
  )

  it('is visible in snapshots from its time on', async () => {
    const policy = await insured()
    const at = Number((await of.read(policy)).updatedTimestamp)
    const before = await of.read(policy)
    await new Promise(resolve => setTimeout(resolve, 5))
    const [fee] = await changed(policy, { newFees: [mooring] })
    const between = await of.read(policy)
    await new Promise(resolve => setTimeout(resolve, 5))
    await changed(policy, { reverseFees: [fee!.locator] })
    for (const then of [before, between])
      expect(
        await of.ok('POST', `/policies/${policy.locator}/snapshot`, {
          asOfTimestamp: then === before ? at : Number(then.updatedTimestamp),
        }),
      ).toEqual(then)
  })
})
