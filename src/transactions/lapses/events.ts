import type { Uuid } from '../../kernel/locators.ts'
import type { EventType } from '../../platform/events/catalogue.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { GracePeriod, Lapse, LapseReinstatement } from '../../policy/records/transactions.ts'
import { policyEvent } from '../../policy/transitions.ts'

/** An event of a grace period (brief 9). */
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

/** An event of the reinstatement of a legacy lapse; its invoice is named once there is one. */
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

/** The invoice that the reinstatement waits for, and is issued by. */
export function reinstatementInvoice(
  aggregate: PolicyAggregate,
  { modificationLocator }: LapseReinstatement,
) {
  const modification = modificationLocator && aggregate.modifications.get(modificationLocator)
  return modification
    ? invoicesOf(aggregate, modification).find(invoice => invoice.installmentNumber === 1)
    : undefined
}
