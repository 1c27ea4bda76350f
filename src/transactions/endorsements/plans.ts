// Plans the actions on an endorsement, with their events (brief 1.4). Pure.
import { makeBills, planBills, withoutPlan } from '../../billing/billing.ts'
import { type BillPlan, invoicedAtOnce } from '../../billing/schedule.ts'
import { invalidRequest, wrongState } from '../../kernel/errors.ts'
import type { EndorsementLocator, Uuid } from '../../kernel/locators.ts'
import { earlier, type Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { chargesOf, openInstallments } from '../../policy/bills/amounts-due.ts'
import { lineOf, withIssued } from '../../policy/fold/line.ts'
import {
  boundQuote,
  type Modification,
  type Policy,
  type PolicyAggregate,
  putRecords,
} from '../../policy/records/aggregate.ts'
import type { EndorsementChanges } from '../../policy/records/changes.ts'
import type { Endorsement, UnderwritingResult } from '../../policy/records/transactions.ts'
import { scheduleOf } from '../../policy/surroundings.ts'
import { assertPolicyAllows, type Carried, type Planned, policyEvent } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { termEndTimers } from '../term-end.ts'
import type { EndorsementContext } from './content.ts'
import { joinedChanges, namedChanges } from './joined-changes.ts'
import { assertEndorsementAllows, issuedCount, touchesOf, undecided } from './operation.ts'

/** `endAt` is a new end of the policy. */
export type EndorsementTerms = {
  name: string
  startAt?: Instant
  endAt?: Instant
  changes: EndorsementChanges
}

export function planEndorsementCreation(
  before: PolicyAggregate,
  { name, startAt, endAt, changes }: EndorsementTerms,
  { product, now, supply }: EndorsementContext,
): Planned & { endorsement: Endorsement } {
  assertPolicyAllows(before, 'endorse')
  boundQuote(before)
  if (!product.endorsements.some(one => one.name === name))
    throw invalidRequest(
      `Product '${product.name}' has no endorsement '${name}'; it has ${product.endorsements.map(one => `'${one.name}'`).join(', ') || 'none'}.`,
    )
  const endorsement: Endorsement = {
    kind: 'endorsement',
    locator: supply.digits() as EndorsementLocator,
    name,
    state: 'application',
    ...validTimes(before, startAt ?? startingNow(before, now), endAt),
    changes: namedChanges(changes, supply),
    createdAt: now,
    updatedAt: now,
  }
  const touching = { ...endorsement, touches: touchesOf(endorsement, product) }
  const aggregate = withEndorsement(before, touching)
  return {
    aggregate,
    endorsement: touching,
    events: [endorsementEvent(aggregate, 'create', touching)],
  }
}

/** Another term from where the policy ends (brief 1.4). One renewal may be quoted or accepted at a time. */
export function planRenewalCreation(
  before: PolicyAggregate,
  endAt: Instant,
  changes: EndorsementChanges,
  { now, supply }: Pick<EndorsementContext, 'now' | 'supply'>,
): Planned & { endorsement: Endorsement } {
  assertPolicyAllows(before, 'renew')
  boundQuote(before)
  const renewal: Endorsement = {
    kind: 'renewal',
    locator: supply.digits() as EndorsementLocator,
    name: 'renewal',
    state: 'application',
    startAt: before.policy.effectiveEnd,
    endAt: validEnd(before, endAt),
    changes: namedChanges(changes, supply),
    createdAt: now,
    updatedAt: now,
  }
  const aggregate = withEndorsement(before, renewal)
  return { aggregate, endorsement: renewal, events: [endorsementEvent(aggregate, 'create', renewal)] }
}

function validEnd({ policy }: PolicyAggregate, endAt: Instant): Instant {
  if (endAt > policy.effectiveEnd) return endAt
  throw invalidRequest(
    `renewalEndTimestamp ${endAt} must lie after the policy's effective end ${policy.effectiveEnd}, where the renewal starts.`,
  )
}

/** The update's changes are added to the earlier ones (joined-changes.ts); another name or time replaces them. */
export function planEndorsementUpdate(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { startAt, endAt, changes: more }: Omit<EndorsementTerms, 'name'>,
  { product, now, supply }: Pick<EndorsementContext, 'product' | 'now' | 'supply'>,
): Planned {
  assertEndorsementAllows(endorsement, 'update')
  const isRenewal = endorsement.kind === 'renewal'
  const changes = joinedChanges(endorsement.changes, more, supply)
  const changed: Endorsement = {
    ...undecided(endorsement),
    ...(isRenewal
      ? { startAt: before.policy.effectiveEnd, endAt: validEnd(before, endAt ?? endorsement.endAt!) }
      : validTimes(before, startAt ?? endorsement.startAt, endAt ?? endorsement.endAt)),
    changes,
    updatedAt: now,
  }
  const touching = { ...changed, touches: touchesOf(changed, product) }
  const aggregate = withEndorsement(before, touching)
  return { aggregate, events: [endorsementEvent(aggregate, 'update', touching)] }
}

/** Locks the endorsement with its price and underwriting's decision: `carried` is it, carried out and priced. */
export function planEndorsementQuote(
  before: PolicyAggregate,
  endorsement: Endorsement,
  carried: Carried,
  underwriting: UnderwritingResult,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'quote')
  assertPolicyAllows(before, endorsement.kind === 'renewal' ? 'renew' : 'endorse')
  const modification: Modification = { ...carried.modification, underwriting }
  const quoted: Endorsement = {
    ...endorsement,
    state: 'quoted',
    underwriting,
    touches: endorsement.touches && [...endorsement.touches, ...addedExposures(before, carried.aggregate)],
    modificationLocator: modification.locator,
    basedOn: issuedCount(before),
    updatedAt: now,
  }
  const aggregate = withEndorsement(
    {
      ...carried.aggregate,
      modifications: putRecords(carried.aggregate.modifications, [modification]),
    },
    quoted,
  )
  return { aggregate, events: [endorsementEvent(aggregate, 'quote', quoted)] }
}

