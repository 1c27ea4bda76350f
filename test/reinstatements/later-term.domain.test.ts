// What a reinstatement restores when it begins with a later term, or late in the term (brief 1.6). From March 1, 2030 in UTC.
import { expect, it } from 'vitest'
import { feesOf, isIssued, lineOf } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { modificationResponses } from '../../src/policy/projection/records.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'

it('reinstating from the start of a renewed term restores that term, and nothing of the term before', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront', fees: { mooring: 24 } })
  await boat.renew('2032-03-01')
  const cancellation = await boat.cancel('2030-09-01')
  await boat.reinstate(cancellation, '2031-03-01')
  const { aggregate, loaded } = boat
  const line = lineOf(aggregate, boundQuote(aggregate))
  expect(line.at(-1)!.made.map(({ start, end }) => [start, end])).toEqual([
    [utc('2031-03-01'), utc('2032-03-01')],
  ])
  const [first, second] = feesOf(aggregate, boundQuote(aggregate), line)
  expect(first!.parts.map(({ start, end, amount }) => [start, end, amount.minor])).toEqual([
    [utc('2030-03-01'), utc('2030-09-01'), 1_200],
  ])
  expect(first!.fee.changes).toHaveLength(1)
  expect(second!.amount.minor).toBe(2_400)
  const view = policyView(aggregate, boundQuote(aggregate), loaded.product, isIssued)
  expect(policyPriceResponse(view)).toMatchObject({ grossPremium: 600 + 1_200, grossFees: 36 })
})

it('reinstating an earlier part last shows the end of the contract, not of that part', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  const first = await boat.cancel('2030-12-01')
  const second = await boat.cancel('2030-07-01')
  await boat.reinstateOutOfOrder(first)
  await boat.reinstate(second)
  const { aggregate, loaded } = boat
  const view = policyView(aggregate, boundQuote(aggregate), loaded.product, isIssued)
  const end = String(utc('2031-03-01'))
  expect(modificationResponses(view, []).map(one => one.policyEndTimestamp)).toEqual([
    end,
    String(utc('2030-12-01')),
    String(utc('2030-07-01')),
    end,
    end,
  ])
})

it('reinstating from the end of the cover that was removed is rejected, because nothing would come back', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  const cancellation = await boat.cancel('2030-09-01')
  await expect(boat.reinstate(cancellation, '2031-03-01')).rejects.toMatchObject({
    code: 'invalidRequest',
    message: `effectiveTimestamp ${utc('2031-03-01')} must be before ${utc('2031-03-01')}, the end of the coverage that the cancellation removed.`,
  })
  await boat.reinstate(cancellation, '2031-02-28')
})

it('a cancellation cannot be reinstated once the policy is withdrawn, and the reason is the withdrawal', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  const cancellation = await boat.cancel('2030-09-01')
  await boat.withdraw()
  await expect(boat.reinstate(cancellation)).rejects.toMatchObject({
    code: 'wrongState',
    message: `Policy ${boat.aggregate.policy.locator} is withdrawn and cannot be reinstated.`,
  })
})
