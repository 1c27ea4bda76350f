// The rows and timers that a write creates for the policy's schedules: a row for each schedule, and a timer for its next time.
// Derived from the policy before and after, so that every change of an anchor moves the times counted from it.
import { sql } from 'drizzle-orm'
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import { type Instant, startOfDay } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import { jsonLists } from '../../platform/database/parameters.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { CustomEventType } from '../../platform/events/types.ts'
import { timers as timerTable } from '../../platform/tables.ts'
import { lineOf, segmentsInForce, standingCancellations, standingLapses } from '../../policy/fold/line.ts'
import { boundQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { ModificationKind } from '../../policy/records/transactions.ts'
import { type Planned, policyEvent, policyState } from '../../policy/transitions.ts'
import {
  type Anchor,
  type Course,
  type CustomEventDefinition,
  type EventSchedule,
  isTimeOf,
  nextTime,
  type SuppressingStatus,
} from '../../product/custom-events.ts'
import { defineKind, showNothing } from '../mechanism/kind.ts'
import { SCHEDULE_TIMER } from './store.ts'
import { eventSchedules } from './tables.ts'

type Scheduled = CustomEventDefinition & { readonly schedule: EventSchedule }

type Definitions = readonly CustomEventDefinition[] | undefined

const scheduledFor = (definitions: Definitions, productName: string): Scheduled[] =>
  (definitions ?? []).filter(
    (one): one is Scheduled => one.schedule !== undefined && (one.products?.includes(productName) ?? true),
  )

const scheduleLocator = ({ policy }: PolicyAggregate, type: CustomEventType): Uuid =>
  derivedUuid(shardOfDigits(policy.locator), SCHEDULE_TIMER, String(policy.locator), type)

const isUnderWay = ({ policy }: PolicyAggregate): boolean => policy.issuedAt !== undefined

/** The locator is derived from the time, so setting it again does not add a second timer. */
function timerAt(aggregate: PolicyAggregate, type: CustomEventType, dueAt: Instant): NewTimer {
  const { locator } = aggregate.policy
  return {
    locator: derivedUuid(shardOfDigits(locator), SCHEDULE_TIMER, String(locator), type, String(dueAt)),
    dueAt,
    kind: SCHEDULE_TIMER,
    subject: String(locator),
    payload: { type, time: String(dueAt), schedule: scheduleLocator(aggregate, type) },
  }
}

/** `next` is undefined when no time is left. */
export type MovedSchedule = { readonly type: CustomEventType; readonly next: Instant | undefined }

/**
 * Returns the schedules that start with the write, and those whose next time it moves. A policy that is issued late sends no
 * events for times before the day of issue, but does for times on that day.
 */
export function movedSchedules(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  definitions: Definitions,
  now: Instant,
): MovedSchedule[] {
  const scheduled = scheduledFor(definitions, after.policy.productName)
  if (scheduled.length === 0 || !isUnderWay(after)) return []
  const underWay = before && isUnderWay(before) ? before : undefined
  const previous = underWay?.policy.configVersion === after.policy.configVersion ? underWay : undefined
  if (
    previous?.modifications === after.modifications &&
    previous.policy.effectiveEnd === after.policy.effectiveEnd
  )
    return []
  const since = underWay ? now : ((startOfDay(now, after.policy.timeZone) - 1) as Instant)
  return scheduled.flatMap(({ type, schedule }) => {
    const next = nextTime(schedule, courseOf(after, schedule.anchor), since)
    const former = previous && nextTime(schedule, courseOf(previous, schedule.anchor), since)
    return previous && former === next ? [] : [{ type, next }]
  })
}

/** Returns a timer for each of the schedules that has a next time. */
export const scheduleTimers = (after: PolicyAggregate, moved: readonly MovedSchedule[]): NewTimer[] =>
  moved.flatMap(({ type, next }) => (next === undefined ? [] : [timerAt(after, type, next)]))

/** The schedules of one policy that its change moves. */
export type PolicySchedules = {
  readonly after: PolicyAggregate
  readonly schedules: readonly MovedSchedule[]
}

/**
 * Adds missing rows of schedules, and removes the timers of times that moved. Two statements for any number of policies, because a
 * migrated account may have hundreds, with up to 50 schedules each.
 */
export function scheduleRows(database: Database, changes: readonly PolicySchedules[], now: Instant): Query[] {
  const texts = changes.flatMap(({ after, schedules }) =>
    schedules.map(({ type }) =>
      JSON.stringify([
        scheduleLocator(after, type),
        after.policy.locator,
        type,
        String(after.policy.locator),
      ]),
    ),
  )
  return jsonLists(texts).flatMap(list => [
    database.build.run(sql`
      insert into ${eventSchedules} (locator, policy_locator, type, state, failures, created_at)
      select value ->> 0, value ->> 1, value ->> 2, 'active', 0, ${now} from json_each(${list}) where true
      on conflict (locator) do nothing`),
    database.build.run(sql`
      delete from ${timerTable} where subject in (select value ->> 3 from json_each(${list})) and kind = ${SCHEDULE_TIMER}
        and payload ->> 'schedule' in (select value ->> 0 from json_each(${list}))
        and cast(payload ->> 'time' as integer) > ${now}`),
  ])
}

/**
 * Returns the event and the next timer. Leaves the event out if the policy's state at its time suppresses it, even if this runs
 * later. Returns undefined when a transaction or a new version has moved or removed that time.
 */
function decideScheduledEvent(
  aggregate: PolicyAggregate,
  definitions: Definitions,
  { type, time }: { readonly type: CustomEventType; readonly time: Instant },
): Planned | undefined {
  const { productName } = aggregate.policy
  const one = scheduledFor(definitions, productName).find(definition => definition.type === type)
  if (!one || !isUnderWay(aggregate)) return undefined
  const course = courseOf(aggregate, one.schedule.anchor)
  if (!isTimeOf(one.schedule, course, time)) return undefined
  const next = nextTime(one.schedule, course, time)
  const isSuppressed = one.schedule.suppressOnStatuses.includes(statusOf(aggregate, time))
  return {
    aggregate,
    events: isSuppressed ? [] : [policyEvent(aggregate, type, { scheduledTimestamp: String(time) })],
    timers: next === undefined ? [] : [timerAt(aggregate, type, next)],
  }
}

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    scheduledEvent: { time: { type: CustomEventType; time: Instant } }
  }
}

