// What each action on a reinstatement makes of its policy, and the events that tell of it (brief 1.6). Pure.
import { billTransaction } from '../../billing/continuing.ts'
import type { OwnBills } from '../../billing/plugin-bills.ts'
import { returningBills } from '../../billing/returning.ts'
import { Refusal } from '../../kernel/errors.ts'
import { add, type Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Cancellation, Reinstatement, UnderwritingResult } from '../../policy/records/transactions.ts'
import { type Planned, policyState } from '../../policy/transitions.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { assertCancellationAllows } from '../cancellations/transitions.ts'
import { assertNoConflicts } from '../mechanism/kind.ts'
import { termEndTimers } from '../term-end.ts'
import { reinstated } from './effect.ts'
import { reinstatementEvent } from './events.ts'
import { withoutAcceptance } from './invalidation.ts'
import { assertReinstatementAllows } from './transitions.ts'

export type ReinstatementTerms = { effectiveAt?: Instant; deadlineAt?: Instant }

/** A draft; without terms from the cancellation's time, until the deadline of its type. */
export function planReinstatementCreation(
  before: PolicyAggregate,
  cancellation: Cancellation,
  terms: ReinstatementTerms,
  { product, now, supply }: EffectContext,
): Planned & { reinstatement: Reinstatement } {
  assertNotWithdrawn(before)
  assertCancellationAllows(cancellation, 'reinstate')
  const open = [...before.reinstatements.values()].find(
    one => one.cancellationLocator === cancellation.locator && one.state !== 'expired',
  )
  if (open)
    throw new Refusal(
      'wrongState',
      `Cancellation ${cancellation.locator} has the reinstatement ${open.locator}, which is ${open.state}.`,
    )
  const days = product.cancellationTypes?.find(one => one.name === cancellation.name)?.reinstatement
    ?.defaultDeadlineDays
  const reinstatement: Reinstatement = {
    locator: supply.uuid(),
    cancellationLocator: cancellation.locator,
    state: 'draft',
    effectiveAt: terms.effectiveAt ?? cancellation.effectiveAt,
    deadlineAt:
      terms.deadlineAt ?? (days === undefined ? undefined : add(now, days, 'day', before.policy.timeZone)),
    createdAt: now,
    updatedAt: now,
  }
  assertTerms(reinstatement, cancellation, now)
  const aggregate = withReinstatement(before, reinstatement)
  return {
    aggregate,
    reinstatement,
    events: [reinstatementEvent(aggregate, 'reinstatement.create', reinstatement)],
    timers: deadlineTimers(aggregate, reinstatement),
  }
}

export function planReinstatementUpdate(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  { effectiveAt, deadlineAt }: ReinstatementTerms,
  now: Instant,
): Planned {
  assertReinstatementAllows(reinstatement, 'update')
  const changed: Reinstatement = {
    ...reinstatement,
    effectiveAt: effectiveAt ?? reinstatement.effectiveAt,
    deadlineAt: deadlineAt ?? reinstatement.deadlineAt,
    updatedAt: now,
  }
  assertTerms(changed, before.cancellations.get(changed.cancellationLocator)!, now)
  const aggregate = withReinstatement(before, changed)
  return { aggregate, events: [], timers: deadlineTimers(aggregate, changed) }
}

/** Digits that acceptance takes: its modification's, its invoice's, and one for each bill that is made again at once. */
export const digitsForAcceptance = (
  before: PolicyAggregate,
  { cancellationLocator }: Reinstatement,
  now: Instant,
): number => 2 + returningBills(before, cancellationOf(before, cancellationLocator), now).length

const cancellationOf = (
  before: PolicyAggregate,
  locator: Reinstatement['cancellationLocator'],
): Modification => before.modifications.get(before.cancellations.get(locator)!.modificationLocator!)!

/** Makes the segments, not issued yet, and bills them, whatever underwriting says. Takes as many digits as said above. */
export async function planReinstatementAcceptance(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  underwriting: UnderwritingResult,
  context: EffectContext & { ownBills: OwnBills },
): Promise<Planned> {
  const { now } = context
  assertReinstatementAllows(reinstatement, 'accept')
  assertNotWithdrawn(before)
  assertNoConflicts(before, reinstatement.locator)
  assertInTime(reinstatement, now)
  const carried = reinstated(before, orderOf(before, reinstatement), context)
  const modification = { ...carried.modification, underwriting }
  const accepted: Reinstatement = {
    ...reinstatement,
    state: 'accepted',
    modificationLocator: modification.locator,
    updatedAt: now,
  }
  const underwritten: PolicyAggregate = {
    ...carried.aggregate,
    modifications: putRecords(carried.aggregate.modifications, [modification]),
  }
  const recorded = withReinstatement(underwritten, accepted)
  const billed = await billTransaction(recorded, modification, context)
  const accepting = reinstatementEvent(billed.aggregate, 'reinstatement.accept', accepted)
  return { ...billed, events: [accepting, ...billed.events] }
}

