// Decides each action on a policy's cancellations, with their events (brief 1.5, 1.7): pure plans over the loaded policy.
import { billTransaction } from '../../billing/billing.ts'
import { type OwnBills, ownBills } from '../../billing/plugin-bills.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import {
  type Cancellation,
  type CancellationState,
  cancellationOf,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import {
  type AppliedTransaction,
  assertPolicyAllows,
  assertWithinContract,
  combineSteps,
  type Planned,
  policyEvent,
} from '../../policy/transitions.ts'
import type { CancellationType, ProductDefinition } from '../../product/configuration.ts'
import type { Attempt, EffectContext } from '../../rating/rate.ts'
import { withoutConflicts } from '../mechanism/conflicts.ts'
import { planWithProration } from '../mechanism/prorating.ts'
import type { CancellationCreateRequest, CancellationUpdateRequest } from './contract.ts'
import { applyCancellation, type CancellationOrder } from './effect.ts'

export type CancellationAction = 'update' | 'rescind' | 'issue' | 'reinstate'

export const CANCELLATION_TRANSITIONS: TransitionTable<CancellationAction, CancellationState> = {
  update: { from: ['draft'], to: 'draft', event: 'cancellation.update', past: 'updated' },
  rescind: { from: ['draft'], to: 'rescinded', event: 'cancellation.rescind', past: 'rescinded' },
  issue: { from: ['draft'], to: 'issued', event: ['cancellation.issue', 'policy.cancel'], past: 'issued' },
  reinstate: { from: ['issued'], to: 'same', event: 'reinstatement.create', past: 'reinstated' },
}

/** Throws 409 if the cancellation's state does not allow the action. */
export const assertCancellationAllows = (cancellation: Cancellation, action: CancellationAction): void =>
  assertAllowed(CANCELLATION_TRANSITIONS, `Cancellation ${cancellation.locator}`, cancellation.state, action)

/** The cancellation that a lapse creates. Every product has it. */
export const LAPSE = 'lapse'

/** The name of a legacy cancellation. If a product has a type of that name, its terms apply. */
const LEGACY = 'cancel'

export type CancellationOperation =
  | { action: 'create'; request: CancellationCreateRequest }
  | { action: 'update'; cancellation: CancellationLocator; request: CancellationUpdateRequest }
  | { action: 'issue' | 'rescind'; cancellation: CancellationLocator }
  /** Cancels in one step and returns the policy (brief 1.7). */
  | { action: 'legacy'; coverageEndAt: Instant }
  | { action: 'withdraw' }

/** The result, and the cancellation that the answer shows. Undefined shows the policy. */
export type CancellationDecision = { planned: Planned; cancellation?: CancellationLocator }

/** Plans an operation on a cancellation. Throws 404 for an unknown cancellation and 409 if its state does not allow the action. */
export async function decideCancellation(
  loaded: Loaded,
  operation: CancellationOperation,
  attempt: Attempt,
): Promise<CancellationDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  switch (operation.action) {
    case 'create':
      return await createCancellation(loaded, operation.request, termsOf(operation.request), attempt)
    case 'legacy': {
      const billing = { ...billedByProduct(loaded, attempt), digits: 3 }
      const planned = await planWithProration(loaded, attempt, billing, context =>
        planLegacyCancellation(aggregate, operation.coverageEndAt, context),
      )
      return { planned }
    }
    case 'withdraw': {
      const { digits, ...billing } = billedByProduct(loaded, attempt)
      const supply = await attempt.digits(digits)
      return { planned: await planWithdrawal(aggregate, { product, now, supply, ...billing }) }
    }
  }
  const cancellation = cancellationOf(aggregate, operation.cancellation)
  const { locator } = cancellation
  switch (operation.action) {
    case 'update': {
      const planned = planCancellationUpdate(aggregate, cancellation, operation.request, { product, now })
      return { planned, cancellation: locator }
    }
    case 'rescind': {
      assertCancellationAllows(cancellation, 'rescind')
      const rescinded: Cancellation = { ...cancellation, state: 'rescinded', updatedAt: now }
      return {
        planned: withCancellationEvent(aggregate, rescinded, 'cancellation.rescind'),
        cancellation: locator,
      }
    }
    case 'issue':
      return {
        planned: await issueCancellation(loaded, aggregate, cancellation, attempt),
        cancellation: locator,
      }
  }
}

/**
 * Returns the policy as if the cancellation were issued, without conflicts. Stores nothing. Throws what creating it would throw.
 */
export function previewCancellation(
  loaded: Loaded,
  request: CancellationCreateRequest,
  attempt: Attempt,
): Promise<Required<CancellationDecision>> {
  const terms: CancellationTerms = {
    ...termsOf(request),
    conflictHandling: 'invalidate',
    // The category may be missing until the issue, and does not change the effect.
    category:
      request.cancellationCategory ??
      cancellationType(loaded.product, request.name)?.cancellationCategories[0],
  }
  return createCancellation(loaded, { issue: true }, terms, attempt)
}

