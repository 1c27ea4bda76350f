// A policy with many perils is serialized in pieces that together are the whole response.
import { expect, it } from 'vitest'
import { isLong, jsonTexts } from '../../src/kernel/json.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { policyAnswer, policyResponse } from '../../src/policy/projection/policy.ts'
import { policySnapshot } from '../../src/policy/projection/snapshot.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { newPolicyContextOf, workedPolicies } from '../support/configurations.ts'
import { attemptAt } from '../support/policy-story.ts'
import '../../src/transactions/kinds.ts'

const NOW = Date.UTC(2026, 10, 21, 12) as Instant
const { policy, policyholder } = workedPolicies('motor')[0]!.request
const ground = newPolicyContextOf('motor', 'private_motor', policyholder.values, NOW)
const { product } = ground

/** A policy with four perils for each vehicle, and two more segments of each peril for each endorsement. */
async function fleet(vehicles: number, endorsements: number): Promise<PolicyAggregate> {
  const attempt = attemptAt(NOW)
  const exposures = Array.from({ length: vehicles }, () => policy.exposures[0])
  const request = PolicyCreateRequest.parse({ ...policy, exposures, policyholderLocator: 'unused' })
  let { aggregate } = await decideCreation(request, ground, attempt)
  aggregate = (await decideIssue({ ...ground, aggregate }, attempt)).aggregate
  for (let n = 1; n <= endorsements; n += 1) {
    const change = EndorsementCreateRequest.parse({
      endorsementName: 'change_of_contact',
      startTimestamp: policy.policyStartTimestamp + n * 60_000,
      fieldValues: { contact_phone: `+49 30 ${n}` },
      state: 'issued',
    })
    const loaded = { ...ground, aggregate }
    aggregate = (await decideEndorsement(loaded, { action: 'create', request: change }, attempt)).planned
      .aggregate
  }
  return aggregate
}

const OPTIONS = { summarizeQuotes: true }

it('a long response in pieces equals the whole, and each piece is short', async () => {
  const large = await fleet(120, 4)
  const answer = policyAnswer(large, product, OPTIONS)
  expect(isLong(answer)).toBe(true)
  const texts = [...jsonTexts(answer)]
  const whole = JSON.stringify(policyResponse(large, product, OPTIONS))
  expect(texts.join('') === whole).toBe(true)
  expect(whole.length).toBeGreaterThan(6_000_000)
  expect(Math.max(...texts.map(text => text.length))).toBeLessThan(100_000)

  const one = { ...OPTIONS, perilCharacteristics: [...large.exposures.keys()][7]! }
  expect(policyAnswer(large, product, one)).toEqual(policyResponse(large, product, one))
  const then = policySnapshot(large, product, {
    asOfTimestamp: undefined,
    effectiveTimestamp: policy.policyStartTimestamp as Instant,
  })
  const { exposures } = JSON.parse([...jsonTexts(then)].join('')) as { exposures: unknown[] }
  expect(exposures).toHaveLength(120)
})

it('a response is divided only when the policy has many perils', async () => {
  expect(isLong(policyAnswer(await fleet(83, 4), product, OPTIONS))).toBe(false)
  expect(isLong(policyAnswer(await fleet(84, 4), product, OPTIONS))).toBe(true)
})
