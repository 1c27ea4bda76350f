import Big from 'big.js'
import { fromEpochMilliseconds, toZonedDateTimeISO } from 'temporal-polyfill/fns/Instant'
import {
  addDays as addDaysToDate,
  create as plainDate,
  toZonedDateTime,
} from 'temporal-polyfill/fns/PlainDate'
import {
  addDays,
  addHours,
  addMinutes,
  addMonths,
  addSeconds,
  addWeeks,
  addYears,
  dayOfWeek,
  dayOfYear,
  offset,
  startOfDay as startOfZonedDay,
  toPlainDate,
} from 'temporal-polyfill/fns/ZonedDateTime'
import { Memo } from './maps.ts'
import { type Decimal, RATE_PLACES } from './money.ts'

/** Milliseconds since the Unix epoch. */
export type Instant = number & { readonly __brand: 'Instant' }

/** Half-open: includes `start`, excludes `end`. */
export type Span = { readonly start: Instant; readonly end: Instant }

/** Whether the half-open span includes the time. */
export const containsTime = (
  { start, end }: { readonly start: number; readonly end: number },
  at: number,
): boolean => start <= at && at < end

/** IANA time zone name, e.g. `Europe/Berlin`. */
export type TimeZone = string & { readonly __brand: 'TimeZone' }

/** The range of instants: from the year 0001 to the end of 9999. */
export const EARLIEST = -62_135_596_800_000 as Instant
export const LATEST = 253_402_300_799_999 as Instant

/** A day of 24 hours. A local day may be an hour shorter or longer. */
export const DAY_MS = 86_400_000

/** The only function that reads the clock. In production the clock stands still between I/O: never measure durations with it. */
export const now = (): Instant => Date.now() as Instant

/**
 * Whether `time` is in the last `ms` milliseconds before `at`, by default the present. False for a later time, which shows that the
 * clock was set back.
 */
export const isWithinLast = (ms: number, time: number, at = now()): boolean => time <= at && at - time < ms

/** Returns undefined unless `ms` is an integer within the range of instants. */
export function instant(ms: number): Instant | undefined {
  return Number.isInteger(ms) && ms >= EARLIEST && ms <= LATEST ? (ms as Instant) : undefined
}

/** Zones that the runtime knows. Each check creates a formatter, so the result is remembered. */
const knownZones = new Set<string>()
const MOST_KNOWN_ZONES = 1_000

/**
 * Returns the name, unchanged, if the runtime knows such a zone, otherwise undefined. It also accepts `+01:00` and any letter
 * case.
 */
export function timeZone(name: string): TimeZone | undefined {
  if (knownZones.has(name)) return name as TimeZone
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    if (knownZones.size < MOST_KNOWN_ZONES) knownZones.add(name)
    return name as TimeZone
  } catch {
    return undefined
  }
}

export const earlier = (a: Instant, b: Instant): Instant => Math.min(a, b) as Instant
export const later = (a: Instant, b: Instant): Instant => Math.max(a, b) as Instant

// The functions of the polyfill are a third of the size of its classes.
const zonedDateTimeOf = (at: Instant, zone: TimeZone) => toZonedDateTimeISO(fromEpochMilliseconds(at), zone)

const ADD = {
  year: addYears,
  month: addMonths,
  week: addWeeks,
  day: addDays,
  hour: addHours,
  minute: addMinutes,
  second: addSeconds,
} as const

export type CalendarUnit = keyof typeof ADD

/** Units that have the same length in every zone and need no calendar. */
const LENGTH_MS: { readonly [unit in CalendarUnit]?: number } = {
  hour: 3_600_000,
  minute: 60_000,
  second: 1_000,
}

/** The calendar rejects times farther from 1970. */
const LARGEST_DATE_MS = 8_640_000_000_000_000

const MOST_REMEMBERED = 2_000

const additions = new Memo<string, Instant>(MOST_REMEMBERED)

