// An exposure may have several perils of the same name: the contract distinguishes them by their locators.
import { beforeAll, expect, it } from 'vitest'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month, NEW_YEAR } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'

let of: Boats

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  of = await boatTenant('onename')
})

it('perils of the same name, from creation or an endorsement, have separate limits and prices', async () => {
  const { policyholderLocator } = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
  const sinking = (deductible: number) => ({ name: 'sinking', deductible })
  const draft = await of.ok<PolicyResponse>('POST', '/policy', {
    productName: 'boat',
    policyholderLocator,
    policyStartTimestamp: NEW_YEAR,
    policyEndTimestamp: month(12),
    paymentScheduleName: 'monthly',
    exposures: [
      { exposureName: 'hull', fieldValues: { yearly: '1200' }, perils: [sinking(100), sinking(200)] },
    ],
  })
  const issued = await of.ok<PolicyResponse>('POST', `/policy/${draft.locator}/issue`)
  const priceOf = () => of.ok<PolicyPriceResponse>('POST', `/policy/${draft.locator}/price`)
  // Twice 1,200 for the year.
  expect((await priceOf()).grossPremium).toBe(2_400)
  await of.ok('POST', `/policies/${draft.locator}/endorsements`, {
    endorsementName: 'change',
    startTimestamp: month(6),
    updateExposures: [{ exposureLocator: issued.exposures[0]!.locator, addPerils: [sinking(300)] }],
    state: 'issued',
  })
  // And the third for half of it.
  expect((await priceOf()).grossPremium).toBe(3_000)
  const { exposures } = await of.read(draft)
  const perils = exposures[0]!.perils
  expect(perils.map(({ name }) => name)).toEqual(['sinking', 'sinking', 'sinking'])
  expect(new Set(perils.map(({ locator }) => locator)).size).toBe(3)
  expect(perils.map(peril => peril.characteristics.at(-1)!.deductible)).toEqual([100, 200, 300])
})
