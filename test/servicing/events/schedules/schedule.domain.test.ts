// The times of scheduled custom events, calculated by hand.
import { expect, test } from 'vitest'
import type { Instant, TimeZone } from '../../../../src/kernel/time.ts'
import { type Course, type EventSchedule, isTimeOf, nextTime } from '../../../../src/product/custom-events.ts'

const at = (iso: string): Instant => Date.parse(iso) as Instant
const iso = (time: Instant | undefined): string | undefined => time && new Date(time).toISOString()

const course = (anchors: string[], end = '2028-01-01T00:00:00Z', zone = 'UTC'): Course => ({
  anchors: anchors.map(at),
  end: at(end),
  zone: zone as TimeZone,
})

const schedule = (some: Partial<EventSchedule>): EventSchedule => ({
  anchor: 'policyStart',
  suppressOnStatuses: [],
  ...some,
})

/** The first `most` times after `since`. */
function times(some: Partial<EventSchedule>, of: Course, since: string, most = 10): string[] {
  const found: string[] = []
  for (let time = nextTime(schedule(some), of, at(since)); time !== undefined && found.length < most; ) {
    found.push(iso(time)!)
    time = nextTime(schedule(some), of, time)
  }
  return found
}

test('without a cadence there is one time for each anchor', () => {
  expect(times({}, course(['2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z']), '2020-01-01')).toEqual([
    '2027-01-01T00:00:00.000Z',
    '2028-01-01T00:00:00.000Z',
  ])
})

test('an offset moves the time after or before the anchor', () => {
  const end = course(['2027-12-31T23:00:00Z'])
  expect(times({ anchor: 'policyEnd', offset: { amount: -2, unit: 'month' } }, end, '2020-01-01')).toEqual([
    '2027-10-31T23:00:00.000Z',
  ])
  expect(times({ offset: { amount: 10, unit: 'day' } }, end, '2020-01-01')).toEqual([
    '2028-01-10T23:00:00.000Z',
  ])
})

test.each([
  ['weekStart', '2027-03-03T12:00:00Z', '2027-03-08'],
  ['weekStart', '2027-03-01T00:00:00Z', '2027-03-01'],
  ['weekStart', '2027-03-01T00:00:00.001Z', '2027-03-08'],
  ['weekStart', '2027-03-07T00:00:00Z', '2027-03-08'],
  ['monthStart', '2027-03-03T12:00:00Z', '2027-04-01'],
  ['monthStart', '2027-03-01T00:00:00Z', '2027-03-01'],
  ['monthStart', '2027-12-31T00:00:00Z', '2028-01-01'],
  ['yearStart', '2027-03-03T12:00:00Z', '2028-01-01'],
  ['yearStart', '2028-01-01T00:00:00Z', '2028-01-01'],
  ['yearStart', '2028-12-31T12:00:00Z', '2029-01-01'],
] as const)('%s of %s is %s', (alignment, anchor, expected) => {
  expect(times({ alignment }, course([anchor], '2040-01-01'), '2020-01-01')).toEqual([
    `${expected}T00:00:00.000Z`,
  ])
})

test('times are aligned in the time zone of the tenant', () => {
  const berlin = course(['2027-03-03T12:00:00Z'], '2040-01-01', 'Europe/Berlin')
  expect(times({ alignment: 'monthStart' }, berlin, '2020-01-01')).toEqual(['2027-03-31T22:00:00.000Z'])
})

test('times are aligned to the start of a day, also from a day that starts at 01:00', () => {
  // Clocks in Chile go forward at midnight on Sunday, 8 September 2030.
  const onSunday = course(['2030-09-08T00:00:00-04:00'], '2040-01-01', 'America/Santiago')
  const start = (day: string): string[] => [new Date(`${day}T00:00:00-03:00`).toISOString()]
  expect(times({ alignment: 'weekStart' }, onSunday, '2020-01-01')).toEqual(start('2030-09-09'))
  expect(times({ alignment: 'monthStart' }, onSunday, '2020-01-01')).toEqual(start('2030-10-01'))
  expect(times({ alignment: 'yearStart' }, onSunday, '2020-01-01')).toEqual(start('2031-01-01'))
  const later = course(['2030-09-08T12:00:00-03:00'], '2040-01-01', 'America/Santiago')
  expect(times({ alignment: 'weekStart' }, later, '2020-01-01')).toEqual(start('2030-09-09'))
})

test('a cadence continues by the calendar until the end of the policy, which is excluded', () => {
  const monthly = { cadence: { intervalDuration: 1, durationBasis: 'month' } } as const
  const year = course(['2027-01-31T00:00:00Z'], '2027-05-31T00:00:00Z')
  expect(times(monthly, year, '2020-01-01')).toEqual(
    ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30'].map(day => `${day}T00:00:00.000Z`),
  )
  expect(times(monthly, year, '2027-04-29')).toEqual(['2027-04-30T00:00:00.000Z'])
  expect(times(monthly, year, '2027-04-30')).toEqual([])
})

test('a limit includes the first time', () => {
  const thrice = { cadence: { intervalDuration: 2, durationBasis: 'week', limit: 3 } } as const
  expect(times(thrice, course(['2027-01-01T00:00:00Z']), '2020-01-01')).toEqual(
    ['2027-01-01', '2027-01-15', '2027-01-29'].map(day => `${day}T00:00:00.000Z`),
  )
  expect(times(thrice, course(['2027-01-01T00:00:00Z']), '2027-01-29')).toEqual([])
})

test('times anchored at the policy end continue after it', () => {
  const after = {
    anchor: 'policyEnd',
    cadence: { intervalDuration: 1, durationBasis: 'month', limit: 3 },
  } as const
  expect(times(after, course(['2027-01-01T00:00:00Z'], '2027-01-01T00:00:00Z'), '2020-01-01')).toHaveLength(3)
})

test('daily times keep their local hour when clocks change', () => {
  const daily = { cadence: { intervalDuration: 1, durationBasis: 'day' } } as const
  const berlin = course(['2027-03-26T08:00:00Z'], '2027-03-30T00:00:00Z', 'Europe/Berlin')
  expect(times(daily, berlin, '2027-03-25')).toEqual(
    ['2027-03-26T08:00', '2027-03-27T08:00', '2027-03-28T07:00', '2027-03-29T07:00'].map(
      time => `${time}:00.000Z`,
    ),
  )
})

test.each(['day', 'week', 'month', 'year'] as const)(
  'by the %s, the next time does not depend on how long ago the schedule began',
  durationBasis => {
    const some = { cadence: { intervalDuration: 3, durationBasis } }
    const long = course(['1990-10-31T23:30:00Z'], '2120-01-01', 'America/New_York')
    const walked = times(some, long, '1990-01-01', 40)
    for (const [index, time] of walked.slice(0, -1).entries()) {
      const last = (at(walked[index + 1]!) - 1) as Instant
      expect(iso(nextTime(schedule(some), long, at(time)))).toBe(walked[index + 1])
      expect(iso(nextTime(schedule(some), long, last))).toBe(walked[index + 1])
      expect(isTimeOf(schedule(some), long, at(time))).toBe(true)
      expect(isTimeOf(schedule(some), long, (at(time) + 1) as Instant)).toBe(false)
    }
    const late = nextTime(schedule(some), long, at('2119-12-01'))
    expect(late === undefined || late > at('2119-12-01')).toBe(true)
  },
)
