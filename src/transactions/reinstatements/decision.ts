// Decides each action on a policy's reinstatements, with their events (brief 1.6): pure plans over the loaded policy.
import { billTransaction } from '../../billing/billing.ts'
import { type OwnBills, ownBills } from '../../billing/plugin-bills.ts'
import { returningBills } from '../../billing/returning.ts'
import { invalidRequest, wrongState } from '../../kernel/errors.ts'
import type { CancellationLocator, Uuid } from '../../kernel/locators.ts'
import { add, type Instant, later } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { EventType } from '../../platform/events/catalogue.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import { boundQuote, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import {
  type Cancellation,
  cancellationOf,
  type Reinstatement,
  type ReinstatementState,
  reinstatementOf,
  type UnderwritingResult,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { combineSteps, type Planned, policyEvent, policyState } from '../../policy/transitions.ts'
import {
  type Attempt,
  assertUnderwritten,
  type EffectContext,
  ratingContext,
  underwriteQuote,
} from '../../rating/rate.ts'
import { assertCancellationAllows } from '../cancellations/decision.ts'
import { assertNoConflicts, withoutConflicts, withoutModification } from '../mechanism/conflicts.ts'
import { planWithProration } from '../mechanism/prorating.ts'
import { newEndTimers } from '../term-end.ts'
import type { ReinstatementCreateRequest, ReinstatementUpdateRequest } from './contract.ts'
import { applyReinstatement, assertEndsCover, policyOnReturn } from './effect.ts'

/** `expire` comes from a timer. */
export type ReinstatementAction = 'update' | 'accept' | 'issue' | 'invalidate' | 'expire'

export const REINSTATEMENT_TRANSITIONS: TransitionTable<ReinstatementAction, ReinstatementState> = {
  update: { from: ['draft'], to: 'draft', past: 'updated' },
  accept: { from: ['draft'], to: 'accepted', event: 'reinstatement.accept', past: 'accepted' },
  issue: { from: ['accepted'], to: 'issued', event: 'reinstatement.issue', past: 'issued' },
  invalidate: { from: ['accepted'], to: 'draft', event: 'reinstatement.invalidate', past: 'invalidated' },
  expire: {
    from: ['draft', 'accepted'],
    to: 'expired',
    event: 'reinstatement.deadlineReached',
    past: 'expired',
  },
}

const assertReinstatementAllows = ({ locator, state }: Reinstatement, action: ReinstatementAction): void =>
  assertAllowed(REINSTATEMENT_TRANSITIONS, `Reinstatement ${locator}`, state, action)

export type ReinstatementOperation =
  | { action: 'create'; cancellation: CancellationLocator; request: ReinstatementCreateRequest }
  | { action: 'update'; reinstatement: Uuid; request: ReinstatementUpdateRequest }
  | { action: 'accept' | 'issue' | 'invalidate' | 'expire'; reinstatement: Uuid }

/** An undefined plan means that there was nothing to do. The answer shows the reinstatement. */
export type ReinstatementDecision = { planned: Planned | undefined; reinstatement: Uuid }

/**
 * Plans an operation on the reinstatement of a cancellation. Throws 404 for unknown locators, and 409 if a state does not allow
 * it.
 */
export async function decideReinstatement(
  loaded: Loaded,
  operation: ReinstatementOperation,
  attempt: Attempt,
): Promise<ReinstatementDecision> {
  const { aggregate, product } = loaded
  const { now, supply } = attempt
  const context = { product, now, supply }
  if (operation.action === 'create') {
    const { request } = operation
    const cancellation = cancellationOf(aggregate, operation.cancellation)
    const { reinstatement, ...created } = planReinstatementCreation(aggregate, cancellation, request, context)
    const { locator } = reinstatement
    if (!request.issue) return { planned: created, reinstatement: locator }
    const accepted = await underwriteAndAccept(created.aggregate, reinstatement, loaded, attempt)
    const issued = planReinstatementIssue(accepted.aggregate, locator, context)
    return { planned: combineSteps(created, accepted, issued), reinstatement: locator }
  }
  const reinstatement = reinstatementOf(aggregate, operation.reinstatement)
  const { locator } = reinstatement
  const planned = async (): Promise<Planned | undefined> => {
    switch (operation.action) {
      case 'update':
        return planReinstatementUpdate(aggregate, reinstatement, operation.request, now)
      case 'accept':
        return await underwriteAndAccept(aggregate, reinstatement, loaded, attempt)
      case 'issue':
        return planReinstatementIssue(aggregate, locator, context)
      case 'invalidate':
        return planReinstatementInvalidation(aggregate, reinstatement, now)
      case 'expire':
        return planExpiry(aggregate, reinstatement, now)
    }
  }
  return { planned: await planned(), reinstatement: locator }
}

