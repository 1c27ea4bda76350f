// What each action on an endorsement makes of its policy, and the events that tell of it (brief 1.4). Pure.
import { billAtOnce } from '../billing/balance.ts'
import type { Carried } from '../cancellations/effect.ts'
import { boundQuote } from '../cancellations/effect.ts'
import { Refusal } from '../platform/errors.ts'
import type { EndorsementLocator, LocatorSupply } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import {
  type Endorsement,
  type Modification,
  type PolicyAggregate,
  type UnderwritingResult,
  withRecords,
} from '../policies/aggregate.ts'
import { invoiceEvents, policyEvent } from '../policies/events.ts'
import { isIssued } from '../policies/fold/line.ts'
import type { Planned } from '../policies/planned.ts'
import { assertPolicyAllows } from '../policies/transitions.ts'
import type { EndorsementChanges } from './changes.ts'
import type { EndorsementContext } from './content.ts'
import { endorsementEvent } from './events.ts'
import { assertEndorsementAllows } from './transitions.ts'

export type EndorsementTerms = { name: string; startAt?: Instant; changes: EndorsementChanges }

export function planEndorsementCreation(
  before: PolicyAggregate,
  { name, startAt, changes }: EndorsementTerms,
  { product, now, supply }: EndorsementContext,
): Planned & { endorsement: Endorsement } {
  assertPolicyAllows(before, 'endorse')
  boundQuote(before)
  if (!product.endorsements.some(one => one.name === name))
    throw new Refusal(
      'invalidRequest',
      `Product '${product.name}' has no endorsement '${name}'; it has ${product.endorsements.map(one => `'${one.name}'`).join(', ') || 'none'}.`,
    )
  const endorsement: Endorsement = {
    locator: supply.digits() as EndorsementLocator,
    name,
    state: 'application',
    startAt: validStart(before, startAt ?? startingNow(before, now)),
    changes,
    createdAt: now,
    updatedAt: now,
  }
  const aggregate = withEndorsement(before, endorsement)
  return {
    aggregate,
    endorsement,
    events: [endorsementEvent(aggregate, 'endorsement.create', endorsement)],
  }
}

/** What the update says of a field, exposure or peril goes beside what was said before; other words replace it. */
export function planEndorsementUpdate(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { startAt, changes }: Omit<EndorsementTerms, 'name'>,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'update')
  const changed: Endorsement = {
    ...endorsement,
    startAt: validStart(before, startAt ?? endorsement.startAt),
    changes: mergedChanges(endorsement.changes, changes),
    updatedAt: now,
  }
  const aggregate = withEndorsement(before, changed)
  return { aggregate, events: [endorsementEvent(aggregate, 'endorsement.update', changed)] }
}

function mergedChanges(before: EndorsementChanges, more: EndorsementChanges): EndorsementChanges {
  const joined = <T>(a: T[] | null | undefined, b: T[] | null | undefined): T[] => [
    ...(a ?? []),
    ...(b ?? []),
  ]
  return {
    fieldValues: { ...(before.fieldValues ?? {}), ...(more.fieldValues ?? {}) },
    addFieldGroups: joined(before.addFieldGroups, more.addFieldGroups),
    updateFieldGroups: joined(before.updateFieldGroups, more.updateFieldGroups),
    removeFieldGroups: joined(before.removeFieldGroups, more.removeFieldGroups),
    addExposures: joined(before.addExposures, more.addExposures),
    updateExposures: joined(before.updateExposures, more.updateExposures),
    endExposures: joined(before.endExposures, more.endExposures),
    newPaymentScheduleName: more.newPaymentScheduleName ?? before.newPaymentScheduleName,
    reprice: more.reprice ?? before.reprice,
  }
}

/** Locks the endorsement with its price: `carried` is it, carried out and priced. Underwriting must accept. */
export function planEndorsementQuote(
  before: PolicyAggregate,
  endorsement: Endorsement,
  carried: Carried,
  underwriting: UnderwritingResult,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'quote')
  assertPolicyAllows(before, 'endorse')
  if (underwriting.decision !== 'accept')
    throw new Refusal(
      'underwritingRefused',
      `Underwriting decided '${underwriting.decision}' on the endorsement. ${underwriting.notes.join(' ')}`.trim(),
    )
  const modification: Modification = { ...carried.modification, underwriting }
  const quoted: Endorsement = {
    ...endorsement,
    state: 'quoted',
    underwriting,
    modificationLocator: modification.locator,
    basedOn: issuedCount(before),
    updatedAt: now,
  }
  const aggregate = withEndorsement(
    {
      ...carried.aggregate,
      modifications: withRecords(carried.aggregate.modifications, [modification]),
    },
    quoted,
  )
  return { aggregate, events: [endorsementEvent(aggregate, 'endorsement.quote', quoted)] }
}

