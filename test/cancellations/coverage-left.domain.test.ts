// The cover that a cancellation can still take back, at a time or after it. A year from March 1, 2030 in UTC.
import { expect, it } from 'vitest'
import { applyCancellation } from '../../src/transactions/cancellations/effect.ts'
import { decideLapse, type LapseOperation } from '../../src/transactions/lapses/kind.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { boatFiles } from '../support/boat-product.ts'

const cancelledAt = ({ aggregate, loaded, attempt }: BoatInUtc, date: string) => {
  const order = {
    kind: 'cancellation' as const,
    name: 'modification.policy.cancel',
    effectiveAt: utc(date),
    proration: 'monthly' as const,
    mayBeEmpty: true,
  }
  const { product } = loaded
  return applyCancellation(aggregate, order, { product, now: attempt.now, supply: attempt.supply })
    .modification
}

it('a cancellation at the end of coverage is rejected, and one on the day before takes back that day', async () => {
  const boat = await BoatInUtc.issued({ yearly: '3100' })
  expect(() => cancelledAt(boat, '2031-03-01')).toThrow(/has no coverage at or after/)
  // The last day of February is 1/28 of a month.
  expect(cancelledAt(boat, '2031-02-28').premiumChange!.minor).toBe(-923)
})

it('a cancellation of a withdrawn policy takes back nothing where an empty one is allowed', async () => {
  const boat = await BoatInUtc.issued()
  await boat.withdraw()
  expect(cancelledAt(boat, '2030-09-01').premiumChange!.minor).toBe(0)
})

it('a cancellation in the gap before all cover ends the policy where it starts, and grace ends without a lapse', async () => {
  const boat = await cancelledInGap()
  expect(boat.aggregate.policy.effectiveEnd).toBe(utc('2030-03-01'))
  await expectGraceEndsWithoutLapse(boat)
})

it('grace of a policy that was stored with an end in the gap before all cover ends without a lapse', async () => {
  const boat = await cancelledInGap()
  const { policy } = boat.aggregate
  const aggregate = { ...boat.aggregate, policy: { ...policy, effectiveEnd: utc('2030-03-15') } }
  boat.loaded = { ...boat.loaded, aggregate }
  await expectGraceEndsWithoutLapse(boat)
  expect(boat.aggregate.gracePeriods.size).toBe(1)
})

/** Cancelled from its start, reinstated on March 17 and cancelled again on March 15. A flat fee of 24.00 stays and is owed. */
async function cancelledInGap(): Promise<BoatInUtc> {
  const path = 'products/boat/policy/policy.json'
  const terms = { ...JSON.parse(boatFiles('EUR', false)[path]!), lapse: { gracePeriodDays: 10 } }
  const files = { [path]: JSON.stringify(terms) }
  const boat = await BoatInUtc.issued({ schedule: 'upfront', fees: { reminder: 24 }, files })
  const first = await boat.cancel('2030-03-01')
  await boat.reinstate(first, '2030-03-17')
  await boat.cancel('2030-03-15')
  expect(boat.billed.map(one => one[2]).filter(open => open !== 0)).toEqual([2_400])
  return boat
}

async function expectGraceEndsWithoutLapse(boat: BoatInUtc): Promise<void> {
  const owed = boat.invoices.find((_, at) => boat.billed[at]![2] !== 0)!
  const decide = async (operation: LapseOperation) =>
    await boat.record((await decideLapse(boat.loaded, operation, boat.attempt)).planned)
  await boat.advance('2030-03-02')
  await decide({ action: 'pastDue', invoice: owed.locator })
  const [grace] = boat.aggregate.gracePeriods.values()
  await boat.advance('2030-03-12')
  if (grace) await decide({ action: 'graceEnd', gracePeriod: grace.locator })
  expect([...boat.aggregate.gracePeriods.values()].filter(one => one.state !== 'settled')).toEqual([])
  expect(boat.aggregate.cancellations.size).toBe(2)
}
