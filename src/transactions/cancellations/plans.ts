// Plans the actions on a cancellation, with their events (brief 1.5, 1.7). Pure.
import { billTransaction } from '../../billing/continuing.ts'
import type { OwnBills } from '../../billing/plugin-bills.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Cancellation, ConflictHandling } from '../../policy/records/transactions.ts'
import { assertPolicyAllows, type Carried, type Planned, policyEvent } from '../../policy/transitions.ts'
import type { CancellationType, ProductDefinition } from '../../product/configuration.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { withoutConflicts } from '../mechanism/kind.ts'
import { type CancellationOrder, cancelled } from './effect.ts'
import { assertCancellationAllows } from './transitions.ts'

/** The cancellation that lapses make; every product has it. */
export const LAPSE = 'lapse'

/** The name of a legacy cancellation. A product may have a type of that name, whose terms then hold. */
const LEGACY = 'cancel'

export type CancellationTerms = {
  name: string
  effectiveAt: Instant
  conflictHandling: ConflictHandling
  category?: string
}

export function planCancellationCreation(
  before: PolicyAggregate,
  terms: CancellationTerms,
  { product, now, supply }: EffectContext,
): Planned & { cancellation: Cancellation } {
  assertPolicyAllows(before, 'cancel')
  assertTerms(before, terms, product)
  const cancellation: Cancellation = {
    ...terms,
    locator: supply.digits() as CancellationLocator,
    state: 'draft',
    createdAt: now,
    updatedAt: now,
  }
  return {
    aggregate: withCancellation(before, cancellation),
    cancellation,
    events: [cancellationEvent(before, 'cancellation.create', cancellation)],
  }
}

export function planCancellationUpdate(
  before: PolicyAggregate,
  cancellation: Cancellation,
  changes: Partial<CancellationTerms>,
  { product, now }: Pick<EffectContext, 'product' | 'now'>,
): Planned {
  assertCancellationAllows(cancellation, 'update')
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const changed: Cancellation = { ...cancellation, ...given, updatedAt: now }
  assertTerms(before, changed, product)
  return {
    aggregate: withCancellation(before, changed),
    events: [cancellationEvent(before, 'cancellation.update', changed)],
  }
}

export function planRescission(before: PolicyAggregate, cancellation: Cancellation, now: Instant): Planned {
  assertCancellationAllows(cancellation, 'rescind')
  const rescinded: Cancellation = { ...cancellation, state: 'rescinded', updatedAt: now }
  return {
    aggregate: withCancellation(before, rescinded),
    events: [cancellationEvent(before, 'cancellation.rescind', rescinded)],
  }
}

/** How the cancellation is carried out. */
export const orderOf = ({ name, effectiveAt, locator }: Cancellation): CancellationOrder => ({
  kind: 'cancellation',
  name: 'modification.policy.cancel',
  effectiveAt,
  proration: 'monthly',
  transactionLocator: String(locator),
  cancellationName: name,
})

/** The context for carrying out and billing a cancellation. */
export type CancellingContext = EffectContext & { ownBills: OwnBills }

/** Carries the cancellation out and bills the rest. Takes two digit locators, and one for each conflict. */
export async function planCancellationIssue(
  before: PolicyAggregate,
  cancellation: Cancellation,
  context: CancellingContext,
): Promise<Planned> {
  assertCancellationAllows(cancellation, 'issue')
  assertPolicyAllows(before, 'cancel')
  assertTerms(before, cancellation, context.product)
  const type = cancellationType(context.product, cancellation.name)
  if (type && type.cancellationCategories.length > 0 && cancellation.category === undefined)
    throw new Refusal(
      'invalidRequest',
      `Cancellation ${cancellation.locator} needs a cancellationCategory before it is issued: one of ${type.cancellationCategories.map(one => `'${one}'`).join(', ')}.`,
    )
  const cleared = withoutConflicts(
    before,
    String(cancellation.locator),
    cancellation.conflictHandling,
    context.now,
  )
  const { aggregate, modification } = cancelled(cleared.aggregate, orderOf(cancellation), context)
  const issued: Cancellation = {
    ...cancellation,
    state: 'issued',
    issuedAt: context.now,
    updatedAt: context.now,
    modificationLocator: modification.locator,
  }
  const billed = await billTransaction(withCancellation(aggregate, issued), modification, context)
  return {
    aggregate: billed.aggregate,
    events: [
      ...cleared.events,
      cancellationEvent(billed.aggregate, 'cancellation.issue', issued, {
        modificationLocator: modification.locator,
      }),
      cancelEvent(billed.aggregate, modification),
      ...billed.events,
    ],
    timers: [...(cleared.timers ?? []), ...(billed.timers ?? [])],
  }
}

