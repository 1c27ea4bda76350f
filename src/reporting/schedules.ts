// When a schedule runs next, in the tenant's time zone.
import { add, dayStart, type Instant, isoDay, localParts, startOfDay, type TimeZone } from '../kernel/time.ts'
import type { Calendar } from './contract.ts'

const HOUR_MS = 3_600_000

const MINUTE_MS = 60_000
const MINUTES_A_DAY = 1_440

/**
 * Returns the first time at which clocks show the hour. On a day that lacks it, returns the time that many hours after the day
 * begins.
 */
function atHour(day: Instant, hour: number, zone: TimeZone): Instant {
  const minutesShown = (at: Instant): number => {
    const { hour: hours, minute } = localParts(at, zone)
    return hours * 60 + minute
  }
  const wanted = hour * 60
  const elapsed = (day + hour * HOUR_MS) as Instant
  // On a shorter day, `elapsed` may be past midnight.
  const off = wanted - minutesShown(elapsed)
  const minutes = off > MINUTES_A_DAY / 2 ? off - MINUTES_A_DAY : off
  const moved = (elapsed + minutes * MINUTE_MS) as Instant
  return minutesShown(moved) === wanted ? moved : elapsed
}

/** Uses the last day of a month that lacks the day. */
function dayOfMonth(year: number, month: number, day: number, zone: TimeZone): Instant {
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const text = `${year}-${String(month).padStart(2, '0')}-${String(Math.min(day, last)).padStart(2, '0')}`
  return dayStart(text, zone)!
}

/** 1 is Monday. */
const weekday = (at: Instant, zone: TimeZone): number =>
  ((new Date(`${isoDay(at, zone)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1

/** Returns the first time after `at`. */
export function nextTime({ every, day = 1, hour }: Calendar, at: Instant, zone: TimeZone): Instant {
  const today = startOfDay(at, zone)
  if (every === 'month') {
    const [year, month] = isoDay(at, zone).split('-').map(Number) as [number, number]
    for (let ahead = 0; ; ahead += 1) {
      const index = month - 1 + ahead
      const found = atHour(dayOfMonth(year + Math.floor(index / 12), (index % 12) + 1, day, zone), hour, zone)
      if (found > at) return found
    }
  }
  for (let ahead = 0; ; ahead += 1) {
    const one = add(today, ahead, 'day', zone)
    const isDay = every === 'day' || weekday(one, zone) === day
    const found = isDay ? atHour(one, hour, zone) : at
    if (found > at) return found
  }
}
