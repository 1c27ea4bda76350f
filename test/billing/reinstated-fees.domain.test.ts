// A reinstatement with a gap restores flat fees in full (brief 4.5). The part for the time in the gap is on the next bill, and the
// rest is spread over the bills of its time. A year from March 1, 2030 in UTC.
import { describe, expect, it } from 'vitest'
import { futureInstallments, installmentOf, standingInvoices } from '../../src/policy/bills/amounts-due.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import type { PlannedInstallment } from '../../src/policy/records/invoice.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'

const feeOn = ({ aggregate }: BoatInUtc, one: PlannedInstallment): number =>
  billedItemsOf(aggregate)(one)
    .filter(item => item.charge.type === 'fee')
    .reduce((sum, item) => sum + item.amount.minor, 0)

/** The fees on each planned bill, in minor units. */
const feesPlanned = (boat: BoatInUtc): number[] =>
  futureInstallments(boat.aggregate).map(one => feeOn(boat, one))

/** The fees on each invoice, in minor units. */
const feesBilled = (boat: BoatInUtc): number[] =>
  standingInvoices(boat.aggregate).map(one => feeOn(boat, installmentOf(boat.aggregate, one)))

const addReminder = (boat: BoatInUtc, from: string, to: string): Promise<void> =>
  boat.changeFees({
    newFees: [
      {
        feeName: 'reminder',
        amount: '24.00',
        startTimestamp: String(utc(from)),
        endTimestamp: String(utc(to)),
      },
    ],
  })

function addsUp({ loaded }: BoatInUtc): void {
  expectItemsSumToCharges(loaded)
  expectBillsMatchPrice(loaded)
  expectChargesBilledOnce(loaded)
}

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value)

describe('A flat fee of 24.00 on a monthly plan, cancelled from its start and reinstated on Apr 15', () => {
  const cancelled = async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
    return { boat, cancellation: await boat.cancel('2030-03-01') }
  }

  it('is 2.00 a month: the next bill, April, has March and April, and the others are unchanged', async () => {
    const { boat, cancellation } = await cancelled()
    await boat.reinstate(cancellation, '2030-04-15')
    // 10.5 of 12 months of the 1,200.00 come back; April has 16 of its 30 days.
    expect(boat.planned[0]).toEqual(['2030-04-01', 5_316 + 400])
    expect(boat.planned.map(one => one[1]).slice(1)).toEqual([...times(9, 9_968 + 200), 9_972 + 200])
    expect(feesPlanned(boat)).toEqual([400, ...times(10, 200)])
    expect(boat.billed.map(one => one[0])).toEqual(['newBusiness', 'cancellation'])
    addsUp(boat)
  })

  it('has March and April on the reinstatement’s invoice when April is past due', async () => {
    const { boat, cancellation } = await cancelled()
    await boat.advance('2030-04-20')
    await boat.reinstate(cancellation, '2030-04-15')
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['reinstatement', 5_316 + 400])
    expect(feesPlanned(boat)).toEqual(times(10, 200))
    addsUp(boat)
  })

  it('has its later months on the October bill when the policy is cancelled again in October', async () => {
    const { boat, cancellation } = await cancelled()
    await boat.reinstate(cancellation, '2030-04-15')
    await boat.cancel('2030-10-15')
    expect(feesPlanned(boat)).toEqual([400, ...times(5, 200), 1_000])
    addsUp(boat)
  })
})

describe('A flat fee added by hand to a policy that is cancelled as of Oct 15 and reinstated on Dec 1', () => {
  const reinstated = async (from: string, to: string): Promise<BoatInUtc> => {
    const boat = await BoatInUtc.issued()
    await addReminder(boat, from, to)
    const cancellation = await boat.cancel('2030-10-15')
    expect(feesBilled(boat)).toEqual([0, 2_400, -2_400])
    await boat.reinstate(cancellation, '2030-12-01')
    return boat
  }

  it('has November and December on the December bill when it begins in the gap', async () => {
    const boat = await reinstated('2030-11-01', '2031-03-01')
    expect(boat.amounts.slice(-3)).toEqual(['113.08', '107.08', '107.07'])
    expect(feesPlanned(boat).slice(-3)).toEqual([1_200, 600, 600])
    expect(boat.billed.map(one => one[0])).not.toContain('reinstatement')
    addsUp(boat)
  })

  it('is on the December bill in full, and not billed immediately, when it begins and ends in the gap', async () => {
    const boat = await reinstated('2030-11-01', '2030-12-01')
    expect(boat.amounts.slice(-3)).toEqual(['125.08', '101.08', '101.07'])
    expect(boat.billed.map(one => one[0])).not.toContain('reinstatement')
    addsUp(boat)
  })

  it('is spread over its own time when it begins after the gap', async () => {
    const boat = await reinstated('2031-01-01', '2031-03-01')
    expect(feesPlanned(boat).slice(-3)).toEqual([0, 1_200, 1_200])
    addsUp(boat)
  })
})
