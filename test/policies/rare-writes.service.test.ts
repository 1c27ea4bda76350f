// Rare writes cost no more than others: one call to the policy's object, in it one read batch if the policy is not in memory, and
// one write batch (docs/design.md, section 1).
import { beforeAll, expect, it } from 'vitest'
import type { GracePeriodResponse } from '../../src/transactions/lapses/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('rare-writes')
})

it('changing the payment schedule takes one D1 round trip when the policy is in memory', async () => {
  const { body } = await motor.createPolicy({ paymentScheduleName: 'monthly' })
  await motor.post(`/policy/${body.locator}/issue`)
  const path = `/policy/${body.locator}/paymentSchedule`
  // The first change may lease a block of locators, which the next change uses.
  await motor.post(path, { newPaymentScheduleName: 'quarterly' })
  const changed = await motor.post(path, { newPaymentScheduleName: 'monthly' })
  expect(changed.status).toBe(200)
  expect(roundTrips(changed)).toMatchObject({ d1: 1, object: 1, r2: 0 })
})

it('changing a grace period takes a look-up of its policy and one write', async () => {
  const span = { policyStartTimestamp: undefined, policyEndTimestamp: undefined }
  const { body } = await motor.createPolicy({ ...span, paymentScheduleName: 'upfront' })
  const { body: policy } = await motor.post(`/policy/${body.locator}/issue`)
  const dueAt = Number(policy.invoices[0]!.dueTimestamp)
  await motor.post('/test/clock', { timestamp: dueAt + 60_000 })
  const [grace] = (await motor.get<GracePeriodResponse[]>(`/policy/${policy.locator}/gracePeriods`)).body
  const patched = await callApi<GracePeriodResponse>('PATCH', `/gracePeriod/${grace!.locator}`, {
    token: motor.token,
    body: { endTimestamp: dueAt + 86_400_000 },
  })
  expect([patched.status, patched.body.endTimestamp]).toEqual([200, String(dueAt + 86_400_000)])
  expect(roundTrips(patched)).toMatchObject({ d1: 2, object: 1, r2: 0 })
})