/**
 * Returns the policy as if the reinstatement were issued, for any underwriting decision and without conflicting transactions.
 * Stores nothing. Throws the errors of creating it.
 */
export async function previewReinstatement(
  loaded: Loaded,
  cancellation: CancellationLocator,
  request: ReinstatementCreateRequest,
  attempt: Attempt,
): Promise<{ planned: Planned; reinstatement: Uuid }> {
  const { aggregate, product } = loaded
  const { now, supply } = attempt
  const context = { product, now, supply }
  const { reinstatement, ...created } = planReinstatementCreation(
    aggregate,
    cancellationOf(aggregate, cancellation),
    request,
    context,
  )
  const { locator } = reinstatement
  const cleared = withoutConflicts(created.aggregate, locator, 'invalidate', now)
  const accepted = await underwriteAndAccept(cleared.aggregate, reinstatement, loaded, attempt, () => {})
  const issued = planReinstatementIssue(accepted.aggregate, locator, context)
  return { planned: combineSteps(created, cleared, accepted, issued), reinstatement: locator }
}

/** Plans the acceptance. Rejects with 409 a reinstatement that underwriting does not accept. */
async function underwriteAndAccept(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  loaded: Loaded,
  attempt: Attempt,
  assertDecision = assertUnderwritten,
): Promise<Planned> {
  const underwriting = await underwriteQuote(loaded.aggregate, boundQuote(loaded.aggregate), {
    ...ratingContext(loaded, attempt, reinstatement.effectiveAt),
    operation: 'reinstatement',
  })
  const billing = {
    digits: digitsForAcceptance(before, reinstatement, attempt.now),
    ownBills: ownBills('reinstatement', loaded, attempt),
  }
  const accepted = await planWithProration(loaded, attempt, billing, context =>
    planReinstatementAcceptance(before, reinstatement, underwriting, context),
  )
  assertDecision('reinstatement', underwriting)
  return accepted
}

/** Plans a draft. By default it starts at the cancellation's time, with the deadline of the cancellation's type. */
function planReinstatementCreation(
  before: PolicyAggregate,
  cancellation: Cancellation,
  request: ReinstatementUpdateRequest,
  { product, now, supply }: EffectContext,
): Planned & { reinstatement: Reinstatement } {
  assertNotWithdrawn(before)
  assertCancellationAllows(cancellation, 'reinstate')
  assertEndsCover(before, cancellation)
  const open = [...before.reinstatements.values()].find(
    one => one.cancellationLocator === cancellation.locator && one.state !== 'expired',
  )
  if (open)
    throw wrongState(
      `Cancellation ${cancellation.locator} already has the reinstatement ${open.locator}, which is ${open.state}.`,
    )
  const type = product.cancellationTypes?.find(({ name }) => name === cancellation.name)
  const days = type?.reinstatement?.defaultDeadlineDays
  const deadlineAt = days === undefined ? undefined : add(now, days, 'day', before.policy.timeZone)
  const reinstatement: Reinstatement = {
    locator: supply.uuid(),
    cancellationLocator: cancellation.locator,
    state: 'draft',
    effectiveAt: request.effectiveTimestamp ?? cancellation.effectiveAt,
    deadlineAt: request.reinstatementDeadlineTimestamp ?? deadlineAt,
    createdAt: now,
    updatedAt: now,
  }
  assertTerms(before, reinstatement, cancellation, now)
  const aggregate = withReinstatement(before, reinstatement)
  return {
    aggregate,
    reinstatement,
    events: [reinstatementEvent(aggregate, 'reinstatement.create', reinstatement)],
    timers: deadlineTimers(aggregate, reinstatement),
  }
}