/** Adds calendar units in the zone. `count` may be negative. A day that the month lacks becomes its last day. */
export function add(at: Instant, count: number, unit: CalendarUnit, zone: TimeZone): Instant {
  const lengthMs = LENGTH_MS[unit]
  const exact = lengthMs === undefined ? undefined : at + count * lengthMs
  if (exact !== undefined && Math.abs(exact) <= LARGEST_DATE_MS) return exact as Instant
  return additions.getOrMake(
    `${at} ${count} ${unit} ${zone}`,
    () => ADD[unit](zonedDateTimeOf(at, zone), count).epochMilliseconds as Instant,
  )
}

/** A day from its first millisecond to its last, with its date, such as 2026-11-21. */
type Day = Span & { readonly date: string }

/** Whether the day has 24 hours and contains `at`. */
const isPlain = ({ start, end }: Day, at: Instant): boolean =>
  end - start === DAY_MS - 1 && start <= at && at <= end

/**
 * Recently used days, by zone and UTC day. Only days of 24 hours: where clocks go back just after midnight, some times of the
 * previous day fall between the first and the last millisecond of the day.
 */
const knownDays = new Map<TimeZone, Map<number, Day[]>>()
const MOST_KNOWN_DAYS = 4_000
let knownDayCount = 0

const utcDay = (at: Instant): number => Math.floor(at / DAY_MS)

function dayOf(at: Instant, zone: TimeZone): Day {
  for (const day of knownDays.get(zone)?.get(utcDay(at)) ?? [])
    if (day.start <= at && at <= day.end) return day
  const local = zonedDateTimeOf(at, zone)
  const next = toZonedDateTime(addDaysToDate(toPlainDate(local), 1), zone)
  const day = {
    start: startOfZonedDay(local).epochMilliseconds as Instant,
    end: (next.epochMilliseconds - 1) as Instant,
    date: dateOf(local),
  }
  if (isPlain(day, at)) rememberDay(day, zone)
  return day
}

function rememberDay(day: Day, zone: TimeZone): void {
  if (knownDayCount >= MOST_KNOWN_DAYS) {
    knownDays.clear()
    knownDayCount = 0
  }
  knownDayCount += 1
  const days = knownDays.get(zone) ?? new Map<number, Day[]>()
  knownDays.set(zone, days)
  for (const date of new Set([utcDay(day.start), utcDay(day.end)]))
    days.set(date, [...(days.get(date) ?? []), day])
}

/** Returns the day of `at` if it has 24 hours. Every time within it then belongs to that day. */
export function plainDay(at: Instant, zone: TimeZone): Span | undefined {
  const day = dayOf(at, zone)
  return isPlain(day, at) ? day : undefined
}

/** Returns the first millisecond of the day of `at`: usually 00:00, but 01:00 where clocks go forward at midnight. */
export const startOfDay = (at: Instant, zone: TimeZone): Instant => dayOf(at, zone).start

/**
 * Returns the last millisecond of the day of `at`, usually 23:59:59.999. It is computed from the next date and not from a time of
 * day: where clocks go forward at midnight, days start at 01:00.
 */
export const endOfDay = (at: Instant, zone: TimeZone): Instant => dayOf(at, zone).end

/**
 * Returns the start of the day that many calendar units after the day of `at`. `count` may be negative. `add` keeps the time of
 * day, which is 01:00 at the start of a day on which clocks go forward at midnight.
 */
export const startOfDayAfter = (at: Instant, count: number, unit: CalendarUnit, zone: TimeZone): Instant =>
  startOfDay(add(at, count, unit, zone), zone)

const dayStarts = new Memo<string, Instant | undefined>(MOST_REMEMBERED)

/** Returns the start of the day `YYYY-MM-DD` in the zone, or undefined when there is no such day. */
export const dayStart = (isoDate: string, zone: TimeZone): Instant | undefined =>
  isoDate.length > 10
    ? undefined
    : dayStarts.getOrMake(`${isoDate} ${zone}`, () => startOfNamedDay(isoDate, zone))

