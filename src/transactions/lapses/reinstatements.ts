// The reinstatement of a legacy lapse: opened, invoiced, then issued by payment or closed (brief 1.7). Pure.
//
// The contract does not say when an offer ends. Bindery uses the end of the reinstatement period: until then the invoice is
// payable, and a reinstatement that is still pending then is closed.
import { invoiceDueInstallments, invoiceTimers } from '../../billing/billing.ts'
import { planVoidInvoices } from '../../billing/payments.ts'
import { planRecords, returningInstallments, singleInstallment } from '../../billing/schedule.ts'
import { invalidRequest, wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { sumOf } from '../../kernel/money.ts'
import { endOfDay, type Instant, later } from '../../kernel/time.ts'
import {
  installmentOf,
  installmentsToInvoice,
  invoicesOf,
  planOf,
  standingInvoices,
} from '../../policy/bills/amounts-due.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import {
  appliedAmount,
  carryInvoiceForward,
  isOutstanding,
  type PlannedInstallment,
  standingPayments,
} from '../../policy/records/invoice.ts'
import {
  type Lapse,
  type LapseReinstatement,
  type LapseReinstatementState,
  reinstatementStatus,
} from '../../policy/records/transactions.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { assertNoConflicts } from '../mechanism/conflicts.ts'
import { applyReinstatement, policyOnReturn } from '../reinstatements/effect.ts'
import { newEndTimers } from '../term-end.ts'
import { reinstatementPeriodTimer } from './grace-periods.ts'
import { lapseInForce } from './lapse.ts'
import { assertLapseReinstatementAllows, lapseReinstatementEvent } from './transitions.ts'

/** Rejects with 409 a policy that is not lapsed, is past its reinstatement period, or has a pending reinstatement. */
export function planOpening(
  before: PolicyAggregate,
  { now, supply }: Pick<EffectContext, 'now' | 'supply'>,
): Planned & { reinstatement: LapseReinstatement } {
  const { locator } = before.policy
  const lapse = lapseInForce(before)
  if (!lapse)
    throw wrongState(
      `Policy ${locator} has no lapse that this operation can reinstate, or was changed since the lapse; to reinstate a cancellation, use PATCH /cancellations/{locator}/reinstate.`,
    )
  assertInPeriod(lapse, now)
  const pending = [...before.lapseReinstatements.values()].find(isPending)
  if (pending)
    throw wrongState(
      `Policy ${locator} already has the reinstatement ${pending.locator}, which is ${reinstatementStatus(pending)}; close it first.`,
    )
  const reinstatement: LapseReinstatement = {
    locator: supply.uuid(),
    lapseLocator: lapse.locator,
    statuses: [{ at: now, status: 'open' }],
    createdAt: now,
    updatedAt: now,
  }
  const aggregate = withLapseReinstatement(before, reinstatement)
  return {
    aggregate,
    reinstatement,
    events: [lapseReinstatementEvent(aggregate, 'policy.reinstatement.open', reinstatement)],
    timers: [reinstatementPeriodTimer(aggregate, lapse, reinstatement)],
  }
}

/** Restores the coverage, not issued yet, and creates the invoice whose payment issues it. Takes two digit locators. */
export function planInvoicing(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  effectiveAt: Instant,
  context: EffectContext,
): Planned {
  const { now } = context
  assertLapseReinstatementAllows(reinstatement, 'invoice')
  assertNoConflicts(before, reinstatement.locator)
  const { aggregate: prepared, modification } = prepareReinstatement(
    before,
    reinstatement,
    effectiveAt,
    context,
  )
  const billed = invoiceDueInstallments(prepared, modification, context)
  const invoiced: LapseReinstatement = {
    ...withStatus(reinstatement, 'invoiced', now),
    effectiveAt: modification.effectiveAt,
    modificationLocator: modification.locator,
  }
  const aggregate = withLapseReinstatement(
    { ...billed.aggregate, policy: { ...billed.aggregate.policy, updatedAt: now } },
    invoiced,
  )
  return {
    aggregate,
    events: [lapseReinstatementEvent(aggregate, 'policy.reinstatement.invoice', invoiced), ...billed.events],
  }
}

/**
 * Returns the policy with the restored coverage and its plan, with nothing issued or invoiced yet. Rejects with 400 a time
 * outside the reinstatement period. Takes one digit locator.
 */
