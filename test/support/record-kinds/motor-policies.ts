// Policies of the motor example in the states that other records start from.
import '../../../src/transactions/kinds.ts'
import { add, type Instant } from '../../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../../src/policy/contract/requests.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import type { Planned } from '../../../src/policy/transitions.ts'
import {
  type CancellationOperation,
  decideCancellation,
} from '../../../src/transactions/cancellations/decision.ts'
import { EndorsementCreateRequest } from '../../../src/transactions/endorsements/contract.ts'
import type { EndorsementOperation } from '../../../src/transactions/endorsements/plans.ts'
import {
  decideCreation,
  decideFinalization,
  decideIssue,
} from '../../../src/transactions/new-business/decision.ts'
import { RenewalCreateRequest } from '../../../src/transactions/renewals/contract.ts'
import { newPolicyContextOf, workedPolicies } from '../configurations.ts'
import { attemptAt, STORY_BEGINS } from '../policy-story.ts'

export const attempt = () => attemptAt(STORY_BEGINS)
/** After every deadline. */
export const muchLater = () => attemptAt((STORY_BEGINS + 400 * 86_400_000) as Instant)

export const INSURABLE = 'A plain year'
export const UNINSURABLE = 'A driver too young'

export async function draftPolicy(name: string): Promise<Loaded> {
  const { policy, policyholder } = workedPolicies('motor').find(one => one.name === name)!.request
  const ground = newPolicyContextOf('motor', policy.productName, policyholder.values, STORY_BEGINS)
  const request = { ...policy, policyholderLocator: ground.policyholder.locator, finalize: false }
  const { aggregate } = await decideCreation(PolicyCreateRequest.parse(request), ground, attempt())
  return { ...ground, aggregate }
}

export const after = (loaded: Loaded, planned: Planned | undefined): Loaded => ({
  ...loaded,
  aggregate: planned!.aggregate,
})

export const finalized = async (name: string): Promise<Loaded> => {
  const draft = await draftPolicy(name)
  return after(draft, await decideFinalization(draft, attempt()))
}

export async function issuedPolicy(): Promise<Loaded> {
  const loaded = await finalized(INSURABLE)
  return after(loaded, await decideIssue(loaded, attempt()))
}

export const halfway = ({ aggregate: { policy } }: Loaded): Instant =>
  add(policy.originalStart, 6, 'month', policy.timeZone)

export const carriedOut = async (loaded: Loaded, operation: CancellationOperation): Promise<Planned> =>
  (await decideCancellation(loaded, operation, attempt())).planned

type FirstState = 'application' | 'issued'

/** An endorsement that changes nothing, halfway through the policy. */
export const endorsing = (loaded: Loaded, state: FirstState): EndorsementOperation => ({
  action: 'create',
  request: EndorsementCreateRequest.parse({
    endorsementName: 'change_of_contact',
    startTimestamp: halfway(loaded),
    state,
  }),
})

/** A renewal for another year. */
export const renewing = ({ aggregate: { policy } }: Loaded, state: FirstState): EndorsementOperation => ({
  action: 'renew',
  request: RenewalCreateRequest.parse({
    renewalEndTimestamp: add(policy.effectiveEnd, 1, 'year', policy.timeZone),
    state,
  }),
})