async function createCancellation(
  loaded: Loaded,
  { issue }: Pick<CancellationCreateRequest, 'issue'>,
  terms: CancellationTerms,
  attempt: Attempt,
): Promise<Required<CancellationDecision>> {
  const context = { product: loaded.product, now: attempt.now, supply: await attempt.digits(1) }
  const { cancellation, ...draft } = planCancellationCreation(loaded.aggregate, terms, context)
  const issuing = issue ? await issueCancellation(loaded, draft.aggregate, cancellation, attempt) : undefined
  return { planned: combineSteps(draft, issuing), cancellation: cancellation.locator }
}

const issueCancellation = (
  loaded: Loaded,
  before: PolicyAggregate,
  cancellation: Cancellation,
  attempt: Attempt,
): Promise<Planned> =>
  planWithProration(loaded, attempt, billedByProduct(loaded, attempt), context =>
    planCancellationIssue(before, cancellation, context),
  )

/** Needs two digit locators: for the modification and its invoice. */
export const billedByProduct = (loaded: Loaded, attempt: Attempt) => ({
  digits: 2,
  ownBills: ownBills('cancellation', loaded, attempt),
})

type CancellationTerms = Pick<Cancellation, 'name' | 'effectiveAt' | 'conflictHandling' | 'category'>

const termsOf = (request: CancellationCreateRequest): CancellationTerms => ({
  name: request.name,
  effectiveAt: request.effectiveTimestamp,
  conflictHandling: request.conflictHandling ?? 'block',
  category: request.cancellationCategory,
})

/**
 * Creates a draft and takes one digit locator. Throws 409 for a policy that cannot be cancelled at that time, and 400 for terms
 * outside of its contract or product.
 */
export function planCancellationCreation(
  before: PolicyAggregate,
  terms: CancellationTerms,
  { product, now, supply }: EffectContext,
): Planned & { cancellation: Cancellation } {
  assertPolicyAllows(before, 'cancel')
  assertTerms(before, terms, product)
  const locator = supply.digits() as CancellationLocator
  const cancellation: Cancellation = { ...terms, locator, state: 'draft', createdAt: now, updatedAt: now }
  return { ...withCancellationEvent(before, cancellation, 'cancellation.create'), cancellation }
}

/** Changes the terms that the request gives. The others do not change. */
function planCancellationUpdate(
  before: PolicyAggregate,
  cancellation: Cancellation,
  request: CancellationUpdateRequest,
  { product, now }: Pick<EffectContext, 'product' | 'now'>,
): Planned {
  assertCancellationAllows(cancellation, 'update')
  const changed: Cancellation = {
    ...cancellation,
    name: request.name ?? cancellation.name,
    effectiveAt: request.effectiveTimestamp ?? cancellation.effectiveAt,
    conflictHandling: request.conflictHandling ?? cancellation.conflictHandling,
    category: request.cancellationCategory ?? cancellation.category,
    updatedAt: now,
  }
  assertTerms(before, changed, product)
  return withCancellationEvent(before, changed, 'cancellation.update')
}

export const orderOf = ({ name, effectiveAt, locator }: Cancellation): CancellationOrder => ({
  kind: 'cancellation',
  name: 'modification.policy.cancel',
  effectiveAt,
  proration: 'monthly',
  transactionLocator: String(locator),
  cancellationName: name,
})

export type CancellingContext = EffectContext & { ownBills: OwnBills }

/** Cancels and bills the rest. Takes two digit locators. */
export async function planCancellationIssue(
  before: PolicyAggregate,
  cancellation: Cancellation,
  context: CancellingContext,
): Promise<Planned> {
  const { product } = context
  assertCancellationAllows(cancellation, 'issue')
  assertPolicyAllows(before, 'cancel')
  assertTerms(before, cancellation, product)
  const { cancellationCategories = [] } = cancellationType(product, cancellation.name) ?? {}
  if (cancellationCategories.length > 0 && cancellation.category === undefined)
    throw invalidRequest(
      `Cancellation ${cancellation.locator} needs a cancellationCategory before it can be issued: one of ${quoteNames(cancellationCategories)}.`,
    )
  return await planCancelled(before, context, orderOf(cancellation), cancellation)
}

/**
 * Plans the legacy cancellation in one step, recorded as issued. Its modification names no type, so nothing is held back (brief
 * 1.7, 3.2). Takes three digit locators.
 */
