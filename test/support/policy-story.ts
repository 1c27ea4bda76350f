// A policy's story for property tests: the policy as the service has it, beside the requests that a naive model of
// it is to follow (naive-policy.ts).
import Big from 'big.js'
import { type Money, toText } from '../../src/platform/money.ts'
import { add, type Instant, startOfDay } from '../../src/platform/time.ts'
import { type Reinstatement, selectedQuote } from '../../src/policies/aggregate.ts'
import type { Attempt } from '../../src/policies/attempt.ts'
import { PolicyCreateRequest } from '../../src/policies/contract/requests.ts'
import { decideCreation, decideIssue } from '../../src/policies/decision.ts'
import { quoteParts } from '../../src/policies/quote-parts.ts'
import type { Ground, Loaded } from '../../src/policies/surroundings.ts'
import { type Example, groundOf, plentyOfLocators, workedPolicies } from './configurations.ts'
import {
  COVER,
  type NaiveAmounts,
  type NaiveItem,
  type NaivePolicy,
  type NaiveRequest,
  type NaiveRules,
  naivePolicy,
} from './naive-policy.ts'
import type { NewBusiness } from './story-steps.ts'

export type Story = {
  readonly loaded: Loaded
  readonly now: Instant
  readonly rules: NaiveRules
  /** What took effect. */
  readonly requests: readonly NaiveRequest[]
}

export const STORY_BEGINS = Date.UTC(2026, 10, 21, 12) as Instant

export const attemptAt = (now: Instant): Attempt => ({
  now,
  supply: plentyOfLocators(),
  digits: async () => plentyOfLocators(),
})

/** An issued policy of one of the example's worked requests that underwriting accepts. */
export async function beginStory(
  example: Example,
  { which, schedule, startDays, days }: NewBusiness,
): Promise<Story> {
  const accepted = workedPolicies(example).filter(one => one.expected.decision === 'accept')
  const { policy: request, policyholder } = accepted[which % accepted.length]!.request
  const now = STORY_BEGINS
  const ground: Ground = groundOf(example, request.productName, policyholder.values, now)
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
    rules: { timeZone: ground.timeZone, currency: ground.currency },
    requests: [newBusinessRequest(loaded)],
  }
}

export const bigOf = (amount: Money): Big => new Big(toText(amount))

/** What was rated for the quote, over its span. */
function newBusinessRequest({ aggregate, product }: Loaded): NaiveRequest {
  const quote = selectedQuote(aggregate)
  const { perilRuns } = quoteParts(aggregate, quote)
  const perils = perilRuns.map(({ perilLocator, price }): NaiveItem => {
    const { premium, technicalPremium, taxes, commissions } = price!
    const amounts: NaiveAmounts = {
      premium: bigOf(premium.amount),
      ...(technicalPremium && { technicalPremium: bigOf(technicalPremium.amount) }),
      ...Object.fromEntries(taxes.map((tax, at) => [`tax ${at}`, bigOf(tax.amount)])),
      ...Object.fromEntries(commissions.map((one, at) => [`commission ${at}`, bigOf(one.amount)])),
    }
    return { key: perilLocator, amounts }
  })
  const fees = [...aggregate.fees.values()].map(
    (fee): NaiveItem => ({
      key: fee.locator,
      amounts: { fee: bigOf(fee.amount) },
      flat: product.fees.find(one => one.name === fee.name)!.proration === 'flat',
    }),
  )
  return {
    kind: 'newBusiness',
    span: { start: quote.contractStart, end: quote.contractEnd },
    items: [{ key: COVER, amounts: {} }, ...perils, ...fees],
  }
}

export const naiveOf = ({ requests, rules }: Story): NaivePolicy => naivePolicy(requests, rules)

/** The reinstatements that are accepted, as if they took effect too. */
export function naiveWithAccepted(story: Story): NaivePolicy {
  const accepted = inState(story.loaded.aggregate.reinstatements, 'accepted')
  return naivePolicy([...story.requests, ...accepted.map(reinstatementRequest)], story.rules)
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
