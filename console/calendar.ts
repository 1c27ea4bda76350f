// Marks of a time axis: the first days of months, quarters and years in the tenant's time zone.
import { cachedByKey } from './format.ts'

/** A day without a change of the clock, in milliseconds. */
export const DAY_MS = 86_400_000

// Making one takes ten times as long as using it.
const clockOf = cachedByKey(
  timeZone =>
    new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
)

/** Returns by how many milliseconds the zone's clock is ahead of UTC at a time. */
function offsetAt(ms: number, timeZone: string): number {
  const parts = clockOf(timeZone).formatToParts(ms)
  const part = (type: string): number => Number(parts.find(part => part.type === type)?.value)
  const clock = new Date(0)
  // Date.UTC takes the years 0 to 99 for those of the 20th century.
  clock.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  const local = clock.setUTCHours(part('hour'), part('minute'), part('second'))
  return local - Math.floor(ms / 1000) * 1000
}

/** Returns when the month begins in the zone. `month` counts from 0 and may exceed 11. */
const monthStart = (year: number, month: number, timeZone: string): number =>
  timeIn(Date.UTC(year, month, 1), timeZone)

/**
 * Returns the time at which the zone's clock shows what a UTC clock shows at `local`, the first such time if there are two. The
 * offset before a change applies to times that the clock skips, as in the service: 00:30 then means 01:30.
 */
function timeIn(local: number, timeZone: string): number {
  // The clock changes at most once in the two days around it.
  const offsets = [local - DAY_MS, local + DAY_MS].map(ms => offsetAt(ms, timeZone))
  const [before, after] = offsets.map(offset => local - offset) as [number, number]
  const isShown = (ms: number): boolean => ms + offsetAt(ms, timeZone) === local
  return isShown(before) || !isShown(after) ? before : after
}

/** Parses 2027-03-01 or 2027-03-01T14:30 by the zone's clock. Returns milliseconds, or undefined if the text is not a time. */
export function timeOf(text: string, timeZone: string): number | undefined {
  const local = Date.parse(text.length <= 10 ? `${text}T00:00Z` : `${text}Z`)
  return Number.isNaN(local) ? undefined : timeIn(local, timeZone)
}

/** Returns what the zone's clock shows at a time, such as 2027-03-01T14:30. */
export const clockAt = (ms: number, timeZone: string): string =>
  new Date(Math.floor(ms / 1000) * 1000 + offsetAt(ms, timeZone)).toISOString().slice(0, 16)

/** Returns the same day of the next year, or 28 February for a leap day: 2027-03-01 for 2026-03-01. */
export function aYearAfter(day: string): string {
  const next = `${Number(day.slice(0, 4)) + 1}${day.slice(4)}`
  return next.endsWith('-02-29') ? next.replace(/29$/, '28') : next
}

const MONTHS_BETWEEN_MARKS = [1, 3, 6, 12, 24, 60, 120, 600]

export type Mark = { readonly at: number; readonly text: string }

/** Returns at most `most` marks in the span, spaced as evenly as the calendar allows. */
export function marks(from: number, to: number, most: number, timeZone: string): Mark[] {
  const months = (to - from) / (30.44 * DAY_MS)
  const between = MONTHS_BETWEEN_MARKS.find(step => months / step <= most) ?? 1_200
  const first = new Date(from + offsetAt(from, timeZone))
  const start = first.getUTCFullYear() * 12 + first.getUTCMonth()
  const named = new Intl.DateTimeFormat(undefined, {
    timeZone,
    year: 'numeric',
    ...(between < 12 && { month: 'short' }),
  })
  const found: Mark[] = []
  for (let month = Math.ceil(start / between) * between; ; month += between) {
    const at = monthStart(Math.floor(month / 12), month % 12, timeZone)
    if (at > to) return found
    if (at >= from) found.push({ at, text: named.format(at) })
  }
}
