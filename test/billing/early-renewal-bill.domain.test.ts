// A renewal's first bill is made when it is issued, while bills of the term before are still planned. A cancellation after the
// renewal gives back at once what that bill charged for time after the date; a planned bill gives only what it bills for its own
// time (brief 4.5). A boat's two years from March 1, 2035 in UTC.
import { expect, it } from 'vitest'
import { BoatInUtc } from '../support/boat-in-utc.ts'
import { billsWhatStands, chargesAreBilledOnce, itemsComeToCharges } from '../support/money-checks.ts'
import '../../src/transactions/kinds.ts'

const renewed = async (fees: Record<string, number> = {}): Promise<BoatInUtc> => {
  const boat = await BoatInUtc.issued({ start: '2035-03-01', end: '2036-03-01', isTaxed: true, fees })
  await boat.renew('2037-03-01')
  return boat
}

const billed = (boat: BoatInUtc) => boat.billed.map(([type, minor]) => [type, minor])

function addsUp({ loaded }: BoatInUtc): void {
  itemsComeToCharges(loaded)
  billsWhatStands(loaded)
  chargesAreBilledOnce(loaded)
}

it('cancelled in the month that the bill is for: 15 of its 31 days come back at once, and no bill of before changes', async () => {
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

it('what stays of a flat fee lies on the last planned bill all the same', async () => {
  const boat = await renewed({ reminder: 24 })
  await boat.cancel('2036-03-17')
  expect(billed(boat).slice(-1)).toEqual([['cancellation', -5_323]])
  expect(boat.planned.slice(-2)).toEqual([
    ['2036-01-01', 11_200],
    ['2036-02-01', 11_200 + 2_200],
  ])
  addsUp(boat)
})

it('reinstated, asks again for what came back', async () => {
  const boat = await renewed({ reminder: 24 })
  const plan = boat.planned
  const cancellation = await boat.cancel('2036-03-17')
  await boat.reinstate(cancellation)
  expect(boat.planned).toEqual(plan)
  expect(billed(boat).slice(-1)).toEqual([['reinstatement', 5_323]])
  addsUp(boat)
})