/** Bills it; its segments show, though they are not issued yet. Takes a digit. */
export function planEndorsementAcceptance(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Planned {
  assertEndorsementAllows(endorsement, 'accept')
  assertCurrent(before, endorsement)
  const modification: Modification = {
    ...before.modifications.get(endorsement.modificationLocator!)!,
    acceptedAt: now,
    updatedAt: now,
  }
  const accepted: Endorsement = { ...endorsement, state: 'accepted', updatedAt: now }
  const recorded = withEndorsement(
    { ...before, modifications: withRecords(before.modifications, [modification]) },
    accepted,
  )
  const { aggregate, made } = billAtOnce(recorded, modification, 'endorsement', false, { now, supply })
  return {
    aggregate,
    events: [
      endorsementEvent(aggregate, 'endorsement.accept', accepted),
      ...made.flatMap(({ invoice, totalDue }) => invoiceEvents(aggregate, invoice, totalDue)),
    ],
  }
}

export function planEndorsementIssue(
  before: PolicyAggregate,
  endorsement: Endorsement,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'issue')
  assertCurrent(before, endorsement)
  const modification: Modification = {
    ...before.modifications.get(endorsement.modificationLocator!)!,
    issuedAt: now,
    updatedAt: now,
  }
  const segments = [...before.segments.values()]
  const continuedBy = new Set(
    segments.filter(one => one.madeBy === modification.locator).map(one => one.predecessor),
  )
  const issued: Endorsement = { ...endorsement, state: 'issued', issuedAt: now, updatedAt: now }
  const schedule = endorsement.changes.newPaymentScheduleName
  const aggregate = withEndorsement(
    {
      ...before,
      policy: schedule === undefined ? before.policy : { ...before.policy, paymentScheduleName: schedule },
      modifications: withRecords(before.modifications, [modification]),
      segments: withRecords(
        before.segments,
        segments
          .filter(one => continuedBy.has(one.locator))
          .map(one => ({ ...one, replacedBy: modification.locator })),
      ),
    },
    issued,
  )
  return {
    aggregate,
    events: [
      endorsementEvent(aggregate, 'endorsement.issue', issued),
      policyEvent(aggregate, 'policy.endorse', { modificationLocator: modification.locator }),
    ],
  }
}

export function planEndorsementDiscard(
  before: PolicyAggregate,
  endorsement: Endorsement,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'discard')
  const discarded: Endorsement = { ...endorsement, state: 'discarded', updatedAt: now }
  const aggregate = withEndorsement(before, discarded)
  return { aggregate, events: [endorsementEvent(aggregate, 'endorsement.discard', discarded)] }
}

const withEndorsement = (aggregate: PolicyAggregate, endorsement: Endorsement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: endorsement.updatedAt },
  endorsements: withRecords(aggregate.endorsements, [endorsement]),
})

const issuedCount = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].filter(isIssued).length

/** What was quoted must still be quoted on the policy as it is (brief 2.4). */
function assertCurrent(before: PolicyAggregate, endorsement: Endorsement): void {
  if (issuedCount(before) === endorsement.basedOn) return
  throw new Refusal(
    'wrongState',
    `The policy has changed since endorsement ${endorsement.locator} was quoted; invalidate it, and quote a new one.`,
  )
}

/** Now, or where the contract starts. */
const startingNow = ({ policy }: PolicyAggregate, now: Instant): Instant =>
  (now < policy.originalStart ? policy.originalStart : now) as Instant

function validStart({ policy }: PolicyAggregate, startAt: Instant): Instant {
  if (startAt >= policy.originalStart && startAt < policy.effectiveEnd) return startAt
  throw new Refusal(
    'invalidRequest',
    `startTimestamp ${startAt} must lie from the contract's start ${policy.originalStart} up to, but not including, its effective end ${policy.effectiveEnd}.`,
  )
}
