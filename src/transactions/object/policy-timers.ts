// Timers of policies, and the operation that each performs on the policy when it fires.
import { newUuid, type PolicyLocator, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import { SYSTEM_CALLER } from '../../platform/context.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import type { CustomEventType } from '../../platform/events/types.ts'
import type { TimerKind } from '../../platform/tables.ts'
import type { PolicyOperation } from '../mechanism/kind.ts'
import { sendToPolicy } from '../mechanism/message.ts'
import { readTermEndNotice } from '../term-end.ts'

type DueTimer = Pick<NewTimer, 'kind' | 'payload'> & { readonly dueAt: number }

/** The end of the policy, or a reminder before it. */
const termEnd = (timer: DueTimer): PolicyOperation => ({ kind: 'termEnd', notice: readTermEndNotice(timer) })

const OPERATIONS: { readonly [K in TimerKind]?: (timer: DueTimer) => PolicyOperation } = {
  'cancellation.effective': ({ payload }) => ({
    kind: 'coverEnd',
    modification: payload.modificationLocator as Uuid,
  }),
  'event.schedule': ({ payload }) => ({
    kind: 'scheduledEvent',
    time: { type: payload.type as CustomEventType, time: Number(payload.time) as Instant },
  }),
  'invoice.pastDue': ({ payload }) => ({
    kind: 'lapse',
    operation: {
      action: 'pastDue',
      invoice: payload.invoiceLocator as Uuid,
      tries: Number(payload.tries ?? 0),
      isReported: payload.isReported === 'true',
      isGraceOnly: payload.isGraceOnly === 'true',
    },
  }),
  'policy.end': termEnd,
  'policy.end.reminder': termEnd,
  'policy.gracePeriod.end': ({ payload }) => ({
    kind: 'lapse',
    operation: { action: 'graceEnd', gracePeriod: payload.gracePeriodLocator as Uuid },
  }),
  // Does not bill later installments, which have their own timers: another event may end the policy before they are due.
  'policy.invoice': ({ dueAt }) => ({ kind: 'invoice', until: dueAt as Instant }),
  'policy.reinstatement.periodEnd': ({ payload }) => ({
    kind: 'lapse',
    operation: { action: 'periodEnd', reinstatement: payload.reinstatementLocator as Uuid },
  }),
  'reinstatement.deadline': ({ payload }) => ({
    kind: 'reinstatement',
    operation: { action: 'expire', reinstatement: payload.reinstatementLocator as Uuid },
  }),
}

/** Returns the operation that a due timer carries out. */
export function operationOfTimer(timer: DueTimer): PolicyOperation {
  const operationOf = OPERATIONS[timer.kind]
  if (!operationOf) throw new Error(`'${timer.kind}' is not a timer of a policy.`)
  return operationOf(timer)
}

/**
 * Sends the timer to the policy's object. The timer's locator is the idempotency key of the write, so a timer that fires twice
 * finds its first result and does nothing.
 */
export const policyTimerDue: TimerOwner = async (timer, place) => {
  await sendToPolicy(place, {
    tenant: place.tenant,
    caller: SYSTEM_CALLER,
    requestId: newUuid(0),
    idempotency: { key: `timer:${timer.locator}`, bodyHash: timer.kind },
    locator: Number(timer.subject) as PolicyLocator,
    operation: operationOfTimer(timer),
  })
}
