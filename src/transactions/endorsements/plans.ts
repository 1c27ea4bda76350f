// Endorsements and renewals from quote to issue: operations, states (brief 1.4) and the events of each step. Pure.

import { makeBills, withoutPlan } from '../../billing/billing.ts'
import type { BillPlan } from '../../billing/schedule.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { EndorsementLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import { isIssued, isListed, lineOf, withIssued } from '../../policy/fold/line.ts'
import { type PerilDetail, type PolicyAnswer, policyAnswer } from '../../policy/projection/policy.ts'
import {
  boundQuote,
  type Modification,
  type Policy,
  type PolicyAggregate,
  putRecords,
} from '../../policy/records/aggregate.ts'
import {
  type Endorsement,
  type EndorsementState,
  endorsementOf,
  namedExposures,
  scheduleOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import type { Loaded, Part } from '../../policy/surroundings.ts'
import {
  type AppliedTransaction,
  assertPolicyAllows,
  type Planned,
  policyEvent,
} from '../../policy/transitions.ts'
import type { Referral } from '../../rating/rate.ts'
import type { ConflictHandling } from '../cancellations/contract.ts'
import { withoutConflicts, withoutModification } from '../mechanism/conflicts.ts'
import type { RenewalCreateRequest, RenewalUpdateRequest } from '../renewals/contract.ts'
import { newEndTimers } from '../term-end.ts'
import type { EndorsementContext } from './content.ts'
import type { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'

export type EndorsementOperation =
  | { action: 'create'; request: EndorsementCreateRequest }
  | { action: 'renew'; request: RenewalCreateRequest }
  | {
      action: 'update'
      endorsement: EndorsementLocator
      update: EndorsementUpdateRequest & Pick<RenewalUpdateRequest, 'renewalEndTimestamp'>
    }
  | {
      action: 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'
      endorsement: EndorsementLocator
      conflictHandling?: ConflictHandling
    }
  | ({ action: 'refer'; endorsement: EndorsementLocator } & Referral)

/** Returns the part of the policy that may be enough, or undefined for a renewal, which reads the whole policy. */
export function partOf(operation: EndorsementOperation): Part | undefined {
  switch (operation.action) {
    case 'create':
      return { exposures: namedExposures(operation.request) }
    case 'renew':
      return undefined
    case 'update':
      return { exposures: namedExposures(operation.update), endorsement: operation.endorsement }
    default:
      return { exposures: [], endorsement: operation.endorsement }
  }
}

/** Endorsements and renewals have the same states but different events. */
export type EndorsementAction = 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard' | 'refer'

type Table = TransitionTable<EndorsementAction, EndorsementState>

const tableOf = (kind: Endorsement['kind'], legacy: 'policy.endorse' | 'policy.renew'): Table => ({
  update: { from: ['application'], to: 'application', event: `${kind}.update`, past: 'updated' },
  quote: { from: ['application'], to: 'quoted', event: `${kind}.quote`, past: 'quoted' },
  /** Quotes an application first. */
  accept: { from: ['application', 'quoted'], to: 'accepted', event: `${kind}.accept`, past: 'accepted' },
  /** Quotes and accepts first if needed. */
  issue: {
    from: ['application', 'quoted', 'accepted'],
    to: 'issued',
    event: [`${kind}.issue`, legacy],
    past: 'issued',
  },
  invalidate: {
    from: ['quoted', 'accepted'],
    to: 'invalidated',
    event: `${kind}.invalidate`,
    past: 'invalidated',
  },
  discard: { from: ['application'], to: 'discarded', event: `${kind}.discard`, past: 'discarded' },
  /** The decision replaces underwriting's when the application is quoted. */
  refer: { from: ['application'], to: 'application', event: `${kind}.update`, past: 'decided by a person' },
})

export const ENDORSEMENT_TRANSITIONS: Table = tableOf('endorsement', 'policy.endorse')

export const RENEWAL_TRANSITIONS: Table = tableOf('renewal', 'policy.renew')

/** Throws 409 if the state of the endorsement or renewal does not allow the action. */
export function assertEndorsementAllows(
  { kind, locator, state }: Endorsement,
  action: EndorsementAction,
): void {
  const [table, noun] =
    kind === 'renewal' ? [RENEWAL_TRANSITIONS, 'Renewal'] : [ENDORSEMENT_TRANSITIONS, 'Endorsement']
  assertAllowed(table, `${noun} ${locator}`, state, action)
}

/** Locks the endorsement with its price and underwriting's decision, so that the price holds until the policy changes. */
export function planEndorsementQuote(
  before: PolicyAggregate,
  endorsement: Endorsement,
  priced: AppliedTransaction,
  underwriting: UnderwritingResult,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'quote')
  assertPolicyAllows(before, endorsement.kind === 'renewal' ? 'renew' : 'endorse')
  const modification: Modification = { ...priced.modification, underwriting }
  const quoted: Endorsement = {
    ...endorsement,
    state: 'quoted',
    underwriting,
    touches: endorsement.touches && [...endorsement.touches, ...addedExposures(before, priced.aggregate)],
    modificationLocator: modification.locator,
    basedOn: issuedCount(before),
    updatedAt: now,
  }
  const aggregate = withEndorsement(
    {
      ...priced.aggregate,
      modifications: putRecords(priced.aggregate.modifications, [modification]),
    },
    quoted,
  )
  return { aggregate, events: [endorsementEvent(aggregate, 'quote', quoted)] }
}

const addedExposures = (before: PolicyAggregate, after: PolicyAggregate): Uuid[] =>
  [...after.exposures.keys()].filter(locator => !before.exposures.has(locator))

/**
 * Bills the endorsement by `bills`. Its segments are shown from then on, although they are not issued yet. Takes as many digit
 * locators as `digitsForAcceptance` counts.
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
  // Acceptance replaces the plan that the quote showed.
  const unplanned = withoutPlan(before, modification)
  const withEndorsementEvent = withEndorsement(
    { ...unplanned, modifications: putRecords(before.modifications, [modification]) },
    accepted,
  )
  const billed = makeBills(withEndorsementEvent, modification, bills, { now, supply })
  return { ...billed, events: [endorsementEvent(billed.aggregate, 'accept', accepted), ...billed.events] }
}

/**
 * Issues an accepted endorsement or renewal. Its acceptance has billed it. Throws 409 in any other state, or if the policy has
 * changed.
 */
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
    timers: newEndTimers(aggregate.policy, before.policy.effectiveEnd, product, now),
  }
}