/** How the reinstatement is carried out. */
export function orderOf(
  before: PolicyAggregate,
  { cancellationLocator, effectiveAt, locator }: Reinstatement,
) {
  return {
    cancellation: cancellationOf(before, cancellationLocator),
    effectiveAt,
    transactionLocator: locator,
  }
}

export function planReinstatementIssue(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  { product, now }: Pick<EffectContext, 'product' | 'now'>,
): Planned {
  assertReinstatementAllows(reinstatement, 'issue')
  assertNotWithdrawn(before)
  assertNoConflicts(before, reinstatement.locator)
  assertInTime(reinstatement, now)
  const modification = before.modifications.get(reinstatement.modificationLocator!)!
  const issued: Reinstatement = { ...reinstatement, state: 'issued', issuedAt: now, updatedAt: now }
  const end = Math.max(modification.policyEnd, before.policy.effectiveEnd) as Instant
  const aggregate = withReinstatement(
    {
      ...before,
      policy: { ...before.policy, effectiveEnd: end },
      modifications: putRecords(before.modifications, [{ ...modification, issuedAt: now, updatedAt: now }]),
    },
    issued,
  )
  return {
    aggregate,
    events: [
      reinstatementEvent(aggregate, 'reinstatement.issue', issued, {
        modificationLocator: modification.locator,
      }),
    ],
    timers: termEndTimers(aggregate.policy, product, now),
  }
}

/** The deadline passed; undefined when the reinstatement is done, or has more time by now. */
export function planExpiry(
  before: PolicyAggregate,
  reinstatement: Reinstatement | undefined,
  now: Instant,
): Planned | undefined {
  const open = reinstatement?.state === 'draft' || reinstatement?.state === 'accepted'
  if (!reinstatement || !open || reinstatement.deadlineAt === undefined || reinstatement.deadlineAt > now)
    return undefined
  const expired: Reinstatement = {
    ...reinstatement,
    state: 'expired',
    modificationLocator: undefined,
    updatedAt: now,
  }
  const { aggregate, events, timers } = withoutAcceptance(before, reinstatement, expired, now)
  return {
    aggregate,
    events: [...events, reinstatementEvent(aggregate, 'reinstatement.deadlineReached', expired)],
    timers,
  }
}

const withReinstatement = (aggregate: PolicyAggregate, reinstatement: Reinstatement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: reinstatement.updatedAt },
  reinstatements: putRecords(aggregate.reinstatements, [reinstatement]),
})

function deadlineTimers({ policy }: PolicyAggregate, { locator, deadlineAt }: Reinstatement): NewTimer[] {
  if (deadlineAt === undefined) return []
  const payload = { reinstatementLocator: locator }
  return [{ dueAt: deadlineAt, kind: 'reinstatement.deadline', subject: String(policy.locator), payload }]
}

function assertTerms(
  { effectiveAt, deadlineAt }: Reinstatement,
  cancellation: Cancellation,
  now: Instant,
): void {
  if (effectiveAt < cancellation.effectiveAt)
    throw new Refusal(
      'invalidRequest',
      `effectiveTimestamp ${effectiveAt} lies before the cancellation's ${cancellation.effectiveAt}; coverage is there until then.`,
    )
  if (deadlineAt !== undefined && deadlineAt <= now)
    throw new Refusal('invalidRequest', `reinstatementDeadlineTimestamp ${deadlineAt} lies in the past.`)
}

function assertNotWithdrawn(before: PolicyAggregate): void {
  if (policyState(before) === 'withdrawn')
    throw new Refusal(
      'wrongState',
      `Policy ${before.policy.locator} is withdrawn; nothing of it can be reinstated.`,
    )
}

function assertInTime({ locator, deadlineAt }: Reinstatement, now: Instant): void {
  if (deadlineAt !== undefined && deadlineAt <= now)
    throw new Refusal('wrongState', `The deadline of reinstatement ${locator} passed at ${deadlineAt}.`)
}
