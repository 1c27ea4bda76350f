// An endorsement of every vehicle passes over the whole policy as often as one of a small fleet: its work grows with the changes,
// and not with their square.
import { afterEach, expect, it, vi } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { newPolicyContextOf, workedPolicies } from '../support/configurations.ts'
import { attemptAt } from '../support/policy-story.ts'
import '../../src/transactions/kinds.ts'

const NOW = Date.UTC(2026, 10, 21, 12) as Instant
const DAY_MS = 86_400_000
const { policy, policyholder } = workedPolicies('motor')[0]!.request
const newPolicy = newPolicyContextOf('motor', 'private_motor', policyholder.values, NOW)

afterEach(() => vi.restoreAllMocks())

/** Returns how often an endorsement that changes every vehicle iterates over a map of at least as many records as vehicles. */
async function passesOver(vehicles: number): Promise<number> {
  const attempt = attemptAt(NOW)
  const exposures = Array.from({ length: vehicles }, () => policy.exposures[0])
  const request = PolicyCreateRequest.parse({ ...policy, exposures, policyholderLocator: 'unused' })
  const created = await decideCreation(request, newPolicy, attempt)
  const { aggregate } = await decideIssue({ ...newPolicy, aggregate: created.aggregate }, attempt)
  const change = EndorsementCreateRequest.parse({
    endorsementName: 'change_of_risk',
    startTimestamp: policy.policyStartTimestamp + 20 * DAY_MS,
    updateExposures: [...aggregate.exposures.keys()].map(exposureLocator => ({
      exposureLocator,
      fieldValues: { vehicle_value: '21000' },
    })),
    state: 'issued',
  })
  const values = vi.spyOn(Map.prototype, 'values')
  const { planned } = await decideEndorsement(
    { ...newPolicy, aggregate },
    { action: 'create', request: change },
    attempt,
  )
  const sizes = values.mock.contexts.map(map => (map as Map<unknown, unknown>).size)
  vi.restoreAllMocks()
  expect(planned.aggregate.perilRuns.size).toBe(2 * aggregate.perilRuns.size)
  return sizes.filter(size => size >= vehicles).length
}

it('an endorsement of 60 vehicles passes over their records as often as one of 30', async () => {
  const [few, many] = [await passesOver(30), await passesOver(60)]
  expect(many).toBe(few)
})