export function prepareReinstatement(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  effectiveAt: Instant,
  context: EffectContext,
): { aggregate: PolicyAggregate; modification: Modification } {
  const { now } = context
  const lapse = before.lapses.get(reinstatement.lapseLocator)!
  if (lapseInForce(before) !== lapse)
    throw wrongState(
      `Policy ${before.policy.locator} was changed since it lapsed, so it cannot be reinstated this way; close reinstatement ${reinstatement.locator}.`,
    )
  assertInPeriod(lapse, now)
  const { lapsedAt, reinstatementPeriodEndAt } = lapse
  if (effectiveAt < lapsedAt || effectiveAt > reinstatementPeriodEndAt)
    throw invalidRequest(
      `reinstatementTimestamp ${effectiveAt} must be between the lapse at ${lapsedAt} and the end of the reinstatement period at ${reinstatementPeriodEndAt}.`,
    )
  const cancellation = before.modifications.get(lapse.modificationLocator)!
  const order = { cancellation, effectiveAt, transactionLocator: reinstatement.locator }
  const { aggregate, modification } = applyReinstatement(before, order, context)
  const installments = putRecords(
    aggregate.installments,
    reinstatementPlan(before, modification, cancellation, reinstatementPeriodEndAt, context),
  )
  return { aggregate: { ...aggregate, installments }, modification }
}

/**
 * Issues the reinstatement once its invoice is paid: the coverage is back, and the installments after the first continue. An
 * unpaid refund of the lapse is part of the reinstatement's invoice, so it is settled here. Takes `digitsForIssue` digit
 * locators.
 */
export function planIssue(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  { product, now, supply }: EffectContext,
): Planned {
  assertLapseReinstatementAllows(reinstatement, 'issue')
  const modification: Modification = {
    ...before.modifications.get(reinstatement.modificationLocator!)!,
    issuedAt: now,
    updatedAt: now,
  }
  const issued = withStatus(reinstatement, 'issued', now)
  const [first] = planOf(before, modification)
  const takenOver = new Set(first?.takesOver)
  const settled = [...before.invoices.values()]
    .filter(invoice => isOutstanding(invoice) && takenOver.has(installmentOf(before, invoice).locator))
    .map(invoice => carryInvoiceForward(invoice, now))
  const reinstatedPolicy = withLapseReinstatement(
    {
      ...before,
      policy: { ...policyOnReturn(before, modification), updatedAt: now },
      modifications: putRecords(before.modifications, [modification]),
      invoices: putRecords(before.invoices, settled),
    },
    issued,
  )
  const billing = withInvoicesFromNow(reinstatedPolicy, modification, now)
  const invoiced = invoiceDueInstallments(billing, modification, { now, supply })
  return {
    aggregate: invoiced.aggregate,
    events: [lapseReinstatementEvent(billing, 'policy.reinstatement.issue', issued), ...invoiced.events],
    timers: [
      ...invoiceTimers(billing, modification, now),
      ...newEndTimers(billing.policy, before.policy.effectiveEnd, product, now),
    ],
  }
}

/** Counts one for each installment that is invoiced by then. */
export function digitsForIssue(
  before: PolicyAggregate,
  { modificationLocator }: LapseReinstatement,
  now: Instant,
): number {
  const modification = before.modifications.get(modificationLocator!)!
  return installmentsToInvoice(before, { ...modification, issuedAt: now }, now).length
}

/** Closes a pending reinstatement once its period is over. Returns undefined when there is nothing to close. */
export function planPeriodEnd(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement | undefined,
  now: Instant,
): Planned | undefined {
  if (!reinstatement || !isPending(reinstatement)) return undefined
  const lapse = before.lapses.get(reinstatement.lapseLocator)!
  return lapse.reinstatementPeriodEndAt <= now ? planClosing(before, reinstatement, now) : undefined
}

/** Whether the reinstatement can still be issued or closed. */
export const isPending = (one: LapseReinstatement): boolean =>
  reinstatementStatus(one) === 'open' || reinstatementStatus(one) === 'invoiced'

const withStatus = (
  reinstatement: LapseReinstatement,
  status: LapseReinstatementState,
  now: Instant,
): LapseReinstatement => ({
  ...reinstatement,
  statuses: [...reinstatement.statuses, { at: now, status }],
  updatedAt: now,
})

const withLapseReinstatement = (
  aggregate: PolicyAggregate,
  reinstatement: LapseReinstatement,
): PolicyAggregate => ({
  ...aggregate,
  lapseReinstatements: putRecords(aggregate.lapseReinstatements, [reinstatement]),
})