/**
 * Undoes a quoted or accepted endorsement or renewal permanently: voids its invoices, reverses their payments and restores the
 * installments that it absorbed. Those already due are billed immediately.
 */
export function planEndorsementInvalidation(
  before: PolicyAggregate,
  endorsement: Endorsement,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'invalidate')
  const gone: Endorsement = { ...endorsement, state: 'invalidated', updatedAt: now }
  const modification = before.modifications.get(endorsement.modificationLocator!)!
  const voided = withoutModification(before, modification, now)
  const aggregate = withEndorsement(voided.aggregate, gone)
  return { ...voided, aggregate, events: [...voided.events, endorsementEvent(aggregate, 'invalidate', gone)] }
}

/**
 * Returns the policy as GET /policy will show it after the issue. Stores nothing. First invalidates other pending transactions,
 * as a preview does, since nothing can be issued while they are pending. Rejects with 409 an endorsement that is not accepted, or
 * that was quoted before the policy changed.
 */
export function policyWhenIssued(
  { aggregate, product }: Pick<Loaded, 'aggregate' | 'product'>,
  locator: EndorsementLocator,
  now: Instant,
  detail: PerilDetail = {},
): PolicyAnswer {
  const { kind, state } = endorsementOf(aggregate, locator)
  if (state !== 'accepted')
    throw wrongState(`The ${kind} ${locator} is ${state}; only an accepted one can be shown as issued.`)
  const { aggregate: cleared } = withoutConflicts(aggregate, String(locator), 'invalidate', now)
  const issued = planEndorsementIssue(cleared, endorsementOf(cleared, locator), { product, now })
  return policyAnswer(issued.aggregate, product, { summarizeQuotes: false, ...detail })
}

/**
 * Counts the issued modifications, which decisions and quotes depend on. Changes of fees or bills alone do not count, since
 * quotes remain valid after them.
 */
export const issuedCount = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].filter(one => isIssued(one) && isListed(one)).length

/** Rejects a quote that no longer holds for the present policy (brief 2.4). */
function assertCurrent(before: PolicyAggregate, endorsement: Endorsement): void {
  if (issuedCount(before) === endorsement.basedOn) return
  throw wrongState(
    `The policy has changed since ${endorsement.kind} ${endorsement.locator} was quoted; invalidate it and quote a new one.`,
  )
}

type Step = 'create' | 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'

/** Brief 9. */
export const endorsementEvent = (
  aggregate: PolicyAggregate,
  step: Step,
  { kind, locator, name, startAt, state, modificationLocator }: Endorsement,
  more: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, `${kind}.${step}`, {
    ...(kind === 'renewal'
      ? { renewalLocator: String(locator) }
      : { endorsementLocator: String(locator), endorsementName: name }),
    effectiveTimestamp: String(startAt),
    state,
    ...(modificationLocator && (state === 'accepted' || state === 'issued') ? { modificationLocator } : {}),
    ...more,
  })

/** Returns the policy with the endorsement in it, updated when the endorsement was. */
export const withEndorsement = (aggregate: PolicyAggregate, endorsement: Endorsement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: endorsement.updatedAt },
  endorsements: putRecords(aggregate.endorsements, [endorsement]),
})

/** Returns the policy with the endorsement in it, and the event of the step. */
export function planWithEndorsement(before: PolicyAggregate, endorsement: Endorsement, step: Step): Planned {
  const aggregate = withEndorsement(before, endorsement)
  return { aggregate, events: [endorsementEvent(aggregate, step, endorsement)] }
}

/** Returns the policy with the schedule and the end of the issued endorsement. */
export const policyOnIssue = (before: PolicyAggregate, endorsement: Endorsement): Policy => ({
  ...before.policy,
  paymentScheduleName: scheduleOf(before, endorsement),
  effectiveEnd: endorsement.endAt ?? before.policy.effectiveEnd,
})
