// Events that come by the calendar (resources brief 8.3): when one is due, worked out of the times that it is counted from.
// Pure.
import {
  add,
  type CalendarUnit,
  type Instant,
  localParts,
  startOfDay,
  type TimeZone,
} from '../kernel/time.ts'
import type { CustomEventType } from '../platform/events/types.ts'

export const ANCHORS = ['policyStart', 'policyEnd', 'termStart', 'segmentStart'] as const
export type Anchor = (typeof ANCHORS)[number]

export const ALIGNMENTS = ['weekStart', 'monthStart', 'yearStart'] as const
type Alignment = (typeof ALIGNMENTS)[number]

export const CADENCE_UNITS = ['day', 'week', 'month', 'year'] as const satisfies readonly CalendarUnit[]

/** Of the states that a list of policies knows, those that an issued one may have. */
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
  /** To the first start of a week (Monday), month or year at the anchor or after it. */
  readonly alignment?: Alignment
  /** From there; a negative amount lies before it. */
  readonly offset?: { readonly amount: number; readonly unit: CalendarUnit }
  /** Again and again from the first time on; `limit`: how often for each anchor, the first included. */
  readonly cadence?: {
    readonly intervalDuration: number
    readonly durationBasis: (typeof CADENCE_UNITS)[number]
    readonly limit?: number
  }
  /** In these states of the policy it is not told; its next time comes all the same. */
  readonly suppressOnStatuses: readonly SuppressingStatus[]
}

/** An event that the configuration declares. */
export type CustomEventDefinition = {
  readonly type: CustomEventType
  readonly schedule?: EventSchedule
  /** Names of the products whose policies have it; all when left out. */
  readonly products?: readonly string[]
}

/** What the times of a policy's schedule follow from. */
export type Course = {
  /** The times that it is counted from. */
  readonly anchors: readonly Instant[]
  /** What recurs ends with the policy, unless it is counted from there. */
  readonly end: Instant
  readonly zone: TimeZone
}

/** The first of a week, month or year at `at` or after it. */
function aligned(at: Instant, alignment: Alignment | undefined, zone: TimeZone): Instant {
  if (alignment === undefined) return at
  const day = startOfDay(at, zone)
  const from = day < at ? add(day, 1, 'day', zone) : day
  const { month, day: dayOfMonth, dayOfWeek } = localParts(from, zone)
  if (alignment === 'weekStart') return add(from, (8 - dayOfWeek) % 7, 'day', zone)
  if (alignment === 'monthStart')
    return dayOfMonth === 1 ? from : add(add(from, 1 - dayOfMonth, 'day', zone), 1, 'month', zone)
  const first = add(add(from, 1 - dayOfMonth, 'day', zone), 1 - month, 'month', zone)
  return first === from ? first : add(first, 1, 'year', zone)
}

/** Milliseconds that a unit never outlasts: so many steps have certainly been made. */
const LONGEST_MS = { day: 86_400_000, week: 604_800_000, month: 31 * 86_400_000, year: 366 * 86_400_000 }

/** Steps on which clocks that go forward or back an hour may count otherwise. */
const STEPS_BACK = 2

/** The first time of one anchor that lies after `after`. */
function nextOfAnchor(
  { offset, alignment, cadence, anchor }: EventSchedule,
  at: Instant,
  { end, zone }: Course,
  after: Instant,
): Instant | undefined {
  const start = aligned(at, alignment, zone)
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

/** The next time of the schedule after `after`; undefined when none comes any more. */
export function nextTime(schedule: EventSchedule, course: Course, after: Instant): Instant | undefined {
  const times = course.anchors
    .map(anchor => nextOfAnchor(schedule, anchor, course, after))
    .filter(time => time !== undefined)
  return times.length === 0 ? undefined : (Math.min(...times) as Instant)
}

/** Whether the schedule has that very time. */
export const isTimeOf = (schedule: EventSchedule, course: Course, at: Instant): boolean =>
  nextTime(schedule, course, (at - 1) as Instant) === at
