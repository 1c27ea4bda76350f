// Writes that are seldom made and cost as little as all others: one call to the policy's object, with one read batch in
// it where the policy is not at hand, and one write batch (docs/design.md, section 1).
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

it('another payment schedule is one write, of a policy that is at hand', async () => {
  const { body } = await motor.createPolicy({ paymentScheduleName: 'monthly' })
  await motor.post(`/policy/${body.locator}/issue`)
  const path = `/policy/${body.locator}/paymentSchedule`
  // A block of locators may be leased on the way; the next change finds them.
  await motor.post(path, { newPaymentScheduleName: 'quarterly' })
  const changed = await motor.post(path, { newPaymentScheduleName: 'monthly' })
  expect(changed.status).toBe(200)
  expect(roundTrips(changed)).toMatchObject({ d1: 1, object: 1, r2: 0 })
})

it('a grace period is changed by a look-up of its policy and one write', async () => {
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
