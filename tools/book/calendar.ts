// The dates of a made-up book's history, in the time zone of the example's tenant.
import { add, dayStart, type Instant, localParts, startOfDay, timeZone } from '../../src/kernel/time.ts'
import type { Random } from './random.ts'

export const ZONE = timeZone('Europe/Berlin')!
export const DAY = 86_400_000

export const dayOf = (isoDate: string): Instant => dayStart(isoDate, ZONE)!
export const plusMonths = (at: Instant, count: number): Instant => add(at, count, 'month', ZONE)
export const plusYears = (at: Instant, count: number): Instant => add(at, count, 'year', ZONE)
export const plusDays = (at: number, count: number): Instant => add(at as Instant, count, 'day', ZONE)
export const midnight = (at: number): Instant => startOfDay(at as Instant, ZONE)

/** Returns a time on that day within working hours. */
export const duringWorkingHours = (random: Random, at: number): Instant =>
  (midnight(at) + random.between(8 * 60, 18 * 60) * 60_000) as Instant

/** Formats the local day as YYYY-MM-DD. */
export function isoDay(at: Instant): string {
  const { year, month, day } = localParts(at, ZONE)
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** Days on which calendar arithmetic is difficult: leap days, ends of months, days on which the clocks change. */
const ODD_STARTS = [
  '2024-02-29',
  '2023-01-31',
  '2024-03-31',
  '2024-10-27',
  '2023-03-26',
  '2025-08-31',
  '2025-12-31',
]
const CLOCK_CHANGES = ['2023-10-29', '2024-03-31', '2024-10-27', '2025-03-30', '2025-10-26', '2026-03-29']

export function policyStart(random: Random, asOf: Instant): Instant {
  if (random.chance(0.08)) return dayOf(random.pick(ODD_STARTS))
  const start = plusDays(asOf, -random.between(40, 1_330))
  // Many policies start with a month.
  return random.chance(0.4) ? dayOf(`${isoDay(start).slice(0, 8)}01`) : midnight(start)
}

/** Returns a time within the span: usually a midnight, sometimes in the hours that a change of the clocks skips or repeats. */
export function changeTime(random: Random, from: Instant, to: Instant): Instant {
  if (random.chance(0.1)) {
    const odd = CLOCK_CHANGES.map(day => (dayOf(day) + 150 * 60_000) as Instant).filter(
      at => at > from && at < to,
    )
    if (odd.length > 0) return random.pick(odd)
  }
  const at = from + Math.floor(random.next() * (to - from))
  return random.chance(0.12) ? ((at - (at % 60_000)) as Instant) : plusDays(midnight(at), 1)
}
