// The cover that a cancellation can still take back, at a time or after it. A year from March 1, 2030 in UTC.
import { expect, it } from 'vitest'
import { applyCancellation } from '../../src/transactions/cancellations/effect.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'

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
