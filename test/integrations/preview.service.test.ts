// A preview of a product that an external rater prices calls the rater, as the transaction itself does.
import { expect, it } from 'vitest'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorTenant, plainYear } from '../support/motor.ts'
import { externallyRated, openRater, register } from '../support/rater.ts'

it('a previewed endorsement has the premium of the external rater, as when it is issued', async () => {
  await prepareDatabases({ tenants: 1 })
  const rater = await openRater({ rates: { '*': { yearlyPremium: 240 } } })
  const motor = await motorTenant('rater-previews', externallyRated('acme'))
  await register(motor, 'acme', rater)
  const { body: policy } = await motor.createPolicy()
  expect((await motor.post(`/policy/${policy.locator}/issue`)).status).toBe(200)
  const [vehicle] = plainYear().request.policy.exposures
  const request = {
    endorsementName: 'change_of_risk',
    startTimestamp: plainYear().request.policy.policyStartTimestamp,
    addExposures: [{ ...vehicle, perils: [{ name: 'glass' }] }],
  }
  const preview = await motor.post<PolicyPreviewResponse>(`/policies/${policy.locator}/preview`, {
    endorsement: request,
  })
  expect(preview.status).toBe(200)
  expect(preview.body.price.grossPremiumChange).toBe(240)
  const endorsed = await motor.post(`/policies/${policy.locator}/endorsements`, {
    ...request,
    state: 'issued',
  })
  expect(endorsed.status).toBe(200)
  const { body: after } = await motor.get(`/policy/${policy.locator}`)
  expect(after.modifications.at(-1)!.premiumChange).toBe(240)
})
