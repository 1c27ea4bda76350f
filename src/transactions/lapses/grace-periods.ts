// The life of a grace period (brief 1.5). Pure. A past-due invoice starts it. It ends when everything past due is paid, or when
// the policy is taken off risk.
//
// A policy has at most one open grace period, which names the invoice that started it. It is settled only when *all* past-due
// invoices are paid (brief 1.5), so a second invoice that becomes past due joins the open one and gets no period of its own. An
// invoice whose payment is reversed is due again by the end of that day (brief 4.4) and then starts a new grace period: a settled
// one never reopens.
import { invalidRequest } from '../../kernel/errors.ts'
import {
  derivedUuid,
  type PolicyLocator,
  shardOfDigits,
  shardOfUuid,
  type Uuid,
} from '../../kernel/locators.ts'
import { add, endOfDay, type Instant, later, type TimeZone } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { TimerKind } from '../../platform/tables.ts'
import { totalDueOf, totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { isCoveredAfter } from '../../policy/fold/line.ts'
import { type Policy, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import type {
  GracePeriod,
  Lapse,
  LapseReinstatement,
  ModificationKind,
} from '../../policy/records/transactions.ts'
import { combineSteps, invoiceEvent, type Planned, policyState } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { EffectContext } from '../../rating/rate.ts'
import {
  type CancellingContext,
  LAPSE,
  planCancellationCreation,
  planCancellationIssue,
} from '../cancellations/decision.ts'
import { planLapse } from './lapse.ts'
import { assertGracePeriodAllows, gracePeriodEvent } from './transitions.ts'

/** The digit locators that a lapse takes: a cancellation, its modification and its invoice. */
export const DIGITS_FOR_LAPSE = 3

/** Terms that override the product's. */
export type GraceStartTerms = { readonly endAt?: Instant; readonly cancelEffectiveAt?: Instant }

/** `endAt` follows the product's days unless the invoice sets another end. */
export type GraceStart = { readonly invoice: Invoice; readonly startAt: Instant; readonly endAt: Instant }

/**
 * Returns the grace period that the invoice starts at its due time. It lasts the product's days by the calendar of the policy's
 * zone, unless the migration, or the plugin when a payment was reversed, set another end. After an upgrade (`isUpgraded`) the
 * days count from now if they would be over, since the policyholder had no grace before. Undefined when the invoice starts none:
 *
 * - It is paid or not past due.
 * - The policy is withdrawn, or had ended by the due time (by now, if an end was set or after an upgrade), so there is no cover
 *   left to lose.
 * - Another grace period is open, or the invoice already started one from that due time.
 * - The product has no grace periods, or the invoice is a refund.
 */
export function graceStart(
  before: PolicyAggregate,
  invoiceLocator: Uuid,
  { product, now, isUpgraded = false }: Pick<EffectContext, 'product' | 'now'> & { isUpgraded?: boolean },
): GraceStart | undefined {
  const { gracePeriodDays } = product.lapse
  const invoice = before.invoices.get(invoiceLocator)
  const startAt = invoice && pastDueFrom(before, invoice)
  if (gracePeriodDays === undefined || !invoice || startAt === undefined || startAt > now) return undefined
  // Cover counts as lost from the due time, however late this runs. A set end may be much later, so there it counts from now.
  const isEndSet = isGraceEndSet(invoice, startAt)
  const coveredUntil = isEndSet || isUpgraded ? now : startAt
  if (policyState(before) !== 'issued' || before.policy.effectiveEnd <= coveredUntil) return undefined
  if (openGracePeriod(before) || !isOwed(before, invoice)) return undefined
  const began = [...before.gracePeriods.values()].some(
    one => one.invoiceLocator === invoiceLocator && one.startAt === startAt,
  )
  if (began) return undefined
  const { timeZone } = before.policy
  const fromNow = isUpgraded ? graceFromNow(startAt, gracePeriodDays, now, timeZone) : undefined
  const ofProduct = fromNow ?? endOfGrace(startAt, gracePeriodDays, timeZone)
  return { invoice, startAt, endAt: isEndSet ? invoice.graceEndAt : ofProduct }
}

/**
 * Returns the end of the given number of days after the due time. A start at the end of a day gives the end of a day: where
 * clocks go back at midnight, the last hour comes twice, and the day ends with the second one.
 */
export function endOfGrace(startAt: Instant, days: number, timeZone: TimeZone): Instant {
  const endAt = add(startAt, days, 'day', timeZone)
  return startAt === endOfDay(startAt, timeZone) ? endOfDay(endAt, timeZone) : endAt
}

/**
 * Returns the end of the days counted from now if those counted from `startAt` are over, and otherwise undefined. For a
 * policyholder who had no grace before.
 */
export function graceFromNow(
  startAt: Instant,
  days: number,
  now: Instant,
  timeZone: TimeZone,
): Instant | undefined {
  if (endOfGrace(startAt, days, timeZone) > now) return undefined
  return endOfDay(add(now, days, 'day', timeZone), timeZone)
}

/** Whether a set end counts. It no longer does once extended cover has moved the past-due time. */
export const isGraceEndSet = (
  invoice: Invoice,
  startAt: Instant,
): invoice is Invoice & { graceEndAt: Instant } =>
  invoice.graceEndAt !== undefined && invoice.graceEndAt >= startAt

/** Opens a grace period for the invoice. `terms` come from a plugin and take precedence over those of the product. */
export const planGraceStart = (
  before: PolicyAggregate,
  { invoice, startAt, endAt }: GraceStart,
  { now, supply }: Pick<EffectContext, 'now' | 'supply'>,
  terms: GraceStartTerms = {},
): Planned =>
  planGrace(before, 'policy.gracePeriod', {
    locator: supply.uuid(),
    invoiceLocator: invoice.locator,
    state: 'open',
    startAt,
    endAt: terms.endAt ?? endAt,
    cancelEffectiveAt: terms.cancelEffectiveAt,
    createdAt: now,
    updatedAt: now,
  })

function planGrace(
  before: PolicyAggregate,
  event: Parameters<typeof gracePeriodEvent>[1],
  grace: GracePeriod,
): Planned {
  const aggregate = withGracePeriod(before, grace)
  const timers = [graceEndTimer(aggregate, grace)]
  return { aggregate, events: [gracePeriodEvent(aggregate, event, grace)], timers }
}

/** Moves the end of the open grace period. Its timer fires immediately if the end has passed. Undefined when nothing changes. */
export function planGraceEndMove(before: PolicyAggregate, endAt: Instant, now: Instant): Planned | undefined {
  const grace = openGracePeriod(before)
  if (!grace || grace.endAt === endAt) return undefined
  assertGracePeriodAllows(grace, 'update')
  return planGrace(before, 'policy.gracePeriod.update', { ...grace, endAt, updatedAt: now })
}

export type GracePeriodTerms = {
  endAt?: Instant
  cancelEffectiveAt?: Instant
  resetCancelEffective: boolean
}

/**
 * Changes an open grace period. If the new end has passed, the policy lapses now, which takes `DIGITS_FOR_LAPSE` digit locators.
 */
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
  const { timers, ...updated } = planGrace(before, 'policy.gracePeriod.update', changed)
  const isOver = changed.endAt <= context.now
  return combineSteps(
    isOver ? updated : { ...updated, timers },
    await planGraceEnd(updated.aggregate, changed, context),
  )
}

function assertTerms(
  { policy }: PolicyAggregate,
  grace: GracePeriod,
  { endAt, cancelEffectiveAt, resetCancelEffective }: GracePeriodTerms,
): void {
  if (endAt === undefined && cancelEffectiveAt === undefined && !resetCancelEffective)
    throw invalidRequest(
      'The request changes nothing: send endTimestamp, cancelEffectiveTimestamp, or resetCancelEffectiveTimestamp=true.',
    )
  if (cancelEffectiveAt !== undefined && resetCancelEffective)
    throw invalidRequest(
      'Send either cancelEffectiveTimestamp or resetCancelEffectiveTimestamp=true, not both.',
    )
  if (endAt !== undefined && endAt < grace.startAt)
    throw invalidRequest(`endTimestamp ${endAt} is before the grace period's start ${grace.startAt}.`)
  const problem = cancelEffectiveProblem(policy, cancelEffectiveAt)
  if (problem !== undefined) throw invalidRequest(`${problem}.`)
}

/** Returns why the policy cannot be taken off risk at that time, for a message. Undefined when it can, or if no time is given. */
export function cancelEffectiveProblem(
  { originalStart, effectiveEnd }: Policy,
  at: Instant | undefined,
): string | undefined {
  if (at === undefined || (at >= originalStart && at < effectiveEnd)) return undefined
  return `cancelEffectiveTimestamp ${at} must be at or after the contract's start ${originalStart} and before its effective end ${effectiveEnd}`
}

/**
 * Cancels the policy by `lapse` if its product has cancellations, and otherwise lapses it the legacy way. Takes effect at the end
 * of the grace period or at its `cancelEffectiveAt`, but never before the policy starts. A policy whose cover has ended by then
 * does not change; its grace period is settled. Returns undefined if the end has not come, or if the period is already over.
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
  if (!isOnRisk || !isCoveredAfter(before, effectiveAt) || pastDueInvoices(before, now).length === 0)
    return settleGracePeriod(before, grace, now)
  const lapsed: GracePeriod = { ...grace, state: 'lapsed', settledAt: now, updatedAt: now }
  if (!product.cancellationTypes)
    return planLapse(withGracePeriod(before, lapsed), lapsed, effectiveAt, context)
  // The clock cannot choose a category, so it takes the first.
  const type = product.cancellationTypes.find(one => one.name === LAPSE)
  const terms = {
    name: LAPSE,
    effectiveAt,
    conflictHandling: 'invalidate' as const,
    category: type?.cancellationCategories[0],
  }
  const { cancellation, ...created } = planCancellationCreation(before, terms, context)
  const issued = combineSteps(created, await planCancellationIssue(created.aggregate, cancellation, context))
  return {
    ...issued,
    aggregate: withGracePeriod(issued.aggregate, { ...lapsed, cancellationLocator: cancellation.locator }),
  }
}

/** Settles the open grace period. Returns undefined while an invoice is past due. */
export function planSettlement(before: PolicyAggregate, now: Instant): Planned | undefined {
  const grace = openGracePeriod(before)
  return grace && pastDueInvoices(before, now).length === 0
    ? settleGracePeriod(before, grace, now)
    : undefined
}

function settleGracePeriod(before: PolicyAggregate, grace: GracePeriod, now: Instant): Planned {
  assertGracePeriodAllows(grace, 'settle')
  const settledGrace: GracePeriod = { ...grace, state: 'settled', settledAt: now, updatedAt: now }
  return { aggregate: withGracePeriod(before, settledGrace), events: [] }
}

/** Returns the open grace period. A policy has at most one. */
export const openGracePeriod = ({ gracePeriods }: PolicyAggregate): GracePeriod | undefined =>
  [...gracePeriods.values()].find(one => one.state === 'open')

const withGracePeriod = (aggregate: PolicyAggregate, grace: GracePeriod): PolicyAggregate => ({
  ...aggregate,
  gracePeriods: putRecords(aggregate.gracePeriods, [grace]),
})

// Timers of unpaid invoices. Their locators are derived, so setting one again does not add a second.
export const PAST_DUE_TIMER = 'invoice.pastDue'
export const GRACE_END_TIMER = 'policy.gracePeriod.end'
export const REINSTATEMENT_PERIOD_TIMER = 'policy.reinstatement.periodEnd'

const timer = (
  policy: PolicyLocator,
  kind: TimerKind,
  property: string,
  record: Uuid,
  dueAt: Instant,
): NewTimer => ({
  locator: derivedUuid(shardOfDigits(policy), kind, record, String(dueAt)),
  dueAt,
  kind,
  subject: String(policy),
  payload: { [property]: record },
})

/**
 * Returns a timer for each invoice that a write creates, reopens or moves. An invoice that only extended cover moves is not reported
 * again, because its due time is the same. Derived from the policy before and after, so that no operation can forget one.
 */
export function pastDueTimers(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { lapse }: Pick<ProductDefinition, 'lapse'>,
): NewTimer[] {
  const upgradedTo =
    before &&
    before.policy.configVersion !== after.policy.configVersion &&
    lapse.gracePeriodDays !== undefined
      ? after.policy.configVersion
      : undefined
  if (
    upgradedTo === undefined &&
    before?.invoices === after.invoices &&
    before.modifications === after.modifications
  )
    return []
  return [...after.invoices.values()].flatMap(invoice => {
    const from = pastDueFrom(after, invoice)
    const was = before?.invoices.get(invoice.locator)
    const formerFrom = before && was && pastDueFrom(before, was)
    if (from === undefined) return []
    const due = timer(after.policy.locator, PAST_DUE_TIMER, 'invoiceLocator', invoice.locator, from)
    if (formerFrom === from) return upgradedTo === undefined ? [] : [graceOnlyTimer(due, upgradedTo)]
    // Only extended cover moves the time of an unpaid invoice that keeps its due time, and the former time has passed by then.
    const isReported = formerFrom !== undefined && was!.dueAt === invoice.dueAt
    return [isReported ? { ...due, payload: { ...due.payload, isReported: 'true' } } : due]
  })
}

/**
 * Checks the invoice again, since the new version may be the first in which the product has grace periods. If it is past due, its
 * event was already sent and is not sent again. The locator includes the version, so that this timer differs from the first.
 */
const graceOnlyTimer = (due: NewTimer, configVersion: number): NewTimer => ({
  ...due,
  locator: derivedUuid(shardOfUuid(due.locator!), PAST_DUE_TIMER, due.locator!, String(configVersion)),
  payload: { ...due.payload, isGraceOnly: 'true' },
})

/** Checks the invoice again after the plugin for its grace period failed `tries` times. */
export function pastDueRetryTimer(
  policy: PolicyLocator,
  invoice: Uuid,
  dueAt: Instant,
  { tries, isUpgraded }: { tries: number; isUpgraded: boolean },
): NewTimer {
  const again = timer(policy, PAST_DUE_TIMER, 'invoiceLocator', invoice, dueAt)
  const payload = { ...again.payload, tries: String(tries), ...(isUpgraded && { isGraceOnly: 'true' }) }
  return { ...again, payload }
}

const graceEndTimer = ({ policy }: PolicyAggregate, { locator, endAt }: GracePeriod): NewTimer =>
  timer(policy.locator, GRACE_END_TIMER, 'gracePeriodLocator', locator, endAt)

/** Returns the timer that closes the reinstatement at the end of the lapse's reinstatement period. */
export const reinstatementPeriodTimer = (
  { policy }: PolicyAggregate,
  { reinstatementPeriodEndAt }: Lapse,
  { locator }: LapseReinstatement,
): NewTimer =>
  timer(policy.locator, REINSTATEMENT_PERIOD_TIMER, 'reinstatementLocator', locator, reinstatementPeriodEndAt)

/** Kinds that restart the past-due time of unpaid invoices. */
const PROLONGING: ReadonlySet<ModificationKind> = new Set(['renewal', 'reinstatement'])

/**
 * Returns the time from which the invoice is past due if it stays unpaid. Undefined when the transaction is not issued or the
 * invoice is settled. The time is the latest of:
 *
 * - its due time;
 * - the issue of its transaction, because nobody loses cover over a transaction that is only accepted;
 * - the last renewal or reinstatement, which gives unpaid invoices a new start.
 */
export function pastDueFrom({ modifications }: PolicyAggregate, invoice: Invoice): Instant | undefined {
  const issuedAt = modifications.get(invoice.policyModificationLocator)?.issuedAt
  if (issuedAt === undefined || !isOutstanding(invoice)) return undefined
  let from = later(invoice.dueAt, issuedAt)
  for (const one of modifications.values())
    if (one.issuedAt !== undefined && PROLONGING.has(one.kind)) from = later(from, one.issuedAt)
  return from
}

/** Whether the invoice asks for money. A refund that the insurer owes is never past due. */
export const isOwed = (aggregate: PolicyAggregate, invoice: Invoice): boolean =>
  totalDueOf(aggregate, invoice).minor > 0

function pastDueInvoices(aggregate: PolicyAggregate, now: Instant): Invoice[] {
  const totalDueOf = totalsDueOf(aggregate)
  return [...aggregate.invoices.values()].filter(invoice => {
    const from = pastDueFrom(aggregate, invoice)
    return from !== undefined && from <= now && totalDueOf(invoice).minor > 0
  })
}

/** Returns the past-due event (brief 9). Undefined when the invoice is paid, void or no longer past due. */
export function planPastDueNotice(
  aggregate: PolicyAggregate,
  invoiceLocator: Uuid,
  now: Instant,
): Planned | undefined {
  const invoice = aggregate.invoices.get(invoiceLocator)
  const from = invoice && pastDueFrom(aggregate, invoice)
  if (!invoice || from === undefined || from > now) return undefined
  const totalDue = totalDueOf(aggregate, invoice)
  if (totalDue.minor <= 0) return undefined
  return { aggregate, events: [invoiceEvent(aggregate, 'invoice.pastDue', invoice, totalDue)] }
}
