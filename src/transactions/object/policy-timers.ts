import { newUuid, type PolicyLocator, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { SYSTEM_CALLER } from '../../platform/context.ts'
import type { Timer, TimerOwner } from '../../platform/events/timers.ts'
import type { CustomEventType } from '../../platform/events/types.ts'
import { askPolicy, type PolicyOperation } from '../mechanism/kind.ts'
import { readTermEndNotice } from '../term-end.ts'

/**
 * The owner that hands a policy's timer to the policy's object. The timer's locator is the key of the operation's
 * write: fired again, what it did is found, and nothing is done twice.
 */
const ofPolicy =
  (operationOf: (timer: Timer) => PolicyOperation): TimerOwner =>
  async (timer, place) => {
    await askPolicy(place, {
      tenant: place.tenant,
      caller: SYSTEM_CALLER,
      requestId: newUuid(0),
      idempotency: { key: `timer:${timer.locator}`, bodyHash: timer.kind },
      locator: Number(timer.subject) as PolicyLocator,
      operation: operationOf(timer),
    })
  }

/** Makes the invoices that are due. */
export const invoiceDue = ofPolicy(() => ({ kind: 'invoice' }))

/** The policy's end has come, or a reminder before it. */
export const termEndDue = ofPolicy(timer => ({ kind: 'termEnd', notice: readTermEndNotice(timer) }))

/** The deadline of a reinstatement has passed. */
export const reinstatementDeadline = ofPolicy(({ payload }) => ({
  kind: 'reinstatement',
  operation: { action: 'expire', reinstatement: payload.reinstatementLocator as Uuid },
}))

/** An invoice is past due. */
export const invoicePastDue = ofPolicy(({ payload }) => ({
  kind: 'lapse',
  operation: {
    action: 'pastDue',
    invoice: payload.invoiceLocator as Uuid,
    tries: Number(payload.tries ?? 0),
    isGraceOnly: payload.isGraceOnly === 'true',
  },
}))

/** A time of a schedule of custom events has come. */
export const scheduledEventDue = ofPolicy(({ payload }) => ({
  kind: 'scheduledEvent',
  time: { type: payload.type as CustomEventType, time: Number(payload.time) as Instant },
}))

/** The cover ends by a cancellation. */
export const coverEndDue = ofPolicy(({ payload }) => ({
  kind: 'coverEnd',
  modification: payload.modificationLocator as Uuid,
}))

/** A grace period is over. */
export const gracePeriodOver = ofPolicy(({ payload }) => ({
  kind: 'lapse',
  operation: { action: 'graceEnd', gracePeriod: payload.gracePeriodLocator as Uuid },
}))

/** A lapsed policy cannot be reinstated any more. */
export const reinstatementPeriodOver = ofPolicy(({ payload }) => ({
  kind: 'lapse',
  operation: { action: 'periodEnd', reinstatement: payload.reinstatementLocator as Uuid },
}))
