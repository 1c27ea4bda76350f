import { type Instant, localParts, type TimeZone } from '../../../src/kernel/time.ts'

/**
 * Days from `start` to `end` where every month has 30 days: the bond basis of 30/360. Day 31 of the start is
 * taken as 30; so is day 31 of the end when the start is on day 30 or 31. Negative when `end` is before `start`.
 */
export function days30360(start: Instant, end: Instant, zone: TimeZone): number {
  const from = localParts(start, zone)
  const to = localParts(end, zone)
  const firstDay = Math.min(from.day, 30)
  const lastDay = to.day === 31 && firstDay === 30 ? 30 : to.day
  return (to.year - from.year) * 360 + (to.month - from.month) * 30 + (lastDay - firstDay)
}
