// Renewing a policy that lapsed the legacy way adds another term from the lapse on.
import { expect, it } from 'vitest'
import { add } from '../../src/kernel/time.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { statusOf } from '../../src/transactions/custom-events/plan.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'

async function renew(policy: ClockedPolicy): Promise<void> {
  const { effectiveEnd, timeZone } = policy.loaded.aggregate.policy
  const request = RenewalCreateRequest.parse({
    renewalEndTimestamp: add(effectiveEnd, 12, 'month', timeZone),
    state: 'issued',
  })
  await policy.record(
    (await decideEndorsement(policy.loaded, { action: 'renew', request }, policy.attempt)).planned!,
  )
}

/** The spans in which each exposure is in force. */
const exposuresOf = ({ loaded }: ClockedPolicy): string[][] =>
  policyResponse(loaded.aggregate, loaded.product, { summarizeQuotes: false }).exposures.map(one =>
    one.characteristics
      .filter(({ issuedTimestamp, replacedTimestamp }) => issuedTimestamp && replacedTimestamp === undefined)
      .map(({ startTimestamp, endTimestamp }) => `${startTimestamp} ${endTimestamp}`)
      .sort(),
  )

it('renewing a lapsed policy continues its exposures, term after term', async () => {
  const policy = await ClockedPolicy.issued('home', 'full_pay')
  const { originalStart: start, timeZone } = policy.loaded.aggregate.policy
  await policy.advance(add(start, 2, 'month', timeZone))
  const lapsedAt = policy.loaded.aggregate.policy.effectiveEnd
  expect(policy.loaded.aggregate.lapses.size).toBe(1)
  await renew(policy)
  await policy.pay(policy.invoices.at(-1)!)
  await renew(policy)
  const [first, second] = [12, 24].map(count => add(lapsedAt, count, 'month', timeZone))
  const terms = [`${start} ${lapsedAt}`, `${lapsedAt} ${first}`, `${first} ${second}`]
  expect(exposuresOf(policy)).toEqual([...policy.loaded.aggregate.exposures.keys()].map(() => terms))
})

it('a renewed policy is not lapsed any more, until it lapses again', async () => {
  const policy = await ClockedPolicy.issued('home', 'full_pay')
  const { originalStart: start, timeZone } = policy.loaded.aggregate.policy
  const status = () => statusOf(policy.loaded.aggregate, policy.now)
  await policy.advance(add(start, 2, 'month', timeZone))
  expect(status()).toBe('lapsed')
  await renew(policy)
  expect(status()).toBe('issued')
  await policy.advance(add(start, 4, 'month', timeZone))
  expect([policy.loaded.aggregate.lapses.size, status()]).toEqual([2, 'lapsed'])
})
