import {
  add,
  dayStart,
  EARLIEST,
  endOfDay,
  type Instant,
  instant,
  LATEST,
  localParts,
  plainDay,
  type Span,
  startOfDay,
  type TimeZone,
} from '../../kernel/time.ts'
import type { DateOffset, FieldDefinition } from '../configuration.ts'

/** A date value: milliseconds text, or an ISO day read as its start in the tenant's zone (brief 6.4). */
export function readDate(text: string, zone: TimeZone): Instant | undefined {
  return /^-?\d+$/.test(text) ? instant(Number(text) || 0) : dayStart(text, zone)
}

/** A bound of a date field, with how a message names it. */
type DateBound = {
  readonly at: Instant
  readonly name: string
  /** A time that surely lies within the bound, as all do that are farther from it: then nobody need know where it lies. */
  readonly within?: Instant
}

export const isTooEarly = (value: Instant, bound: DateBound): boolean =>
  (bound.within === undefined || value < bound.within) && value < bound.at

export const isTooLate = (value: Instant, bound: DateBound): boolean =>
  (bound.within === undefined || value > bound.within) && value > bound.at

type DateBounds = { readonly earliest: readonly DateBound[]; readonly latest: readonly DateBound[] }

/** What was worked out of a field's bounds. */
type KnownBounds = {
  /** Asked for last: all values of one change are checked at one moment. */
  last: Span & { zone: TimeZone; bounds: DateBounds }
  /** Of whole days by their starts, for those that stand until the day is over, and those that do not go by the moment. */
  readonly byDay: Map<Instant, { zone: TimeZone; bounds: DateBounds }> | undefined
}

const known = new WeakMap<FieldDefinition, KnownBounds>()

/** Days of one field whose bounds are remembered; with more of them it begins anew. */
const MOST_DAYS = 1_500

/**
 * The bounds of a date field at the moment `now`, both inclusive. A bound that is a day, or an offset rounded to
 * the day, takes in the whole of that day: the earliest is its start, the latest its last millisecond.
 */
export function dateBounds(definition: FieldDefinition, now: Instant, zone: TimeZone): DateBounds {
  const found = known.get(definition)
  const last = found?.last
  if (last && last.start <= now && now <= last.end && last.zone === zone) return last.bounds
  const byDay: KnownBounds['byDay'] = found ? found.byDay : standsAllDay(definition) ? new Map() : undefined
  const day = byDay && plainDay(now, zone)
  const ofDay = day && byDay.get(day.start)
  const bounds = ofDay?.zone === zone ? ofDay.bounds : boundsAt(definition, now, zone)
  if (day && ofDay?.bounds !== bounds) {
    if (byDay.size >= MOST_DAYS) byDay.clear()
    byDay.set(day.start, { zone, bounds })
  }
  const { start, end } = day ?? { start: now, end: now }
  known.set(definition, { last: { start, end, zone, bounds }, byDay })
  return bounds
}

/** Days, weeks, months and years after any time of a day, rounded to the day, are the same day. */
const standsAllDay = ({ earliestOffset, latestOffset }: FieldDefinition): boolean =>
  [earliestOffset, latestOffset].every(
    offset => !offset || (offset.roundToDay && ['day', 'week', 'month', 'year'].includes(offset.unit)),
  )

function boundsAt(definition: FieldDefinition, now: Instant, zone: TimeZone): DateBounds {
  const { earliest, latest, earliestOffset, latestOffset } = definition
  const first = earliest === undefined ? undefined : readDate(earliest, zone)
  const last = latest === undefined ? undefined : readDate(latest, zone)
  const bound = (at: Instant | undefined, wholeDay: boolean): DateBound[] =>
    at === undefined
      ? []
      : [
          {
            at,
            get name() {
              return printed(at, wholeDay, zone)
            },
          },
        ]
  return {
    earliest: [
      ...bound(first, isDay(earliest)),
      ...offsetBounds(now, earliestOffset, startOfDay, zone, amount => amount < 0),
    ],
    latest: [
      ...bound(last !== undefined && isDay(latest) ? endOfDay(last, zone) : last, isDay(latest)),
      ...offsetBounds(now, latestOffset, endOfDay, zone, amount => amount > 0),
    ],
  }
}

/** The bound that an offset from now gives. Where now itself is within it, the calendar is walked for other values only. */
function offsetBounds(
  now: Instant,
  offset: DateOffset | undefined,
  round: (at: Instant, zone: TimeZone) => Instant,
  zone: TimeZone,
  isWithin: (amount: number) => boolean,
): DateBound[] {
  if (!offset) return []
  let found: Instant | undefined
  const find = (): Instant => {
    found ??= offsetFrom(now, offset, round, zone)
    return found
  }
  return [
    {
      get at() {
        return find()
      },
      get name() {
        return printed(find(), !!offset.roundToDay, zone)
      },
      ...(isWithin(offset.amount) && { within: now }),
    },
  ]
}

const isDay = (text: string | undefined): boolean => text?.includes('-', 1) ?? false

function offsetFrom(
  now: Instant,
  { amount, unit, roundToDay }: DateOffset,
  round: (at: Instant, zone: TimeZone) => Instant,
  zone: TimeZone,
): Instant {
  let at: Instant
  try {
    at = add(now, amount, unit, zone)
  } catch {
    // Beyond what the calendar can express: a way to write "any date".
    return amount < 0 ? EARLIEST : LATEST
  }
  return roundToDay ? round(at, zone) : at
}

function printed(at: Instant, wholeDay: boolean, zone: TimeZone): string {
  const { year, month, day, hour, minute, second } = localParts(at, zone)
  const two = (part: number): string => String(part).padStart(2, '0')
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return wholeDay ? date : `${date} ${two(hour)}:${two(minute)}:${two(second)} ${zone}`
}
