// Endorsements that move the policy's end (brief 2.5, 10.10). A year from March 1, 2030 in UTC, at 1,200.00.
import { expect, it } from 'vitest'
import { isIssued, lineOf, segmentsInForce } from '../../src/policy/fold/line.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'

const priceOf = ({ aggregate, loaded: { product } }: BoatInUtc) =>
  policyPriceResponse(policyView(aggregate, boundQuote(aggregate), product, isIssued))

const features = { 'property.endorsement.policy.end.enabled': true }
const files = { 'config.json': JSON.stringify({ timezone: 'UTC', currency: 'EUR', features }) }

const hull = { exposureName: 'hull', fieldValues: { yearly: '1200' }, perils: [{ name: 'sinking' }] }

it('moving the end to the start of a renewal takes the renewal back and leaves the first term unchanged', async () => {
  const boat = await BoatInUtc.issued({ files })
  await boat.renew('2032-03-01')
  expect(priceOf(boat).grossPremium).toBe(2_400)
  await boat.endorse('2030-09-01', undefined, { newPolicyEndTimestamp: utc('2031-03-01') })
  const { aggregate } = boat
  const segments = segmentsInForce(lineOf(aggregate, boundQuote(aggregate)))
  expect(segments.at(-1)!.end).toBe(utc('2031-03-01'))
  expect(priceOf(boat).grossPremium).toBe(1_200)
  expect(boat.amounts.map(Number).reduce((sum, one) => sum + one, 0)).toBe(1_100)
})

it('moving the end earlier while changing one exposure leaves each exposure its share', async () => {
  const boat = await BoatInUtc.issued({ files })
  await boat.endorse('2030-03-01', undefined, { addExposures: [hull, hull] })
  const [, second] = boat.aggregate.exposures.keys()
  await boat.endorse('2030-09-01', undefined, {
    newPolicyEndTimestamp: utc('2030-12-01'),
    updateExposures: [{ exposureLocator: second, fieldValues: { yearly: '2400' } }],
  })
  // Half a year of 1,200.00 and a quarter of 2,400.00; the others three quarters of 1,200.00.
  expect(priceOf(boat).exposurePrices.map(one => one.grossPremium)).toEqual([900, 1_200, 900])
})

it('taxes of a policy that is extended twice without repricing grow by the rate of the year that was rated', async () => {
  const type = { name: 'change', displayName: 'Change', reprice: 'never', documents: [] }
  const boat = await BoatInUtc.issued({
    isTaxed: true,
    files: { ...files, 'products/boat/policy/endorsements.json': JSON.stringify({ endorsements: [type] }) },
  })
  await boat.endorse('2030-09-01', undefined, { newPolicyEndTimestamp: utc('2031-03-02') })
  // A day of March is 1/31 of 100.00 and of 10.00. In proportion to the 0.32 of that day, a year would have a tax of 119.04.
  expect(priceOf(boat)).toMatchObject({ grossPremium: 1_203.23, grossTaxes: 120.32 })
  await boat.endorse('2030-10-01', undefined, { newPolicyEndTimestamp: utc('2032-03-02') })
  expect(priceOf(boat)).toMatchObject({ grossPremium: 2_403.23, grossTaxes: 240.32 })
})
