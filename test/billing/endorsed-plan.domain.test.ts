// How an endorsement changes planned bills (brief 4.5): each bills what is in force in its time, and none is negative. A boat's
// year from March 1, 2030 in UTC.
import { describe, expect, it } from 'vitest'
import { BoatInUtc, type BoatTerms, utc } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'
import '../../src/transactions/kinds.ts'

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value)

/** Issues a policy whose end an endorsement may move. */
const movable = (terms: BoatTerms = {}): Promise<BoatInUtc> => {
  const features = { 'property.endorsement.policy.end.enabled': true }
  const files = { 'config.json': JSON.stringify({ timezone: 'UTC', currency: 'EUR', features }) }
  return BoatInUtc.issued({ ...terms, files })
}

const billed = (boat: BoatInUtc) => boat.billed.map(([type, minor]) => [type, minor])

function addsUp({ loaded }: BoatInUtc): void {
  expectItemsSumToCharges(loaded)
  expectBillsMatchPrice(loaded)
  expectChargesBilledOnce(loaded)
}

describe('An endorsement', () => {
  it('to a premium of zero leaves no bills after it, and the next one plans a bill for each month again', async () => {
    const boat = await BoatInUtc.issued()
    await boat.endorse('2030-07-01', '0')
    expect(boat.amounts).toEqual(times(3, '100.00'))
    await boat.endorse('2030-06-01', '600')
    expect(boat.amounts).toEqual([...times(2, '100.00'), ...times(9, '50.00')])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('moves an amount that would make its first bill negative to the bill before', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'fortnightly' })
    await boat.endorse('2030-04-26', '0')
    // 183.33 is in force until then, and the bill of April 26 is the fifth.
    expect(boat.amounts).toEqual(['46.03', '46.03', '45.24'])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('that leaves a difference on the bill before keeps the later bills in their order', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'fortnightly' })
    await boat.endorse('2030-09-14', '12')
    // 643.33 is in force until then, 1.09 less than fourteen bills, and 5.54 after it: 0.46 for two weeks and 0.05 for the last
    // day.
    expect(boat.amounts).toEqual([...times(12, '46.03'), '45.37', ...times(11, '0.46'), '0.05'])
    addsUp(boat)
  })

  it('gives back immediately what a single bill charged for the renewed term, and changes planned bills', async () => {
    const boat = await BoatInUtc.issued()
    await boat.renew('2032-03-01', { newPaymentScheduleName: 'upfront' })
    await boat.endorse('2030-07-01', '600')
    expect(billed(boat)).toEqual([
      ['newBusiness', 10_000],
      ['renewal', 120_000],
      ['endorsement', -60_000],
    ])
    expect(boat.amounts).toEqual([...times(3, '100.00'), ...times(8, '50.00')])
    addsUp(boat)
  })
})

describe('An endorsement that moves the end', () => {
  it('to an earlier one leaves no bill after it, and adds their shares of a flat fee to the last bill', async () => {
    const boat = await movable({ yearly: '1000', fees: { reminder: 24 } })
    await boat.endorse('2030-08-20', undefined, { newPolicyEndTimestamp: utc('2030-09-01') })
    // 467.74 is in force before Aug 20, and 32.59 from then on: 0.35 more than six months of 83.33. The bill of August has this
    // difference and 12.00 of the fee.
    expect(boat.planned).toEqual([
      ...['2030-04-01', '2030-05-01', '2030-06-01', '2030-07-01'].map(due => [due, 8_533]),
      ['2030-08-01', 8_533 + 1_200 + 35],
    ])
    addsUp(boat)
  })

  it('to a later one bills immediately the added time that has already passed', async () => {
    const boat = await movable()
    boat.now = utc('2031-04-10')
    await boat.endorse('2031-02-01', undefined, { newPolicyEndTimestamp: utc('2031-06-01') })
    expect(billed(boat)).toEqual([
      ['newBusiness', 10_000],
      ['endorsement', 20_000],
    ])
    expect(boat.planned.slice(-2)).toEqual([
      ['2031-02-01', 10_000],
      ['2031-05-01', 10_000],
    ])
    addsUp(boat)
  })
})

it('a refund of a later endorsement with a new schedule does not wait: it is made immediately', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  await boat.pay(boat.invoices[0]!)
  await boat.endorse('2030-09-01', '600', { newPaymentScheduleName: 'monthly' })
  // Half of the six months from September on, which cost 600.00.
  expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['endorsement', -30_000])
  expect(boat.planned).toEqual([])
})
