// The life of a grace period (brief 1.5): an invoice that is past due begins it, and it ends when all that is past due
// is paid, or with the policy taken off risk. Pure.
//
// A policy has one open grace period at a time, though each names the invoice that began it: it is settled when *all*
// past-due invoices are paid (brief 1.5), so a second invoice that becomes past due meanwhile joins the open one, and
// has no time of its own. An invoice whose payment is reversed is due again by the end of that day (brief 4.4), and
// begins a new grace period then: a settled one is never opened again.
import { invalidRequest } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { add, type Instant, later } from '../../kernel/time.ts'
import { type Policy, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Invoice } from '../../policy/records/invoice.ts'
import type { GracePeriod } from '../../policy/records/transactions.ts'
import { chain, type Planned, policyState } from '../../policy/transitions.ts'
import type { EffectContext } from '../../rating/rate.ts'
import {
  type CancellingContext,
  LAPSE,
  planCancellationCreation,
  planCancellationIssue,
} from '../cancellations/decision.ts'
import { gracePeriodEvent } from './events.ts'
import { planLapse } from './lapse.ts'
import { graceEndTimer, isOwed, pastDueFrom, pastDueInvoices } from './timers.ts'
import { assertGracePeriodAllows } from './transitions.ts'

/** Digits that the end of a grace period takes: a cancellation, its modification and its invoice. */
export const DIGITS_FOR_LAPSE = 3

/** The terms that a grace period begins with, where they are others than its product's. */
export type GraceStartTerms = { readonly endAt?: Instant; readonly cancelEffectiveAt?: Instant }

/** An invoice that begins a grace period, from when on, and when that ends by its product. */
export type GraceStart = { readonly invoice: Invoice; readonly startAt: Instant; readonly endAt: Instant }

/**
 * The grace period that the invoice is to begin: from its due time, the product's days long by the calendar of the
 * tenant's zone; until another end, where a plugin set one when a payment of it was reversed, or the migration did. Undefined
 * when none begins: it is paid, or no more past due; the policy is withdrawn, or had ended by then, or has ended by now where
 * its end was set, as there is no cover to lose; or another grace period is open.
 */
export function graceStart(
  before: PolicyAggregate,
  invoiceLocator: Uuid,
  { product, now }: Pick<EffectContext, 'product' | 'now'>,
): GraceStart | undefined {
  const { gracePeriodDays } = product.lapse
  const invoice = before.invoices.get(invoiceLocator)
  const startAt = invoice && pastDueFrom(before, invoice)
  if (gracePeriodDays === undefined || !invoice || startAt === undefined || startAt > now) return undefined
  // However late a due time is found: cover that was lost by it was lost then. An end that was set counts from that day.
  const isEndSet = isGraceEndSet(invoice, startAt)
  if (policyState(before) !== 'issued' || before.policy.effectiveEnd <= (isEndSet ? now : startAt))
    return undefined
  if (openGracePeriod(before) || !isOwed(before, invoice)) return undefined
  const began = [...before.gracePeriods.values()].some(
    one => one.invoiceLocator === invoiceLocator && one.startAt === startAt,
  )
  if (began) return undefined
  const endAt = isEndSet ? invoice.graceEndAt : add(startAt, gracePeriodDays, 'day', before.policy.timeZone)
  return { invoice, startAt, endAt }
}

/** Whether the end that was set still stands: cover that was prolonged since has made the invoice past due anew. */
export const isGraceEndSet = (
  invoice: Invoice,
  startAt: Instant,
): invoice is Invoice & { graceEndAt: Instant } =>
  invoice.graceEndAt !== undefined && invoice.graceEndAt >= startAt

/** The grace period that the invoice begins, by its product or on other terms. */
export function planGraceStart(
  before: PolicyAggregate,
  { invoice, startAt, endAt }: GraceStart,
  { now, supply }: Pick<EffectContext, 'now' | 'supply'>,
  terms: GraceStartTerms = {},
): Planned {
  const grace: GracePeriod = {
    locator: supply.uuid(),
    invoiceLocator: invoice.locator,
    state: 'open',
    startAt,
    endAt: terms.endAt ?? endAt,
    cancelEffectiveAt: terms.cancelEffectiveAt,
    createdAt: now,
    updatedAt: now,
  }
  const aggregate = withGracePeriod(before, grace)
  return {
    aggregate,
    events: [gracePeriodEvent(aggregate, 'policy.gracePeriod', grace)],
    timers: [graceEndTimer(aggregate, grace)],
  }
}

/** The open grace period with another end; one that is past is found by its timer. Undefined where that changes nothing. */
export function planGraceEndMove(before: PolicyAggregate, endAt: Instant, now: Instant): Planned | undefined {
  const grace = openGracePeriod(before)
  if (!grace || grace.endAt === endAt) return undefined
  assertGracePeriodAllows(grace, 'update')
  const moved: GracePeriod = { ...grace, endAt, updatedAt: now }
  const aggregate = withGracePeriod(before, moved)
  return {
    aggregate,
    events: [gracePeriodEvent(aggregate, 'policy.gracePeriod.update', moved)],
    timers: [graceEndTimer(aggregate, moved)],
  }
}

export type GracePeriodTerms = {
  endAt?: Instant
  cancelEffectiveAt?: Instant
  resetCancelEffective: boolean
}