function startOfNamedDay(isoDate: string, zone: TimeZone): Instant | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(isoDate) ?? []
  if (year === undefined) return undefined
  try {
    const date = plainDate(Number(year), Number(month), Number(day))
    return instant(toZonedDateTime(date, zone).epochMilliseconds)
  } catch {
    return undefined
  }
}

/**
 * Returns the local time in parts. `month` and `dayOfYear` start at 1, `dayOfWeek` is 1 on Mondays, and `offset` is like
 * `+01:00`.
 */
export function localParts(at: Instant, zone: TimeZone) {
  const local = zonedDateTimeOf(at, zone)
  const { year, month, day, hour, minute, second, millisecond } = local
  return {
    year,
    month,
    day,
    hour,
    minute,
    second,
    millisecond,
    dayOfWeek: dayOfWeek(local),
    dayOfYear: dayOfYear(local),
    offset: offset(local),
  }
}

const dateOf = ({ year, month, day }: { year: number; month: number; day: number }): string => {
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

/** Formats the day of `at` in the zone, such as 2026-11-21. */
export const isoDay = (at: Instant, zone: TimeZone): string =>
  // The last days of the calendar have no next day, which `dayOf` needs.
  Math.abs(at) > LARGEST_DATE_MS - 2 * DAY_MS ? dateOf(zonedDateTimeOf(at, zone)) : dayOf(at, zone).date

const monthCounts = new Memo<string, Decimal>(MOST_REMEMBERED)

/**
 * Counts the months from `from` to `to`, to 7 places: whole calendar months in the zone, then the remaining milliseconds as a
 * share of the next month. Where a month is too short, its last day counts, and later months return to the original day (brief
 * 3.1): two months from 31 January end on 31 March. `to` must not precede `from`.
 */
export function months(from: Instant, to: Instant, zone: TimeZone): Decimal {
  if (to < from) throw new RangeError('months() counts forward only.')
  return monthCounts.getOrMake(`${from} ${to} ${zone}`, () => fractionalMonthsBetween(from, to, zone))
}

function fractionalMonthsBetween(from: Instant, to: Instant, zone: TimeZone): Decimal {
  const start = zonedDateTimeOf(from, zone)
  const at = (count: number): number => addMonths(start, count).epochMilliseconds
  let whole = Math.max(0, Math.floor((to - from) / 2_678_400_000) - 1)
  while (at(whole + 1) <= to) whole += 1
  const rest = to - at(whole)
  if (rest === 0) return new Big(whole)
  const length = at(whole + 1) - at(whole)
  return new Big(rest).div(length).plus(whole).round(RATE_PLACES, Big.roundHalfUp)
}

// ISO 8601, for newer interfaces (contract 2).
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|([+ -])([01]\d|2[0-3]):?([0-5]\d))?)?$/i

/**
 * Reads milliseconds since 1970 or ISO 8601. Text without an offset is in UTC; text without a time is midnight. The `+` of an
 * offset may be a space, which is how query strings decode it. Returns undefined for any other text.
 */
export function readDateTime(text: string): Instant | undefined {
  if (/^-?\d{1,15}$/.test(text)) return instant(Number(text))
  const parts = ISO.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', sign, hours = '00', minutes = '00'] =
    parts
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // Date moves a day that the month lacks into the next month.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day)) return undefined
  // Fractions finer than a millisecond are dropped.
  const milliseconds = Math.round(Number(`0${/\.\d+/.exec(text)?.[0] ?? ''}`.slice(0, 5)) * 1000)
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  return instant(local + milliseconds - (sign === '-' ? -offset : offset))
}

/** About 30 years, which is longer than any wait that Bindery allows. */
const LONGEST_ASKED_MS = 1e12

/** Converts a `Retry-After` header, in seconds or as an HTTP date, to milliseconds. Returns undefined when it is neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1000, LONGEST_ASKED_MS)
  const at = /^[A-Za-z]{3}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
