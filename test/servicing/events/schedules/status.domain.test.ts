// The state of a policy by which schedules of custom events are suppressed: the state that lists of policies show.
import '../../../../src/transactions/kinds.ts'
import { expect, test } from 'vitest'
import { decideCancellation } from '../../../../src/transactions/cancellations/decision.ts'
import { statusOf } from '../../../../src/transactions/custom-events/plan.ts'
import { BoatInUtc, utc } from '../../../support/boat-in-utc.ts'
import { ClockedPolicy } from '../../../support/clocked-policy.ts'

test('a policy is cancelled until every cancellation is reinstated', async () => {
  const boat = await BoatInUtc.issued()
  const status = () => statusOf(boat.aggregate, utc('2030-12-01'))
  const first = await boat.cancel('2030-10-15')
  const second = await boat.cancel('2030-07-01')
  await boat.reinstate(second)
  expect(status()).toBe('cancelled')
  await boat.reinstate(first)
  expect(status()).toBe('issued')
})

test('a policy that lapsed the legacy way stays lapsed when it is withdrawn', async () => {
  const policy = await ClockedPolicy.issued('home', 'monthly')
  await policy.advance('2027-06-01')
  const { planned } = await decideCancellation(policy.loaded, { action: 'withdraw' }, policy.attempt)
  await policy.record(planned)
  expect(statusOf(policy.loaded.aggregate, policy.now)).toBe('lapsed')
})