export const scheduledEventKind = defineKind<'scheduledEvent'>({
  name: 'scheduledEvent',
  decide({ aggregate, configuration }, { time }) {
    const { customEvents } = configuration.configuration
    const planned = decideScheduledEvent(aggregate, customEvents, time)
    return planned && { planned, response: showNothing }
  },
})

const issuedModificationsOf = ({ modifications }: PolicyAggregate, kind: ModificationKind) =>
  [...modifications.values()].filter(
    one => one.kind === kind && one.issuedAt !== undefined && one.invalidatedAt === undefined,
  )

const ANCHOR_TIMES: Readonly<Record<Anchor, (aggregate: PolicyAggregate) => Instant[]>> = {
  policyStart: ({ policy }) => [policy.originalStart],
  policyEnd: ({ policy }) => [policy.effectiveEnd],
  termStart: aggregate => [
    aggregate.policy.originalStart,
    ...issuedModificationsOf(aggregate, 'renewal').map(one => one.effectiveAt),
  ],
  segmentStart: aggregate =>
    segmentsInForce(lineOf(aggregate, boundQuote(aggregate))).map(segment => segment.start),
}

const courseOf = (aggregate: PolicyAggregate, anchor: Anchor): Course => ({
  anchors: [...new Set(ANCHOR_TIMES[anchor](aggregate))],
  end: aggregate.policy.effectiveEnd,
  zone: aggregate.policy.timeZone,
})

/** Returns the state as lists of policies show it (policies/list). */
export function statusOf(aggregate: PolicyAggregate, now: Instant): SuppressingStatus {
  const { policy } = aggregate
  if (standingLapses(aggregate).length > 0) return 'lapsed'
  if ([...aggregate.gracePeriods.values()].some(one => one.state === 'open')) return 'inGrace'
  if (policyState(aggregate) === 'withdrawn') return 'withdrawn'
  if (standingCancellations(aggregate).length > 0) return 'cancelled'
  if (policy.originalStart > now) return 'pending'
  return policy.effectiveEnd <= now ? 'expired' : 'issued'
}
