// The first bill of a renewal is created when the renewal is issued, while bills of the previous term are still planned. A later
// cancellation gives back immediately what that bill charged for time after the cancellation. A planned bill gives back only what
// it bills for its own time (brief 4.5). A boat's two years from March 1, 2035 in UTC.
import { expect, it } from 'vitest'
import { BoatInUtc } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'
import '../../src/transactions/kinds.ts'

const renewed = async (fees: Record<string, number> = {}): Promise<BoatInUtc> => {
  const boat = await BoatInUtc.issued({ start: '2035-03-01', end: '2036-03-01', isTaxed: true, fees })
  await boat.renew('2037-03-01')
  return boat
}

const billed = (boat: BoatInUtc) => boat.billed.map(([type, minor]) => [type, minor])

function addsUp({ loaded }: BoatInUtc): void {
  expectItemsSumToCharges(loaded)
  expectBillsMatchPrice(loaded)
  expectChargesBilledOnce(loaded)
}

it('cancelling in the month of a renewal’s first bill refunds 15 of its 31 days and changes no planned bill', async () => {
  const boat = await renewed()
  const before = boat.planned.slice(0, 11)
  await boat.cancel('2036-03-17')
  expect(billed(boat)).toEqual([
    ['newBusiness', 11_000],
    ['renewal', 11_000],
    ['cancellation', -5_323],
  ])
  expect(boat.planned).toEqual(before)
  addsUp(boat)
})

it('the part of a flat fee that a cancellation leaves is added to the last planned bill', async () => {
  const boat = await renewed({ reminder: 24 })
  await boat.cancel('2036-03-17')
  expect(billed(boat).slice(-1)).toEqual([['cancellation', -5_323]])
  expect(boat.planned.slice(-2)).toEqual([
    ['2036-01-01', 11_200],
    ['2036-02-01', 11_200 + 2_200],
  ])
  addsUp(boat)
})

it('reinstating after such a cancellation bills again what it gave back, and restores the plan', async () => {
  const boat = await renewed({ reminder: 24 })
  const plan = boat.planned
  const cancellation = await boat.cancel('2036-03-17')
  await boat.reinstate(cancellation)
  expect(boat.planned).toEqual(plan)
  expect(billed(boat).slice(-1)).toEqual([['reinstatement', 5_323]])
  addsUp(boat)
})