function planReinstatementUpdate(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  { effectiveTimestamp, reinstatementDeadlineTimestamp }: ReinstatementUpdateRequest,
  now: Instant,
): Planned {
  assertReinstatementAllows(reinstatement, 'update')
  const changed: Reinstatement = {
    ...reinstatement,
    effectiveAt: effectiveTimestamp ?? reinstatement.effectiveAt,
    deadlineAt: reinstatementDeadlineTimestamp ?? reinstatement.deadlineAt,
    updatedAt: now,
  }
  assertTerms(before, changed, before.cancellations.get(changed.cancellationLocator)!, now)
  const aggregate = withReinstatement(before, changed)
  return { aggregate, events: [], timers: deadlineTimers(aggregate, changed) }
}

/** Counts the modification, its invoice, and each bill that is created again immediately. */
const digitsForAcceptance = (before: PolicyAggregate, reinstatement: Reinstatement, now: Instant): number =>
  2 + returningBills(before, orderOf(before, reinstatement).cancellation, now).length

/**
 * Creates the segments, which are not issued yet, and bills them, for any underwriting decision. Takes as many digit locators as
 * `digitsForAcceptance` counts.
 */
async function planReinstatementAcceptance(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  underwriting: UnderwritingResult,
  context: EffectContext & { ownBills: OwnBills },
): Promise<Planned> {
  const { now } = context
  assertReinstatementAllows(reinstatement, 'accept')
  assertCanReturn(before, reinstatement, now)
  const restored = applyReinstatement(before, orderOf(before, reinstatement), context)
  const modification = { ...restored.modification, underwriting }
  const modifications = putRecords(restored.aggregate.modifications, [modification])
  const { locator: modificationLocator } = modification
  const accepted: Reinstatement = { ...reinstatement, state: 'accepted', modificationLocator, updatedAt: now }
  const recorded = withReinstatement({ ...restored.aggregate, modifications }, accepted)
  const billed = await billTransaction(recorded, modification, context)
  const accepting = reinstatementEvent(billed.aggregate, 'reinstatement.accept', accepted)
  return { ...billed, events: [accepting, ...billed.events] }
}

/** Returns what `applyReinstatement` needs. The cancellation must be issued. */
export function orderOf(
  { cancellations, modifications }: PolicyAggregate,
  { cancellationLocator, effectiveAt, locator }: Reinstatement,
): Parameters<typeof applyReinstatement>[1] {
  const { modificationLocator } = cancellations.get(cancellationLocator)!
  return { cancellation: modifications.get(modificationLocator!)!, effectiveAt, transactionLocator: locator }
}

function planReinstatementIssue(
  before: PolicyAggregate,
  locator: Uuid,
  { product, now }: Pick<EffectContext, 'product' | 'now'>,
): Planned {
  const reinstatement = reinstatementOf(before, locator)
  assertReinstatementAllows(reinstatement, 'issue')
  assertCanReturn(before, reinstatement, now)
  const modification = before.modifications.get(reinstatement.modificationLocator!)!
  const issued: Reinstatement = { ...reinstatement, state: 'issued', issuedAt: now, updatedAt: now }
  const policy = policyOnReturn(before, modification)
  const modifications = putRecords(before.modifications, [{ ...modification, issuedAt: now, updatedAt: now }])
  const aggregate = withReinstatement({ ...before, policy, modifications }, issued)
  const more = { modificationLocator: modification.locator }
  return {
    aggregate,
    events: [reinstatementEvent(aggregate, 'reinstatement.issue', issued, more)],
    timers: newEndTimers(policy, before.policy.effectiveEnd, product, now),
  }
}

/** Undoes an acceptance: voids its invoices, reverses their payments and removes the records that it created (brief 1.6). */
export function planReinstatementInvalidation(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  now: Instant,
): Planned {
  assertReinstatementAllows(reinstatement, 'invalidate')
  return withoutAcceptance(before, reinstatement, 'draft', 'reinstatement.invalidate', now)
}