/**
 * It is billed by `bills`, and its segments show, though they are not issued yet. Takes the
 * digits that `digitsForAcceptance` counts.
 */
export function planEndorsementAcceptance(
  before: PolicyAggregate,
  endorsement: Endorsement,
  bills: BillPlan,
  { now, supply }: Pick<EndorsementContext, 'now' | 'supply'>,
): Planned {
  assertEndorsementAllows(endorsement, 'accept')
  assertCurrent(before, endorsement)
  const modification: Modification = {
    ...before.modifications.get(endorsement.modificationLocator!)!,
    acceptedAt: now,
    updatedAt: now,
  }
  const accepted: Endorsement = { ...endorsement, state: 'accepted', updatedAt: now }
  // The plan that it showed while quoted is made again.
  const unplanned = withoutPlan(before, modification)
  const recorded = withEndorsement(
    { ...unplanned, modifications: putRecords(before.modifications, [modification]) },
    accepted,
  )
  const billed = makeBills(recorded, modification, bills, { now, supply })
  return { ...billed, events: [endorsementEvent(billed.aggregate, 'accept', accepted), ...billed.events] }
}

/** How an endorsement or renewal that may be accepted is billed. */
export function billsOfAcceptance(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { product, now }: Pick<EndorsementContext, 'product' | 'now'>,
): BillPlan {
  assertEndorsementAllows(endorsement, 'accept')
  const modification = before.modifications.get(endorsement.modificationLocator!)!
  const { newPaymentScheduleName } = endorsement.changes
  return planBills(before, modification, { product, now, newPaymentScheduleName })
}

/** Digits that acceptance takes: one for each invoice that is due at once. */
export const digitsForAcceptance = (bills: BillPlan, now: Instant): number => invoicedAtOnce(bills.plan, now)

export function planEndorsementIssue(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { product, now }: Pick<EndorsementContext, 'product' | 'now'>,
): Planned {
  assertEndorsementAllows(endorsement, 'issue')
  assertCurrent(before, endorsement)
  const modification: Modification = {
    ...before.modifications.get(endorsement.modificationLocator!)!,
    issuedAt: now,
    updatedAt: now,
  }
  const line = lineOf(before, boundQuote(before), withIssued(modification.locator))
  const { replaced } = line.find(step => step.modification.locator === modification.locator)!
  const issued: Endorsement = { ...endorsement, state: 'issued', issuedAt: now, updatedAt: now }
  const aggregate = withEndorsement(
    {
      ...before,
      policy: policyOnIssue(before, endorsement),
      modifications: putRecords(before.modifications, [modification]),
      segments: putRecords(
        before.segments,
        replaced.map(one => ({ ...one, replacedBy: modification.locator })),
      ),
    },
    issued,
  )
  return {
    aggregate,
    events: [
      endorsementEvent(aggregate, 'issue', issued),
      policyEvent(aggregate, endorsement.kind === 'renewal' ? 'policy.renew' : 'policy.endorse', {
        modificationLocator: modification.locator,
      }),
    ],
    timers: endTimers(before, aggregate, product, now),
  }
}

