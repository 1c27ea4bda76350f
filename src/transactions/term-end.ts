// The end of a policy, and the reminders before it (brief 9): timers for what is still to come, and what happens
// when one goes off. Whatever moves a policy's end sets the timers of the new end; those of an old end find another
// when they go off.
import { derivedUuid, shardOfDigits } from '../kernel/locators.ts'
import { add, earlier, type Instant } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import type { TimerKind } from '../platform/tables.ts'
import { isIssued, standingCancellations } from '../policy/fold/line.ts'
import type { Modification, Policy, PolicyAggregate } from '../policy/records/aggregate.ts'
import { type Planned, policyEvent, policyState } from '../policy/transitions.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { defineKind, showNothing } from './mechanism/kind.ts'

/** Kinds of the timers; each is named as the event that comes of it. */
export const POLICY_END = 'policy.end'
export const POLICY_END_REMINDER = 'policy.end.reminder'

/** The payload of a timer: the policy's end was to be at `end`; `reminder` names the reminder before it. */
export type TermEndNotice = { readonly end: Instant; readonly reminder?: string }

/**
 * Timers for the policy's end and its reminders, as far as they are still to come: a reminder goes off its days
 * before the end, by the calendar of the tenant's zone. Set again for the same end, they are the same timers.
 */
export function termEndTimers(
  { locator, effectiveEnd, timeZone }: Policy,
  { endReminders }: Pick<ProductDefinition, 'endReminders'>,
  now: Instant,
): NewTimer[] {
  const timer = (dueAt: Instant, kind: TimerKind, more: Record<string, string>): NewTimer => ({
    locator: derivedUuid(
      shardOfDigits(locator),
      kind,
      String(locator),
      String(effectiveEnd),
      ...Object.values(more),
    ),
    dueAt,
    kind,
    subject: String(locator),
    payload: { endTimestamp: String(effectiveEnd), ...more },
  })
  return [
    ...endReminders.map(({ name, daysBefore }) =>
      timer(add(effectiveEnd, -daysBefore, 'day', timeZone), POLICY_END_REMINDER, { reminderName: name }),
    ),
    timer(effectiveEnd, POLICY_END, {}),
  ].filter(({ dueAt }) => dueAt > now)
}

/**
 * For a transaction that may give the policy another end than `formerEnd`: as `termEndTimers`, and an end that has passed already is
 * told at once. None for the same end, which would be told again.
 */
export const newEndTimers = (
  policy: Policy,
  formerEnd: Instant | undefined,
  product: Pick<ProductDefinition, 'endReminders'>,
  now: Instant,
): NewTimer[] =>
  policy.effectiveEnd === formerEnd
    ? []
    : termEndTimers(policy, product, earlier(now, (policy.effectiveEnd - 1) as Instant))

/**
 * Whether the policy is issued, and its end is not that of a cancellation or lapse, which has neither an event here nor reminders. Where
 * a later cancellation is reinstated, the policy ends by an earlier one again.
 */
export function endsNaturally(aggregate: PolicyAggregate): boolean {
  const { policy, modifications } = aggregate
  const isUndone = ({ locator }: Modification): boolean =>
    [...modifications.values()].some(one => one.undoes === locator && isIssued(one))
  const lapses = [...modifications.values()].filter(one => one.kind === 'lapse' && !isUndone(one))
  return (
    policy.issuedAt !== undefined &&
    ![...standingCancellations(aggregate), ...lapses].some(one => one.policyEnd === policy.effectiveEnd)
  )
}

/** Reads the payload of one of these timers. */
export const readTermEndNotice = ({ payload }: Pick<NewTimer, 'payload'>): TermEndNotice => ({
  end: Number(payload.endTimestamp) as Instant,
  ...(payload.reminderName !== undefined && { reminder: payload.reminderName }),
})

/**
 * What comes of a timer: its event, when the policy still ends then and its product still has the reminder; the timers of
 * the new end, when that is later; else undefined. The end is natural only: a cancellation moves it to its own time, and sets no timers.
 */
export function decideTermEnd(
  aggregate: PolicyAggregate,
  product: Pick<ProductDefinition, 'endReminders'>,
  { end, reminder }: TermEndNotice,
  now: Instant,
): Planned | undefined {
  const { policy } = aggregate
  if (policyState(aggregate) !== 'issued' || policy.effectiveEnd < end || !endsNaturally(aggregate))
    return undefined
  if (policy.effectiveEnd > end) {
    const timers = termEndTimers(policy, product, now)
    return timers.length === 0 ? undefined : { aggregate, events: [], timers }
  }
  // An upgrade or a repair may have brought a configuration without it.
  if (reminder !== undefined && !product.endReminders.some(({ name }) => name === reminder)) return undefined
  const data = { endTimestamp: String(end) }
  const event =
    reminder === undefined
      ? policyEvent(aggregate, POLICY_END, data)
      : policyEvent(aggregate, POLICY_END_REMINDER, { ...data, reminderName: reminder })
  return { aggregate, events: [event] }
}

declare module './mechanism/kind.ts' {
  interface PolicyOperations {
    /** From the clock: the end of the policy has come, or a reminder before it. */
    termEnd: { notice: TermEndNotice }
  }
}

export const termEndKind = defineKind<'termEnd'>({
  name: 'termEnd',
  decide({ aggregate, product }, { notice }, { attempt }) {
    const planned = decideTermEnd(aggregate, product, notice, attempt.now)
    return planned && { planned, response: showNothing }
  },
})
