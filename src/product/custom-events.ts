// Events that follow the calendar (resources brief 8.3). Computes the times of an event from its schedule and the times that this
// counts from, in the tenant's time zone. Pure: it reads no clock.
import {
  add,
  type CalendarUnit,
  type Instant,
  localParts,
  startOfDay,
  startOfDayAfter,
  type TimeZone,
} from '../kernel/time.ts'
import type { CustomEventType } from '../platform/events/types.ts'

export const ANCHORS = ['policyStart', 'policyEnd', 'termStart', 'segmentStart'] as const
export type Anchor = (typeof ANCHORS)[number]

export const ALIGNMENTS = ['weekStart', 'monthStart', 'yearStart'] as const
type Alignment = (typeof ALIGNMENTS)[number]

export const CADENCE_UNITS = ['day', 'week', 'month', 'year'] as const satisfies readonly CalendarUnit[]

/** The states that an issued policy can have. */
export const SUPPRESSING_STATUSES = [
  'withdrawn',
  'lapsed',
  'inGrace',
  'cancelled',
  'pending',
  'expired',
  'issued',
] as const
export type SuppressingStatus = (typeof SUPPRESSING_STATUSES)[number]

export type EventSchedule = {
  readonly anchor: Anchor
  /** Moves the time to the first start of a week (Monday), month or year at or after the anchor. */
  readonly alignment?: Alignment
  /** Added after the alignment. May be negative. */
  readonly offset?: { readonly amount: number; readonly unit: CalendarUnit }
  /** Repeats the event, starting with the first time. `limit` counts the occurrences for each anchor, including the first. */
  readonly cadence?: {
    readonly intervalDuration: number
    readonly durationBasis: (typeof CADENCE_UNITS)[number]
    readonly limit?: number
  }
  /** Skips the event in these states. Later occurrences are still emitted. */
  readonly suppressOnStatuses: readonly SuppressingStatus[]
}

/** A custom event that config.json declares. */
export type CustomEventDefinition = {
  readonly type: CustomEventType
  readonly schedule?: EventSchedule
  /** Product names; absent means all. */
  readonly products?: readonly string[]
}

/** Everything in a policy that determines the times of an event. */
export type Course = {
  /** The times that the schedule counts from. */
  readonly anchors: readonly Instant[]
  /** The end of the policy, which also ends recurring events unless it is their anchor. */
  readonly end: Instant
  readonly zone: TimeZone
}

/** Returns the first start of a week, month or year at or after `at`. */
function firstAlignedStart(at: Instant, alignment: Alignment | undefined, zone: TimeZone): Instant {
  if (alignment === undefined) return at
  const day = startOfDay(at, zone)
  const dayAt = (from: Instant, count: number, unit: CalendarUnit): Instant =>
    startOfDayAfter(from, count, unit, zone)
  const from = day < at ? dayAt(day, 1, 'day') : day
  const { month, day: dayOfMonth, dayOfWeek } = localParts(from, zone)
  if (alignment === 'weekStart') return dayAt(from, (8 - dayOfWeek) % 7, 'day')
  const monthStart = dayAt(from, 1 - dayOfMonth, 'day')
  if (alignment === 'monthStart') return dayOfMonth === 1 ? from : dayAt(monthStart, 1, 'month')
  const first = dayAt(monthStart, 1 - month, 'month')
  return first === from ? first : dayAt(first, 1, 'year')
}

/** The greatest length of each unit, which gives a lower bound for the number of steps. */
const LONGEST_MS = { day: 86_400_000, week: 604_800_000, month: 31 * 86_400_000, year: 366 * 86_400_000 }

/** Extra steps, because clock changes can move times by an hour. */
const STEPS_BACK = 2

/** Returns the next time strictly after `after`; undefined if the cadence has ended. */
function nextOfAnchor(
  { offset, alignment, cadence, anchor }: EventSchedule,
  at: Instant,
  { end, zone }: Course,
  after: Instant,
): Instant | undefined {
  const start = firstAlignedStart(at, alignment, zone)
  const first = offset ? add(start, offset.amount, offset.unit, zone) : start
  if (first > after) return first
  if (!cadence) return undefined
  const { intervalDuration, durationBasis, limit = Number.POSITIVE_INFINITY } = cadence
  const passed = Math.floor((after - first) / (LONGEST_MS[durationBasis] * intervalDuration))
  for (let step = Math.max(1, passed - STEPS_BACK); step < limit; step += 1) {
    const time = add(first, step * intervalDuration, durationBasis, zone)
    if (anchor !== 'policyEnd' && time >= end) return undefined
    if (time > after) return time
  }
  return undefined
}

/** Returns the next time strictly after `after`; undefined if there is none. */
export function nextTime(schedule: EventSchedule, course: Course, after: Instant): Instant | undefined {
  const times = course.anchors
    .map(anchor => nextOfAnchor(schedule, anchor, course, after))
    .filter(time => time !== undefined)
  return times.length === 0 ? undefined : (Math.min(...times) as Instant)
}

/** Whether `at` is a time of the schedule. A timer may no longer match it. */
export const isTimeOf = (schedule: EventSchedule, course: Course, at: Instant): boolean =>
  nextTime(schedule, course, (at - 1) as Instant) === at
