// The end of a policy and the reminders before it (brief 9): timers for the times still to come, and what happens when one fires.
// Every change of a policy's end sets timers for the new end. Timers of an earlier end still fire and see that the end has moved.
import { derivedUuid, shardOfDigits } from '../kernel/locators.ts'
import { add, earlier, type Instant } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import type { TimerKind } from '../platform/tables.ts'
import { standingEndings } from '../policy/fold/line.ts'
import type { Policy, PolicyAggregate } from '../policy/records/aggregate.ts'
import { type Planned, policyEvent, policyState } from '../policy/transitions.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { defineKind, showNothing } from './mechanism/kind.ts'

/** Kinds of the timers. Each has the name of the event that it emits. */
const POLICY_END = 'policy.end'
const POLICY_END_REMINDER = 'policy.end.reminder'

/** The payload of a timer: the policy's end as it was when the timer was set, and the name of the reminder, if it is one. */
export type TermEndNotice = { readonly end: Instant; readonly reminder?: string }

/**
 * Returns timers for the policy's end and its reminders that are still to come. A reminder fires its number of days before the
 * end, by the calendar of the tenant's zone. Setting them again for the same end yields the same timers.
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
 * Returns the timers after a transaction that may have moved the policy's end from `formerEnd`. As `termEndTimers`, but an end
 * that has already passed is announced immediately. Returns none for the same end, which would be announced twice.
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
 * Whether the policy is issued and its end is not that of a cancellation or lapse, which has neither this event nor reminders.
 * When a later cancellation is reinstated, the policy may end by an earlier one again.
 */
export function endsNaturally(aggregate: PolicyAggregate): boolean {
  const { policy } = aggregate
  const endings = standingEndings(aggregate)
  return policy.issuedAt !== undefined && !endings.some(one => one.policyEnd === policy.effectiveEnd)
}

/** Reads the payload of one of these timers. */
export const readTermEndNotice = ({ payload }: Pick<NewTimer, 'payload'>): TermEndNotice => ({
  end: Number(payload.endTimestamp) as Instant,
  ...(payload.reminderName !== undefined && { reminder: payload.reminderName }),
})

/**
 * Returns what a timer causes: its event, if the policy still ends then and its product still has the reminder; the timers of the
 * new end, if the end has moved later; otherwise undefined. Handles natural ends only: a cancellation moves the end to its own
 * time and sets no timers.
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
  // An upgrade or a repair may have brought a configuration without this reminder.
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
    /** From the clock: the policy's end or the time of a reminder has come. */
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