/** The grace period changed; moved to an end that is past, the policy lapses at once. Takes as many digits as that. */
export async function planGraceUpdate(
  before: PolicyAggregate,
  grace: GracePeriod,
  terms: GracePeriodTerms,
  context: CancellingContext,
): Promise<Planned> {
  assertGracePeriodAllows(grace, 'update')
  assertTerms(before, grace, terms)
  const { endAt, cancelEffectiveAt, resetCancelEffective } = terms
  const changed: GracePeriod = {
    ...grace,
    endAt: endAt ?? grace.endAt,
    cancelEffectiveAt: resetCancelEffective ? undefined : (cancelEffectiveAt ?? grace.cancelEffectiveAt),
    updatedAt: context.now,
  }
  const aggregate = withGracePeriod(before, changed)
  const updated: Planned = {
    aggregate,
    events: [gracePeriodEvent(aggregate, 'policy.gracePeriod.update', changed)],
    timers: changed.endAt > context.now ? [graceEndTimer(aggregate, changed)] : [],
  }
  return chain(updated, await planGraceEnd(aggregate, changed, context))
}

function assertTerms(
  { policy }: PolicyAggregate,
  grace: GracePeriod,
  { endAt, cancelEffectiveAt, resetCancelEffective }: GracePeriodTerms,
): void {
  if (endAt === undefined && cancelEffectiveAt === undefined && !resetCancelEffective)
    throw invalidRequest(
      'Nothing is to be changed: send endTimestamp, cancelEffectiveTimestamp, or resetCancelEffectiveTimestamp=true.',
    )
  if (cancelEffectiveAt !== undefined && resetCancelEffective)
    throw invalidRequest(
      'Send either cancelEffectiveTimestamp or resetCancelEffectiveTimestamp=true, not both.',
    )
  if (endAt !== undefined && endAt < grace.startAt)
    throw invalidRequest(`endTimestamp ${endAt} lies before the grace period's start ${grace.startAt}.`)
  const problem = cancelEffectiveProblem(policy, cancelEffectiveAt)
  if (problem !== undefined) throw invalidRequest(`${problem}.`)
}

/** Why the policy could not be taken off risk then; undefined where it could, or where no time is given. */
export function cancelEffectiveProblem(
  { originalStart, effectiveEnd }: Policy,
  at: Instant | undefined,
): string | undefined {
  if (at === undefined || (at >= originalStart && at < effectiveEnd)) return undefined
  return `cancelEffectiveTimestamp ${at} must lie from the contract's start ${originalStart} up to, but not including, its effective end ${effectiveEnd}`
}

/**
 * What the end of a grace period brings: the policy is cancelled by `lapse` where its product has cancellations, else it
 * lapses the legacy way; from the end, or when the grace period says; never before the policy starts. A policy that
 * had expired or been cancelled by then is left as it is. Undefined when the end has not come or it is over already.
 */
export async function planGraceEnd(
  before: PolicyAggregate,
  grace: GracePeriod,
  context: CancellingContext,
): Promise<Planned | undefined> {
  const { product, now } = context
  if (grace.state !== 'open' || grace.endAt > now) return undefined
  const { policy } = before
  const effectiveAt = later(grace.cancelEffectiveAt ?? grace.endAt, policy.originalStart)
  const isOnRisk = policyState(before) === 'issued' && policy.effectiveEnd > later(grace.endAt, effectiveAt)
  if (!isOnRisk || pastDueInvoices(before, now).length === 0) return settled(before, grace, now)
  const lapsed: GracePeriod = { ...grace, state: 'lapsed', settledAt: now, updatedAt: now }
  if (!product.cancellationTypes)
    return planLapse(withGracePeriod(before, lapsed), lapsed, effectiveAt, context)
  // Nobody is there to choose: of several categories the first.
  const type = product.cancellationTypes.find(one => one.name === LAPSE)
  const terms = {
    name: LAPSE,
    effectiveAt,
    conflictHandling: 'invalidate' as const,
    category: type?.cancellationCategories[0],
  }
  const { cancellation, ...created } = planCancellationCreation(before, terms, context)
  const issued = chain(created, await planCancellationIssue(created.aggregate, cancellation, context))
  return {
    ...issued,
    aggregate: withGracePeriod(issued.aggregate, { ...lapsed, cancellationLocator: cancellation.locator }),
  }
}

/** What was past due is paid: the open grace period is settled. Undefined while anything is past due. */
export function planSettlement(before: PolicyAggregate, now: Instant): Planned | undefined {
  const grace = openGracePeriod(before)
  return grace && pastDueInvoices(before, now).length === 0 ? settled(before, grace, now) : undefined
}

function settled(before: PolicyAggregate, grace: GracePeriod, now: Instant): Planned {
  assertGracePeriodAllows(grace, 'settle')
  const over: GracePeriod = { ...grace, state: 'settled', settledAt: now, updatedAt: now }
  return { aggregate: withGracePeriod(before, over), events: [] }
}

export const openGracePeriod = ({ gracePeriods }: PolicyAggregate): GracePeriod | undefined =>
  [...gracePeriods.values()].find(one => one.state === 'open')

const withGracePeriod = (aggregate: PolicyAggregate, grace: GracePeriod): PolicyAggregate => ({
  ...aggregate,
  gracePeriods: putRecords(aggregate.gracePeriods, [grace]),
})
