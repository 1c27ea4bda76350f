// Invoices below the product's threshold, here 2.00, are carried forward (brief 4.4, 4.5). The term is a year from March 1, 2030,
// billed monthly.
import { expect, it } from 'vitest'
import { decideInvoicing } from '../../src/billing/billing.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { boatFiles } from '../support/boat-product.ts'

const POLICY = 'products/boat/policy/policy.json'
const files = {
  [POLICY]: JSON.stringify({
    ...JSON.parse(boatFiles('EUR', false)[POLICY]!),
    invoicing: { carryForwardBelow: 2 },
  }),
}

const settlementsOf = (boat: BoatInUtc) => boat.billed.map(([, minor, , status]) => [minor, status])

it('an invoice of exactly the threshold is not carried forward', async () => {
  const boat = await BoatInUtc.issued({ yearly: '24', files })
  await boat.makeNext(1)
  expect(settlementsOf(boat)).toEqual([
    [200, 'unfulfilled'],
    [200, 'unfulfilled'],
  ])
})

it('the third invoice includes two carried-forward ones, and the fourth is carried forward again', async () => {
  const boat = await BoatInUtc.issued({ yearly: '8', files })
  await boat.makeNext(3)
  expect(settlementsOf(boat)).toEqual([
    [67, 'carriedForward'],
    [134, 'carriedForward'],
    [201, 'unfulfilled'],
    [67, 'carriedForward'],
  ])
})

it('bills made together after an outage are carried forward as if each had been made on time', async () => {
  const boat = await BoatInUtc.issued({ yearly: '8', files })
  boat.now = utc('2030-06-25')
  await boat.record(await decideInvoicing(boat.loaded, boat.attempt))
  expect(settlementsOf(boat)).toEqual([
    [67, 'carriedForward'],
    [134, 'carriedForward'],
    [201, 'unfulfilled'],
    [67, 'carriedForward'],
    [134, 'carriedForward'],
  ])
})

it('the last invoice of a plan is not carried forward, even below the threshold', async () => {
  // Eleven months of 1.10 each make five pairs and one invoice without a later one to join.
  const boat = await BoatInUtc.issued({ yearly: '13.2', end: '2031-02-01', files })
  await boat.makeNext(10)
  expect(settlementsOf(boat).slice(-3)).toEqual([
    [110, 'carriedForward'],
    [220, 'unfulfilled'],
    [110, 'unfulfilled'],
  ])
})

it('a product that sets no threshold carries invoices below 2.00 forward, and one that sets 0 none', async () => {
  const boat = await BoatInUtc.issued({ yearly: '18' })
  await boat.makeNext(1)
  expect(settlementsOf(boat)).toEqual([
    [150, 'carriedForward'],
    [300, 'unfulfilled'],
  ])
  const policy = JSON.parse(files[POLICY]!)
  const none = { [POLICY]: JSON.stringify({ ...policy, invoicing: { carryForwardBelow: 0 } }) }
  const uncarried = await BoatInUtc.issued({ yearly: '18', files: none })
  expect(settlementsOf(uncarried)).toEqual([[150, 'unfulfilled']])
})
