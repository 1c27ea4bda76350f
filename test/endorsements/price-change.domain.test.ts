// The change of the price that an endorsement or a withdrawal records, at every level (brief 3.1). A year from March 1, 2030, of a
// hull that costs 1,200.00, with 90 % of that as technical premium, a tax of 10 % and a commission of 5 % for the broker. Theft
// costs 240.00 a year, with a commission of 24.00 for the agent and without a technical premium.
import { expect, it } from 'vitest'
import { recordedPriceChange } from '../../src/transactions/mechanism/price-change.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'

const PERILS = 'products/boat/policy/exposures/hull/perils'
const YEARLY = 'data.exposure_characteristics.field_values.yearly'

const files = {
  [`${PERILS}/sinking.premium.liquid`]: `{{ ${YEARLY} | set_year_premium }}{{ ${YEARLY} | times: 0.9 | set_year_technical_premium }}{{ ${YEARLY} | times: 0.05 | add_year_commission: "broker" }}`,
  [`${PERILS}/theft.json`]: JSON.stringify({ name: 'theft', fields: [] }),
  [`${PERILS}/theft.premium.liquid`]: '{{ 240 | set_year_premium }}{{ 24 | add_year_commission: "agent" }}',
}

const lastChange = ({ aggregate, loaded }: BoatInUtc) =>
  recordedPriceChange(aggregate, [...aggregate.modifications.values()].at(-1)!, loaded.product)

/** Name, new amount and change of each line. */
const lines = (list: readonly Record<string, unknown>[]) =>
  list.map(one => [one.name ?? one.recipient, one.newAmount, one.amountChange])

/** The boat, to which theft is added from June on: for 9 months. */
async function withTheft(): Promise<BoatInUtc> {
  const boat = await BoatInUtc.issued({ isTaxed: true, files })
  const [exposureLocator] = boat.aggregate.exposures.keys()
  const updateExposures = [{ exposureLocator, addPerils: [{ name: 'theft' }] }]
  await boat.endorse('2030-06-01', undefined, { updateExposures })
  return boat
}

it('a peril that an endorsement adds is new with its tax and its commission', async () => {
  const { exposurePrices, ...change } = lastChange(await withTheft())
  expect(change).toMatchObject({
    newGrossPremium: 1_380,
    grossPremiumChange: 180,
    newGrossTaxes: 138,
    grossTaxesChange: 18,
    newGrossCommissions: 78,
    grossCommissionsChange: 18,
    newTotal: 1_518,
    totalChange: 198,
  })
  expect(lines(change.taxGroups)).toEqual([['levy', 138, 18]])
  expect(lines(change.commissions)).toEqual([
    ['broker', 60, 0],
    ['agent', 18, 18],
  ])
  const [sinking, theft] = exposurePrices[0]!.perilPrices
  expect(sinking).toMatchObject({
    premiumChange: 0,
    newTechnicalPremium: 1_080,
    technicalPremiumChange: 0,
    totalChange: 0,
  })
  expect(theft).toMatchObject({ newPremium: 180, premiumChange: 180, newTotal: 198, totalChange: 198 })
  expect([theft!.newTechnicalPremium, theft!.technicalPremiumChange]).toEqual([undefined, undefined])
})

it('an endorsement from September that ends theft and doubles the price changes each peril by its own amounts', async () => {
  const boat = await withTheft()
  const [exposureLocator] = boat.aggregate.exposures.keys()
  const theft = [...boat.aggregate.perils.values()].find(one => one.name === 'theft')!
  const ended = { exposureLocator, fieldValues: { yearly: '2400' }, endPerils: [theft.locator] }
  await boat.endorse('2030-09-01', undefined, { updateExposures: [ended] })
  const { exposurePrices, ...change } = lastChange(boat)
  // Six months at 100.00 more, and six months of theft at 20.00 less.
  expect(change).toMatchObject({
    newGrossPremium: 1_860,
    grossPremiumChange: 480,
    newTotal: 2_046,
    totalChange: 528,
  })
  const [exposure] = exposurePrices
  expect(exposure).toMatchObject({
    newGrossPremium: 1_860,
    grossPremiumChange: 480,
    newGrossTaxes: 186,
    grossTaxesChange: 48,
    newGrossCommissions: 96,
    grossCommissionsChange: 18,
    newTotal: 2_046,
    totalChange: 528,
  })
  expect(exposure!.perilPrices).toMatchObject([
    {
      newPremium: 1_800,
      premiumChange: 600,
      newTechnicalPremium: 1_620,
      technicalPremiumChange: 540,
      newGrossTaxes: 180,
      grossTaxesChange: 60,
      newGrossCommissions: 90,
      grossCommissionsChange: 30,
      newTotal: 1_980,
      totalChange: 660,
    },
    {
      newPremium: 60,
      premiumChange: -120,
      newGrossTaxes: 6,
      grossTaxesChange: -12,
      newGrossCommissions: 6,
      grossCommissionsChange: -12,
      newTotal: 66,
      totalChange: -132,
    },
  ])
  expect(exposure!.perilPrices.map(one => lines(one.commissions))).toEqual([
    [['broker', 90, 30]],
    [['agent', 6, -12]],
  ])
})

it('a withdrawal takes every amount back to zero, with the names that it had', async () => {
  const boat = await withTheft()
  await boat.withdraw()
  const { exposurePrices, ...change } = lastChange(boat)
  expect(change).toMatchObject({
    newGrossPremium: 0,
    grossPremiumChange: -1_380,
    newTotal: 0,
    totalChange: -1_518,
  })
  expect(lines(change.taxGroups)).toEqual([['levy', 0, -138]])
  expect(lines(change.commissions)).toEqual([
    ['broker', 0, -60],
    ['agent', 0, -18],
  ])
  expect(exposurePrices[0]!.perilPrices).toMatchObject([
    { newPremium: 0, premiumChange: -1_200, newTechnicalPremium: 0, technicalPremiumChange: -1_080 },
    { newPremium: 0, premiumChange: -180 },
  ])
})
