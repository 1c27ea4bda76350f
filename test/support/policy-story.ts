// A policy's story for property tests: the policy as the service records it, and the requests for a naive model of it
// (naive-policy.ts).
import Big from 'big.js'
import { type Money, toText } from '../../src/kernel/money.ts'
import { add, type Instant, startOfDay } from '../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { selectedQuote } from '../../src/policy/records/aggregate.ts'
import type { Reinstatement } from '../../src/policy/records/transactions.ts'
import type { Loaded, NewPolicyContext } from '../../src/policy/surroundings.ts'
import type { Attempt } from '../../src/rating/rate.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { type Example, newPolicyContextOf, plentyOfLocators, workedPolicies } from './configurations.ts'
import { type NaivePolicy, type NaiveRequest, naivePolicy } from './naive-policy.ts'
import type { NaiveRules } from './naive-rates.ts'
import { type PluginFunctions, pluginFunctions } from './plugin-function.ts'
import { PRORATING } from './prorater.ts'
import { dataOf, perilTerms } from './story-changes.ts'
import type { NewBusiness } from './story-steps.ts'
import type { WorkedPolicy } from './worked.ts'

export type Story = {
  readonly loaded: Loaded
  readonly now: Instant
  readonly rules: NaiveRules
  /** Requests that took effect. */
  readonly requests: readonly NaiveRequest[]
  /** The request of each endorsement and renewal, by locator. */
  readonly asked: ReadonlyMap<string, NaiveRequest>
}

export const STORY_BEGINS = Date.UTC(2026, 10, 21, 12) as Instant

/**
 * An attempt at a time, with locators. `functions` are the product's plugins; without any, PRORATING splits the amounts of a
 * product that has a prorater.
 */
export const attemptAt = (now: Instant, functions: PluginFunctions = {}): Attempt => ({
  now,
  supply: plentyOfLocators(),
  digits: async () => plentyOfLocators(),
  plugins: Object.keys(functions).length > 0 ? pluginFunctions(functions, now) : PRORATING,
})

/** Issues a policy from one of the example's worked requests that underwriting accepts. */
export async function beginStory(
  example: Example,
  { which, schedule, startDays, days }: NewBusiness,
): Promise<Story> {
  const accepted = workedPolicies(example).filter(one => one.expected.decision === 'accept')
  const { policy: request, policyholder } = accepted[which % accepted.length]!.request
  const now = STORY_BEGINS
  const ground: NewPolicyContext = newPolicyContextOf(example, request.productName, policyholder.values, now)
  const schedules = ground.product.paymentSchedules
  const start = add(startOfDay(now, ground.timeZone), 70 + startDays, 'day', ground.timeZone)
  const created = await decideCreation(
    PolicyCreateRequest.parse({
      ...request,
      policyholderLocator: ground.policyholder.locator,
      policyStartTimestamp: start,
      policyEndTimestamp: add(start, days, 'day', ground.timeZone),
      paymentScheduleName: schedules[schedule % schedules.length]!.name,
      finalize: true,
    }),
    ground,
    attemptAt(now),
  )
  const issued = await decideIssue({ ...ground, aggregate: created.aggregate }, attemptAt(now))
  const loaded: Loaded = { ...ground, aggregate: issued.aggregate }
  return {
    loaded,
    now,
    rules: { example, timeZone: ground.timeZone, currency: ground.currency },
    requests: [newBusinessRequest(request, loaded)],
    asked: new Map(),
  }
}

export const bigOf = (amount: Money): Big => new Big(toText(amount))

/** The request as the model states it. */
function newBusinessRequest(
  { exposures, ...request }: WorkedPolicy['request']['policy'],
  { aggregate, product }: Loaded,
): NaiveRequest {
  const { contractStart, contractEnd, paymentScheduleName } = selectedQuote(aggregate)
  return {
    kind: 'newBusiness',
    span: { start: contractStart, end: contractEnd },
    data: dataOf(request),
    exposures: exposures.map(exposure => ({
      name: exposure.exposureName,
      data: dataOf(exposure),
      perils: exposure.perils.map(peril => perilTerms(product, exposure.exposureName, peril)),
    })),
    schedule: paymentScheduleName,
  }
}

const known = new WeakMap<readonly NaiveRequest[], NaivePolicy>()

/** The model's policy after all requests that took effect. Computed once for each point of the story. */
export function naiveOf({ requests, rules }: Story): NaivePolicy {
  const policy = known.get(requests) ?? naivePolicy(requests, rules)
  known.set(requests, policy)
  return policy
}

/** The model's policy as if everything accepted had also taken effect. */
export function naiveWithAccepted(story: Story): NaivePolicy {
  const { reinstatements, endorsements } = story.loaded.aggregate
  const accepted = [
    ...inState(reinstatements, 'accepted').map(reinstatementRequest),
    ...inState(endorsements, 'accepted').map(one => story.asked.get(String(one.locator))!),
  ]
  return naivePolicy([...story.requests, ...accepted], story.rules)
}

export const inState = <R extends { state: string }>(
  records: ReadonlyMap<unknown, R>,
  ...states: string[]
): R[] => [...records.values()].filter(record => states.includes(record.state))

export const reinstatementRequest = ({ cancellationLocator, effectiveAt }: Reinstatement): NaiveRequest => ({
  kind: 'reinstatement',
  of: String(cancellationLocator),
  at: effectiveAt,
})