/** Timers of the policy's new end, if any. An end that is past at once is reported now. */
function endTimers(
  { policy: before }: PolicyAggregate,
  { policy: after }: PolicyAggregate,
  product: ProductDefinition,
  now: Instant,
): NewTimer[] {
  if (after.effectiveEnd === before.effectiveEnd) return []
  const since = before.effectiveEnd > now ? earlier(now, (after.effectiveEnd - 1) as Instant) : now
  return termEndTimers(after, product, since)
}

export function planEndorsementDiscard(
  before: PolicyAggregate,
  endorsement: Endorsement,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'discard')
  const discarded: Endorsement = { ...endorsement, state: 'discarded', updatedAt: now }
  const aggregate = withEndorsement(before, discarded)
  return { aggregate, events: [endorsementEvent(aggregate, 'discard', discarded)] }
}

const addedExposures = (before: PolicyAggregate, after: PolicyAggregate): Uuid[] =>
  [...after.exposures.keys()].filter(locator => !before.exposures.has(locator))

/** The quote must still hold for the policy as it is (brief 2.4). */
function assertCurrent(before: PolicyAggregate, endorsement: Endorsement): void {
  if (issuedCount(before) === endorsement.basedOn) return
  throw wrongState(
    `The policy has changed since ${endorsement.kind} ${endorsement.locator} was quoted; invalidate it, and quote a new one.`,
  )
}

/** Now, or where the contract starts. */
const startingNow = ({ policy }: PolicyAggregate, now: Instant): Instant =>
  (now < policy.originalStart ? policy.originalStart : now) as Instant

/**
 * The endorsement's start within the contract, and the policy's new end after that. The end that the policy has
 * anyway is none: were it kept, a renewal that comes before the endorsement is quoted would be taken away by it.
 */
function validTimes({ policy }: PolicyAggregate, startAt: Instant, endAt: Instant | undefined) {
  if (startAt < policy.originalStart || startAt >= policy.effectiveEnd)
    throw invalidRequest(
      `startTimestamp ${startAt} must lie from the contract's start ${policy.originalStart} up to, but not including, its effective end ${policy.effectiveEnd}.`,
    )
  if (endAt !== undefined && endAt <= startAt)
    throw invalidRequest(
      `newPolicyEndTimestamp ${endAt} must lie after the endorsement's startTimestamp ${startAt}.`,
    )
  return { startAt, endAt: endAt === policy.effectiveEnd ? undefined : endAt }
}

type Told = 'create' | 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'

/** An event of an endorsement or a renewal (brief 9). */
export const endorsementEvent = (
  aggregate: PolicyAggregate,
  told: Told,
  { kind, locator, name, startAt, state, modificationLocator }: Endorsement,
  more: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, `${kind}.${told}`, {
    ...(kind === 'renewal'
      ? { renewalLocator: String(locator) }
      : { endorsementLocator: String(locator), endorsementName: name }),
    effectiveTimestamp: String(startAt),
    state,
    ...(modificationLocator && (state === 'accepted' || state === 'issued') ? { modificationLocator } : {}),
    ...more,
  })

/** The policy with the endorsement or renewal in it, as old as that. */
export const withEndorsement = (aggregate: PolicyAggregate, endorsement: Endorsement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: endorsement.updatedAt },
  endorsements: putRecords(aggregate.endorsements, [endorsement]),
})

/**
 * Whether a product that plans its bills itself is asked to: for a renewal, and for an endorsement that charges anything
 * or names a payment schedule. Another changes nothing that is planned, and has one invoice for nothing.
 */
export const isPlannedAnew = (
  before: PolicyAggregate,
  { kind, changes }: Endorsement,
  modification: Modification,
): boolean =>
  kind === 'renewal' ||
  changes.newPaymentScheduleName !== undefined ||
  chargesOf(before, modification).length > 0

/** Whether its bills include other transactions', so that all of those charges must be known. */
export const billsOthers = (
  before: PolicyAggregate,
  { startAt, modificationLocator }: Endorsement,
): boolean =>
  openInstallments(before).some(one => one.end > startAt) ||
  [...before.installments.values()].some(one => one.absorbedBy.includes(modificationLocator!))

// What issuing an endorsement or a renewal makes of the terms that the policy is agreed on.
/** The policy with the schedule and the end that it has then. */
export const policyOnIssue = (before: PolicyAggregate, endorsement: Endorsement): Policy => ({
  ...before.policy,
  paymentScheduleName: scheduleOf(before, endorsement),
  effectiveEnd: endorsement.endAt ?? before.policy.effectiveEnd,
})
