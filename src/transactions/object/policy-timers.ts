import { newUuid, type PolicyLocator, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { SYSTEM_CALLER } from '../../platform/context.ts'
import type { Timer, TimerOwner } from '../../platform/events/timers.ts'
import type { CustomEventType } from '../../platform/events/types.ts'
import { askPolicy, type PolicyOperation } from '../mechanism/kind.ts'
import { readTermEndNotice } from '../term-end.ts'

/**
 * The owner that sends a policy's timer to the policy's object. The timer's locator is the idempotency key of
 * the write: a timer that fires twice finds its first result and does nothing.
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

export const invoiceDue = ofPolicy(() => ({ kind: 'invoice' }))

/** The end of the policy, or a reminder before it. */
export const termEndDue = ofPolicy(timer => ({ kind: 'termEnd', notice: readTermEndNotice(timer) }))

export const reinstatementDeadline = ofPolicy(({ payload }) => ({
  kind: 'reinstatement',
  operation: { action: 'expire', reinstatement: payload.reinstatementLocator as Uuid },
}))

export const invoicePastDue = ofPolicy(({ payload }) => ({
  kind: 'lapse',
  operation: {
    action: 'pastDue',
    invoice: payload.invoiceLocator as Uuid,
    tries: Number(payload.tries ?? 0),
    isGraceOnly: payload.isGraceOnly === 'true',
  },
}))

export const scheduledEventDue = ofPolicy(({ payload }) => ({
  kind: 'scheduledEvent',
  time: { type: payload.type as CustomEventType, time: Number(payload.time) as Instant },
}))

export const coverEndDue = ofPolicy(({ payload }) => ({
  kind: 'coverEnd',
  modification: payload.modificationLocator as Uuid,
}))

export const gracePeriodOver = ofPolicy(({ payload }) => ({
  kind: 'lapse',
  operation: { action: 'graceEnd', gracePeriod: payload.gracePeriodLocator as Uuid },
}))

export const reinstatementPeriodOver = ofPolicy(({ payload }) => ({
  kind: 'lapse',
  operation: { action: 'periodEnd', reinstatement: payload.reinstatementLocator as Uuid },
}))
