// The times and periods of scheduled reports in the time zone of the tenant.
import { expect, test } from 'vitest'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import type { Calendar } from '../../src/reporting/contract.ts'
import { periodOf } from '../../src/reporting/parameters.ts'
import { nextTime } from '../../src/reporting/schedules.ts'

type Case = [zone: string, calendar: Partial<Calendar>, after: string, next: string]

test.each<Case>([
  // The last Sunday of March 2030 is the 31st: the day has 23 hours and no 02:00.
  ['Europe/Berlin', { hour: 6 }, '2030-03-31T00:00+01:00', '2030-03-31T06:00+02:00'],
  ['Europe/Berlin', { hour: 23 }, '2030-03-31T00:00+01:00', '2030-03-31T23:00+02:00'],
  ['Europe/Berlin', { hour: 2 }, '2030-03-31T00:00+01:00', '2030-03-31T03:00+02:00'],
  ['Europe/Berlin', { hour: 2 }, '2030-03-31T03:00+02:00', '2030-04-01T02:00+02:00'],
  [
    'Europe/Berlin',
    { every: 'month', day: 31, hour: 23 },
    '2030-03-01T00:00+01:00',
    '2030-03-31T23:00+02:00',
  ],
  ['Europe/Berlin', { every: 'week', day: 7, hour: 23 }, '2030-03-30T00:00+01:00', '2030-03-31T23:00+02:00'],
  // 27 October 2030 has 25 hours, and 02:00 occurs twice.
  ['Europe/Berlin', { hour: 2 }, '2030-10-27T00:00+02:00', '2030-10-27T02:00+02:00'],
  ['Europe/Berlin', { hour: 2 }, '2030-10-27T02:00+02:00', '2030-10-28T02:00+01:00'],
  ['Europe/Berlin', { hour: 6 }, '2030-10-27T00:00+02:00', '2030-10-27T06:00+01:00'],
  ['Europe/Berlin', { hour: 23 }, '2030-10-27T00:00+02:00', '2030-10-27T23:00+01:00'],
  ['America/Los_Angeles', { hour: 23 }, '2030-03-10T00:00-08:00', '2030-03-10T23:00-07:00'],
  ['America/Los_Angeles', { hour: 0 }, '2030-11-03T00:00-07:00', '2030-11-04T00:00-08:00'],
  // Clocks are moved forward at midnight, and by half an hour.
  ['America/Santiago', { hour: 0 }, '2030-09-07T12:00-04:00', '2030-09-08T01:00-03:00'],
  ['America/Santiago', { hour: 6 }, '2030-09-07T12:00-04:00', '2030-09-08T06:00-03:00'],
  ['Australia/Lord_Howe', { hour: 9 }, '2030-10-05T12:00+10:30', '2030-10-06T09:00+11:00'],
  ['Europe/Berlin', { every: 'month', day: 31, hour: 6 }, '2032-02-01T00:00+01:00', '2032-02-29T06:00+01:00'],
  ['Europe/Berlin', { every: 'month', day: 29, hour: 6 }, '2031-02-01T00:00+01:00', '2031-02-28T06:00+01:00'],
])('in %s a schedule of %o runs after %s at %s', (zone, calendar, after, next) => {
  const at = Date.parse(after) as Instant
  const found = nextTime({ every: 'day', hour: 6, ...calendar }, at, zone as TimeZone)
  expect(new Date(found).toISOString()).toBe(new Date(next).toISOString())
})

test.each([
  // Sunday, 8 September 2030, starts at 01:00 in Chile, because clocks go forward at midnight.
  ['previousDay', '2030-09-08T06:00-03:00', '2030-09-07T00:00-04:00', '2030-09-08T01:00-03:00'],
  ['previousWeek', '2030-09-08T06:00-03:00', '2030-08-26T00:00-04:00', '2030-09-02T00:00-04:00'],
  ['previousDay', '2030-09-09T06:00-03:00', '2030-09-08T01:00-03:00', '2030-09-09T00:00-03:00'],
  ['previousMonth', '2030-09-08T06:00-03:00', '2030-08-01T00:00-04:00', '2030-09-01T00:00-04:00'],
] as const)('in Chile the %s of %s is from %s to %s', (name, at, from, to) => {
  const period = periodOf(name, Date.parse(at) as Instant, 'America/Santiago' as TimeZone)
  expect(period).toEqual({ from: Date.parse(from), to: Date.parse(to) })
})