async function planLegacyCancellation(
  before: PolicyAggregate,
  effectiveAt: Instant,
  context: CancellingContext,
): Promise<Planned> {
  assertPolicyAllows(before, 'cancel')
  assertWithinContract(before, 'The effective time', effectiveAt)
  const { now, product, supply } = context
  const locator = supply.digits() as CancellationLocator
  const order: CancellationOrder = {
    kind: 'cancellation',
    name: 'modification.policy.cancel',
    effectiveAt,
    proration: product.legacyCancellationProration,
    transactionLocator: String(locator),
  }
  const terms: CancellationTerms = { name: LEGACY, effectiveAt, conflictHandling: 'invalidate' }
  const draft: Cancellation = { ...terms, locator, state: 'draft', createdAt: now, updatedAt: now }
  return await planCancelled(before, context, order, draft)
}

/** Cancels from the policy's start: premium, taxes and fees become zero (brief 1.7). Takes two digit locators. */
async function planWithdrawal(before: PolicyAggregate, context: CancellingContext): Promise<Planned> {
  assertPolicyAllows(before, 'withdraw')
  return await planCancelled(before, context, {
    kind: 'withdrawal',
    name: 'modification.policy.withdraw',
    effectiveAt: before.policy.originalStart,
    proration: 'monthly',
    mayBeEmpty: true,
  })
}

/**
 * Invalidates conflicting transactions, then cancels and bills. `cancellation` is the record, if there is one. A record that the
 * policy does not contain yet gets no separate event.
 */
export async function planCancelled(
  before: PolicyAggregate,
  context: CancellingContext,
  order: CancellationOrder,
  cancellation?: Cancellation,
): Promise<Planned & AppliedTransaction> {
  const { now } = context
  const handling = cancellation?.conflictHandling ?? 'invalidate'
  const cleared = withoutConflicts(before, '', handling, now, CANCELLATION_REMEDY)
  const { aggregate, modification } = applyCancellation(cleared.aggregate, order, context)
  const made = { modificationLocator: modification.locator }
  const issued = cancellation && {
    ...cancellation,
    ...made,
    state: 'issued' as const,
    issuedAt: now,
    updatedAt: now,
  }
  const after = issued ? withCancellation(aggregate, issued) : aggregate
  const billed = await billTransaction(after, modification, context)
  const announced =
    issued && before.cancellations.has(issued.locator)
      ? [cancellationEvent(after, 'cancellation.issue', issued, made)]
      : []
  const events = [...announced, cancelEvent(after, modification), ...billed.events]
  return { ...combineSteps(cleared, { ...billed, events }), modification }
}

const cancelEvent = (aggregate: PolicyAggregate, modification: Modification): NewEvent =>
  policyEvent(aggregate, 'policy.cancel', {
    effectiveTimestamp: String(modification.effectiveAt),
    modificationLocator: modification.locator,
    modificationName: modification.name,
  })

const cancellationEvent = (
  aggregate: PolicyAggregate,
  type: 'cancellation.create' | 'cancellation.update' | 'cancellation.rescind' | 'cancellation.issue',
  { locator, name, effectiveAt }: Cancellation,
  more: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, type, {
    cancellationLocator: String(locator),
    cancellationName: name,
    effectiveTimestamp: String(effectiveAt),
    ...more,
  })

const withCancellationEvent = (
  before: PolicyAggregate,
  cancellation: Cancellation,
  event: Parameters<typeof cancellationEvent>[1],
): Planned => ({
  aggregate: withCancellation(before, cancellation),
  events: [cancellationEvent(before, event, cancellation)],
})

const withCancellation = (aggregate: PolicyAggregate, cancellation: Cancellation): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: cancellation.updatedAt },
  cancellations: putRecords(aggregate.cancellations, [cancellation]),
})

const cancellationType = (product: ProductDefinition, name: string): CancellationType | undefined =>
  product.cancellationTypes?.find(type => type.name === name)

const quoteNames = (names: readonly string[]): string => names.map(name => `'${name}'`).join(', ')

function assertTerms(before: PolicyAggregate, terms: CancellationTerms, product: ProductDefinition): void {
  assertWithinContract(before, 'The effective time', terms.effectiveAt)
  const type = cancellationType(product, terms.name)
  if (!type && terms.name !== LAPSE) {
    const known = [...new Set([...(product.cancellationTypes ?? []).map(({ name }) => name), LAPSE])]
    throw invalidRequest(
      `Product '${product.name}' has no cancellation type '${terms.name}'; it has ${quoteNames(known)}.`,
    )
  }
  const categories = type?.cancellationCategories ?? []
  if (terms.category !== undefined && !categories.includes(terms.category))
    throw invalidRequest(
      `Cancellation '${terms.name}' has no category '${terms.category}'; it has ${quoteNames(categories) || 'none'}.`,
    )
}

/** The cancellation keeps the handling set by its creation or an update, since the issue cannot set one. */
const CANCELLATION_REMEDY =
  'Invalidate them, or create or change the cancellation with conflictHandling=invalidate.'
