// The application of a renewal of a policy that was withdrawn later.
import { expect, it } from 'vitest'
import { add } from '../../src/kernel/time.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'

it('quoting a renewal of a withdrawn policy is rejected without the advice to reinstate the policy', async () => {
  const policy = await ClockedPolicy.issued('home', 'full_pay')
  const { effectiveEnd, timeZone, locator } = policy.loaded.aggregate.policy
  const request = RenewalCreateRequest.parse({
    renewalEndTimestamp: add(effectiveEnd, 12, 'month', timeZone),
  })
  await policy.record(
    (await decideEndorsement(policy.loaded, { action: 'renew', request }, policy.attempt)).planned!,
  )
  const [renewal] = [...policy.loaded.aggregate.endorsements.keys()]
  await policy.record(
    (await decideCancellation(policy.loaded, { action: 'withdraw' }, policy.attempt)).planned,
  )
  const quote = { action: 'quote', endorsement: renewal! } as const
  await expect(decideEndorsement(policy.loaded, quote, policy.attempt)).rejects.toMatchObject({
    code: 'wrongState',
    message: `Policy ${locator} is withdrawn and cannot be renewed; it allows no action.`,
  })
})
