// Transitions of grace periods and of reinstatements of legacy lapses (brief 1.5, 1.7), and their events (brief 9). Payments and
// the clock settle a grace period, and the clock lapses it. No request names either action.
import type { Uuid } from '../../kernel/locators.ts'
import type { EventType } from '../../platform/events/catalogue.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  type GracePeriod,
  type GracePeriodState,
  type Lapse,
  type LapseReinstatement,
  type LapseReinstatementState,
  reinstatementStatus,
} from '../../policy/records/transactions.ts'
import { policyEvent } from '../../policy/transitions.ts'

export type GracePeriodAction = 'update' | 'settle' | 'lapse'

export const GRACE_PERIOD_TRANSITIONS: TransitionTable<GracePeriodAction, GracePeriodState> = {
  update: { from: ['open'], to: 'open', event: 'policy.gracePeriod.update', past: 'updated' },
  settle: { from: ['open'], to: 'settled', past: 'settled' },
  lapse: { from: ['open'], to: ['lapsed'], event: ['policy.cancel', 'policy.lapse'], past: 'lapsed' },
}

/** Throws 409 if the grace period's state does not allow the action. */
export const assertGracePeriodAllows = (grace: GracePeriod, action: GracePeriodAction): void =>
  assertAllowed(GRACE_PERIOD_TRANSITIONS, `Grace period ${grace.locator}`, grace.state, action)

export type LapseReinstatementAction = 'invoice' | 'issue' | 'close'

/** Paying the invoice is the action `issue`. */
export const LAPSE_REINSTATEMENT_TRANSITIONS: TransitionTable<
  LapseReinstatementAction,
  LapseReinstatementState
> = {
  invoice: { from: ['open'], to: 'invoiced', event: 'policy.reinstatement.invoice', past: 'invoiced' },
  issue: { from: ['invoiced'], to: 'issued', event: 'policy.reinstatement.issue', past: 'issued' },
  close: { from: ['open', 'invoiced'], to: 'closed', event: 'policy.reinstatement.close', past: 'closed' },
}

/** Throws 409 if the state of the lapse's reinstatement does not allow the action. */
export const assertLapseReinstatementAllows = (
  reinstatement: LapseReinstatement,
  action: LapseReinstatementAction,
): void =>
  assertAllowed(
    LAPSE_REINSTATEMENT_TRANSITIONS,
    `Reinstatement ${reinstatement.locator}`,
    reinstatementStatus(reinstatement),
    action,
  )

export const gracePeriodEvent = (
  aggregate: PolicyAggregate,
  type: 'policy.gracePeriod' | 'policy.gracePeriod.update',
  { locator, invoiceLocator, startAt, endAt, cancelEffectiveAt }: GracePeriod,
): NewEvent =>
  policyEvent(aggregate, type, {
    gracePeriodLocator: locator,
    invoiceLocator,
    start: String(startAt),
    end: String(endAt),
    ...(cancelEffectiveAt !== undefined && { cancelEffectiveTimestamp: String(cancelEffectiveAt) }),
  })

export const lapseEvent = (
  aggregate: PolicyAggregate,
  { locator, gracePeriodLocator, modificationLocator, lapsedAt }: Lapse,
  invoiceLocator: Uuid,
): NewEvent =>
  policyEvent(aggregate, 'policy.lapse', {
    lapseLocator: locator,
    gracePeriodLocator,
    invoiceLocator,
    modificationLocator,
    effectiveTimestamp: String(lapsedAt),
  })

/** Has no `invoiceLocator` until there is an invoice. */
export function lapseReinstatementEvent(
  aggregate: PolicyAggregate,
  type: EventType & `policy.reinstatement.${string}`,
  reinstatement: LapseReinstatement,
): NewEvent {
  const invoiceLocator = reinstatementInvoice(aggregate, reinstatement)?.locator
  return policyEvent(aggregate, type, {
    reinstatementLocator: reinstatement.locator,
    lapseLocator: reinstatement.lapseLocator,
    ...(invoiceLocator !== undefined && { invoiceLocator }),
    ...(reinstatement.effectiveAt !== undefined && {
      effectiveTimestamp: String(reinstatement.effectiveAt),
    }),
  })
}

/** Returns the invoice whose payment issues the reinstatement. */
export function reinstatementInvoice(
  aggregate: PolicyAggregate,
  { modificationLocator }: LapseReinstatement,
) {
  const modification = modificationLocator && aggregate.modifications.get(modificationLocator)
  return modification
    ? invoicesOf(aggregate, modification).find(invoice => invoice.installmentNumber === 1)
    : undefined
}