function assertInPeriod({ lapsedAt, reinstatementPeriodEndAt }: Lapse, now: Instant): void {
  if (reinstatementPeriodEndAt <= lapsedAt)
    throw wrongState(
      'The product has no reinstatementPeriodDays, so its policies cannot be reinstated after a lapse.',
    )
  if (reinstatementPeriodEndAt < now)
    throw wrongState(
      `The reinstatement period ended at ${reinstatementPeriodEndAt}; the policy can no longer be reinstated.`,
    )
}

/** Closes an offer that was not accepted: voids the invoice, reverses its payments and invalidates the modification. */
export function planClosing(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  now: Instant,
): Planned {
  assertLapseReinstatementAllows(reinstatement, 'close')
  const closed = withStatus(reinstatement, 'closed', now)
  const withClosed = withLapseReinstatement(before, closed)
  const modification = closed.modificationLocator && before.modifications.get(closed.modificationLocator)
  if (!modification)
    return {
      aggregate: withClosed,
      events: [lapseReinstatementEvent(withClosed, 'policy.reinstatement.close', closed)],
    }
  const voided = planVoidInvoices(withClosed, invoicesOf(before, modification), now)
  const invalidated = { ...modification, invalidatedAt: now, updatedAt: now }
  const aggregate: PolicyAggregate = {
    ...voided.aggregate,
    policy: { ...before.policy, updatedAt: now },
    modifications: putRecords(before.modifications, [invalidated]),
  }
  return {
    aggregate,
    events: [...voided.events, lapseReinstatementEvent(aggregate, 'policy.reinstatement.close', closed)],
  }
}

/**
 * Plans the installments. The first asks for everything up to the reinstatement, and is payable until `dueAt`. Installments of
 * the lapse that are due after that day keep their own dates and amounts, so the first leaves them out.
 */
function reinstatementPlan(
  before: PolicyAggregate,
  modification: Modification,
  lapse: Modification,
  dueAt: Instant,
  { now, supply }: EffectContext,
): PlannedInstallment[] {
  const [ofLapse] = planOf(before, lapse)
  const endOfThatDay = endOfDay(modification.effectiveAt, before.policy.timeZone)
  const returning = installmentsEndedBy(before, lapse).filter(one => one.dueAt > endOfThatDay)
  const isUnpaid = standingPayments(before, invoicesOf(before, lapse)[0]!).length === 0
  const paidBefore = reversedSince(before, ofLapse!)
  const own = {
    ...singleInstallment(before, modification, now),
    dueAt,
    ...(Object.keys(paidBefore).length > 0 && { paidBefore }),
    ...(isUnpaid && { takesOver: [ofLapse!.locator] }),
    leavesOut: returning.map(one => one.locator),
  }
  return planRecords([own, ...returningInstallments(returning)], modification, supply)
}

/** Returns, by installment, the minor units that the lapse counted as paid and that were reversed since. No bill asks for them. */
function reversedSince(
  before: PolicyAggregate,
  { paidBefore = {} }: PlannedInstallment,
): Record<Uuid, number> {
  const bounced = standingInvoices(before).flatMap(invoice => {
    const { locator } = installmentOf(before, invoice)
    const paid = sumOf(standingPayments(before, invoice), appliedAmount, before.policy.currency)
    const minor = (paidBefore[locator] ?? paid.minor) - paid.minor
    return minor === 0 ? [] : [[locator, minor] as const]
  })
  return Object.fromEntries(bounced)
}

/** Returns the installments that the lapse wrote off or dropped, by due time. */
const installmentsEndedBy = (
  { installments }: PolicyAggregate,
  { locator }: Modification,
): PlannedInstallment[] =>
  [...installments.values()]
    .filter(one => one.absorbedBy.includes(locator))
    .sort((a, b) => a.dueAt - b.dueAt || a.start - b.start)

/** Moves the invoices of installments after the first so that none is issued before now. */
function withInvoicesFromNow(
  before: PolicyAggregate,
  modification: Modification,
  now: Instant,
): PolicyAggregate {
  const endOfToday = endOfDay(now, before.policy.timeZone)
  const moved = planOf(before, modification)
    .filter(one => one.number > 1)
    .map(one => ({ ...one, issueAt: later(one.issueAt, now), dueAt: later(one.dueAt, endOfToday) }))
  return { ...before, installments: putRecords(before.installments, moved) }
}
