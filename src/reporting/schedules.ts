// Reports by the calendar: when a schedule runs next, in the tenant's time zone.
import { add, dayStart, type Instant, isoDay, startOfDay, type TimeZone } from '../kernel/time.ts'
import type { Calendar } from './contract.ts'

const HOUR_MS = 3_600_000

/** The hour of the day; on a day on which clocks change, as many hours after its start. */
const atHour = (day: Instant, hour: number): Instant => (day + hour * HOUR_MS) as Instant

/** Of a month in which there is no such day: its last. */
function dayOfMonth(year: number, month: number, day: number, zone: TimeZone): Instant {
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const text = `${year}-${String(month).padStart(2, '0')}-${String(Math.min(day, last)).padStart(2, '0')}`
  return dayStart(text, zone)!
}

/** 1 is Monday. */
const weekday = (at: Instant, zone: TimeZone): number =>
  ((new Date(`${isoDay(at, zone)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1

/** The first time after `at`. */
export function nextTime({ every, day = 1, hour }: Calendar, at: Instant, zone: TimeZone): Instant {
  const today = startOfDay(at, zone)
  if (every === 'month') {
    const [year, month] = isoDay(at, zone).split('-').map(Number) as [number, number]
    for (let ahead = 0; ; ahead += 1) {
      const index = month - 1 + ahead
      const found = atHour(dayOfMonth(year + Math.floor(index / 12), (index % 12) + 1, day, zone), hour)
      if (found > at) return found
    }
  }
  for (let ahead = 0; ; ahead += 1) {
    const one = add(today, ahead, 'day', zone)
    const isDay = every === 'day' || weekday(one, zone) === day
    if (isDay && atHour(one, hour) > at) return atHour(one, hour)
  }
}