/**
 * The legacy cancellation in one step. It is recorded as issued. Its modification names no type, so that nothing is held
 * back (brief 1.7, 3.2). Takes three digits.
 */
export async function planLegacyCancellation(
  before: PolicyAggregate,
  coverageEndAt: Instant,
  context: CancellingContext,
): Promise<Planned> {
  assertPolicyAllows(before, 'cancel')
  assertWithin(before, coverageEndAt)
  const { now, product, supply } = context
  const locator = supply.digits() as CancellationLocator
  const order: CancellationOrder = {
    kind: 'cancellation',
    name: 'modification.policy.cancel',
    effectiveAt: coverageEndAt,
    proration: product.legacyCancellationProration,
    transactionLocator: String(locator),
  }
  return await planCancelled(before, context, order, modification => ({
    locator,
    name: LEGACY,
    state: 'issued',
    effectiveAt: coverageEndAt,
    conflictHandling: 'invalidate',
    createdAt: now,
    updatedAt: now,
    issuedAt: now,
    modificationLocator: modification.locator,
  }))
}

/** Cancels from the policy's start: premium, taxes and fees become zero (brief 1.7). Takes two digits. */
export async function planWithdrawal(before: PolicyAggregate, context: CancellingContext): Promise<Planned> {
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
 * The policy with the cancellation carried out and billed, after what stands in its way is taken back. `recordOf` makes the record of
 * a modification that has one.
 */
export async function planCancelled(
  before: PolicyAggregate,
  context: CancellingContext,
  order: CancellationOrder,
  recordOf?: (modification: Modification) => Cancellation,
): Promise<Planned & Carried> {
  const cleared = withoutConflicts(before, '', 'invalidate', context.now)
  const { aggregate, modification } = cancelled(cleared.aggregate, order, context)
  const recorded = recordOf ? withCancellation(aggregate, recordOf(modification)) : aggregate
  const billed = await billTransaction(recorded, modification, context)
  return {
    aggregate: billed.aggregate,
    modification,
    events: [...cleared.events, cancelEvent(billed.aggregate, modification), ...billed.events],
    timers: [...(cleared.timers ?? []), ...(billed.timers ?? [])],
  }
}

const cancelEvent = (aggregate: PolicyAggregate, modification: Modification) =>
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
) =>
  policyEvent(aggregate, type, {
    cancellationLocator: String(locator),
    cancellationName: name,
    effectiveTimestamp: String(effectiveAt),
    ...more,
  })

const withCancellation = (aggregate: PolicyAggregate, cancellation: Cancellation): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: cancellation.updatedAt },
  cancellations: putRecords(aggregate.cancellations, [cancellation]),
})

const cancellationType = (product: ProductDefinition, name: string): CancellationType | undefined =>
  product.cancellationTypes?.find(one => one.name === name)

function assertTerms(before: PolicyAggregate, terms: CancellationTerms, product: ProductDefinition): void {
  assertWithin(before, terms.effectiveAt)
  const type = cancellationType(product, terms.name)
  if (!type && terms.name !== LAPSE) {
    const known = [...(product.cancellationTypes ?? []).map(one => one.name), LAPSE]
    throw new Refusal(
      'invalidRequest',
      `Product '${product.name}' has no cancellation '${terms.name}'; it has ${known.map(one => `'${one}'`).join(', ')}.`,
    )
  }
  const categories = type?.cancellationCategories ?? []
  if (terms.category !== undefined && !categories.includes(terms.category))
    throw new Refusal(
      'invalidRequest',
      `Cancellation '${terms.name}' has no category '${terms.category}'; it has ${categories.map(one => `'${one}'`).join(', ') || 'none'}.`,
    )
}

/** Within the contract; a repeated cancellation is effective earlier than the one before, which ended it. */
function assertWithin({ policy }: PolicyAggregate, effectiveAt: Instant): void {
  if (effectiveAt >= policy.originalStart && effectiveAt < policy.effectiveEnd) return
  throw new Refusal(
    'invalidRequest',
    `The effective time ${effectiveAt} must lie from the contract's start ${policy.originalStart} up to, but not including, its effective end ${policy.effectiveEnd}.`,
  )
}