/** Returns undefined when the reinstatement is done or its deadline was moved. */
function planExpiry(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  now: Instant,
): Planned | undefined {
  const { state, deadlineAt } = reinstatement
  const isOpen = state === 'draft' || state === 'accepted'
  if (!isOpen || deadlineAt === undefined || deadlineAt > now) return undefined
  return withoutAcceptance(before, reinstatement, 'expired', 'reinstatement.deadlineReached', now)
}

/**
 * Returns the reinstatement in the given state. Only void invoices remain of an acceptance. Installments that it absorbed are
 * billed as originally planned, those already due immediately.
 */
function withoutAcceptance(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  state: ReinstatementState,
  event: ReinstatementEvent,
  now: Instant,
): Planned {
  const after: Reinstatement = { ...reinstatement, state, modificationLocator: undefined, updatedAt: now }
  const { modificationLocator } = reinstatement
  const modification = modificationLocator && before.modifications.get(modificationLocator)
  const gone = modification
    ? withoutModification(before, modification, now)
    : { aggregate: before, events: [] }
  const aggregate = withReinstatement(gone.aggregate, after)
  return { ...gone, aggregate, events: [...gone.events, reinstatementEvent(aggregate, event, after)] }
}

const withReinstatement = (aggregate: PolicyAggregate, reinstatement: Reinstatement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: reinstatement.updatedAt },
  reinstatements: putRecords(aggregate.reinstatements, [reinstatement]),
})

type ReinstatementEvent = EventType & `reinstatement.${string}`

/** Brief 9. */
const reinstatementEvent = (
  aggregate: PolicyAggregate,
  type: ReinstatementEvent,
  { locator, cancellationLocator, effectiveAt, deadlineAt }: Reinstatement,
  more: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, type, {
    reinstatementLocator: locator,
    cancellationLocator: String(cancellationLocator),
    effectiveTimestamp: String(effectiveAt),
    ...(deadlineAt === undefined ? {} : { deadline: String(deadlineAt) }),
    ...more,
  })

function deadlineTimers({ policy }: PolicyAggregate, { locator, deadlineAt }: Reinstatement): NewTimer[] {
  if (deadlineAt === undefined) return []
  const payload = { reinstatementLocator: locator }
  return [{ dueAt: deadlineAt, kind: 'reinstatement.deadline', subject: String(policy.locator), payload }]
}

function assertTerms(
  { segments }: PolicyAggregate,
  { effectiveAt, deadlineAt }: Reinstatement,
  cancellation: Cancellation,
  now: Instant,
): void {
  if (effectiveAt < cancellation.effectiveAt)
    throw invalidRequest(
      `effectiveTimestamp ${effectiveAt} is before the cancellation's ${cancellation.effectiveAt}; there is coverage until then.`,
    )
  const removed = [...segments.values()].filter(one => one.replacedBy === cancellation.modificationLocator)
  // If the cancellation removed no segments, the acceptance rejects the reinstatement, at any time, since nothing comes back.
  if (removed.length > 0 && removed.every(({ end }) => end <= effectiveAt))
    throw invalidRequest(
      `effectiveTimestamp ${effectiveAt} must be before ${removed.map(({ end }) => end).reduce(later)}, the end of the coverage that the cancellation removed.`,
    )
  if (deadlineAt !== undefined && deadlineAt <= now)
    throw invalidRequest(
      `The deadline of a reinstatement must be in the future, but ${deadlineAt} is not; send a later reinstatementDeadlineTimestamp.`,
    )
}

function assertNotWithdrawn(before: PolicyAggregate): void {
  if (policyState(before) === 'withdrawn')
    throw wrongState(`Policy ${before.policy.locator} is withdrawn and cannot be reinstated.`)
}

/**
 * Rejects with 409 coverage that cannot come back: the policy is withdrawn, cover was ended again since, a transaction conflicts,
 * or the deadline has passed.
 */
function assertCanReturn(
  before: PolicyAggregate,
  { locator, cancellationLocator, deadlineAt }: Reinstatement,
  now: Instant,
): void {
  assertNotWithdrawn(before)
  assertEndsCover(before, before.cancellations.get(cancellationLocator)!)
  assertNoConflicts(before, locator)
  if (deadlineAt !== undefined && deadlineAt <= now)
    throw wrongState(`The deadline of reinstatement ${locator} passed at ${deadlineAt}.`)
}
