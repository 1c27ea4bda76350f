import fc from 'fast-check'
import { expect, test } from 'vitest'
import { add, endOfDay, type Instant, isoDay, startOfDay, type TimeZone } from '../../src/kernel/time.ts'
import { dateBounds, isTooEarly, isTooLate } from '../../src/product/fields/value-checks.ts'
import { field } from '../product/fields/definitions.ts'

const at = (iso: string): Instant => Date.parse(iso) as Instant
const iso = (time: number): string => new Date(time).toISOString()

test.each([
  [
    'a plain day',
    'Europe/Berlin',
    '2026-07-01T10:00:00Z',
    '2026-06-30T22:00:00.000Z',
    '2026-07-01T21:59:59.999Z',
  ],
  [
    '23 hours',
    'Europe/Berlin',
    '2026-03-29T10:00:00Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T21:59:59.999Z',
  ],
  [
    '25 hours',
    'Europe/Berlin',
    '2026-10-25T10:00:00Z',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T22:59:59.999Z',
  ],
  [
    'no midnight',
    'America/Santiago',
    '2026-09-06T12:00:00Z',
    '2026-09-06T04:00:00.000Z',
    '2026-09-07T02:59:59.999Z',
  ],
])(
  '%s: a day starts and ends as its zone says, on a first or later call, from any time of the day',
  (_, zone, time, first, last) => {
    const days = [time, first, last, time].map(one => [
      iso(startOfDay(at(one), zone as TimeZone)),
      iso(endOfDay(at(one), zone as TimeZone)),
    ])
    expect(days).toEqual(Array(4).fill([first, last]))
  },
)

test('isoDay returns the local date of the time zone, up to the ends of the calendar', () => {
  const clockOf = Object.fromEntries(
    ['Europe/Berlin', 'America/St_Johns', 'America/Santiago', 'UTC'].map(zone => [
      zone,
      new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }),
    ]),
  )
  // Starts in 1950. The last days of a year are where a wrong year would show.
  const time = fc.integer({ min: Date.UTC(1950, 0), max: Date.UTC(2090, 0) })
  fc.assert(
    fc.property(time, fc.constantFrom(...Object.keys(clockOf)), (one, zone) => {
      for (const at of [one, one + 3_600_000, one])
        expect(isoDay(at as Instant, zone as TimeZone)).toBe(clockOf[zone]!.format(at))
    }),
  )
  const utc = 'UTC' as TimeZone
  expect(isoDay(8_640_000_000_000_000 as Instant, utc)).toBe('275760-09-13')
  expect(isoDay(-62_135_596_800_000 as Instant, utc)).toBe('0001-01-01')
})

test('startOfDay is right when the time zone changes from call to call', () => {
  const noon = at('2026-07-01T12:00:00Z')
  const starts = ['Europe/Berlin', 'Asia/Tokyo', 'Europe/Berlin', 'UTC'].map(zone =>
    iso(startOfDay(noon, zone as TimeZone)),
  )
  expect(starts).toEqual([
    '2026-06-30T22:00:00.000Z',
    '2026-06-30T15:00:00.000Z',
    '2026-06-30T22:00:00.000Z',
    '2026-07-01T00:00:00.000Z',
  ])
})

test('an hour repeated across midnight belongs to the earlier day, regardless of earlier calls', () => {
  const zone = 'America/St_Johns' as TimeZone
  // 2010-11-07 00:01 was followed by 2010-11-06 23:01.
  const again = at('2010-11-07T03:00:00Z')
  expect(iso(startOfDay(again, zone))).toBe('2010-11-06T02:30:00.000Z')
  expect(iso(startOfDay(at('2010-11-07T12:00:00Z'), zone))).toBe('2010-11-07T02:30:00.000Z')
  expect(iso(startOfDay(again, zone))).toBe('2010-11-06T02:30:00.000Z')
})

test('hours, minutes and seconds have the same length in every time zone', () => {
  const before = at('2026-03-29T00:30:00Z')
  expect(iso(add(before, 1, 'hour', 'Europe/Berlin' as TimeZone))).toBe('2026-03-29T01:30:00.000Z')
  expect(iso(add(before, -90, 'minute', 'Europe/Berlin' as TimeZone))).toBe('2026-03-28T23:00:00.000Z')
  expect(() => add(before, 9e15, 'second', 'Europe/Berlin' as TimeZone)).toThrow(RangeError)
})

test('a rounded bound of a date moves at midnight; an unrounded one moves with every millisecond', () => {
  const zone = 'Europe/Berlin' as TimeZone
  const adult = field('birth_date', 'date', { latestOffset: { unit: 'year', amount: -16, roundToDay: true } })
  const soon = field('at', 'date', { latestOffset: { unit: 'hour', amount: 1, roundToDay: false } })
  const latest = (definition: typeof adult, time: string): string =>
    iso(dateBounds(definition, at(time), zone).latest[0]!.at)
  expect(latest(adult, '2026-07-01T08:00:00Z')).toBe('2010-07-01T21:59:59.999Z')
  expect(latest(adult, '2026-07-01T21:59:59.999Z')).toBe('2010-07-01T21:59:59.999Z')
  expect(latest(adult, '2026-07-01T22:00:00Z')).toBe('2010-07-02T21:59:59.999Z')
  expect(latest(adult, '2026-07-01T08:00:00Z')).toBe('2010-07-01T21:59:59.999Z')
  expect(latest(soon, '2026-07-01T08:00:00Z')).toBe('2026-07-01T09:00:00.000Z')
  expect(latest(soon, '2026-07-01T08:00:00.001Z')).toBe('2026-07-01T09:00:00.001Z')
})

test('days and their bounds stay correct after 4,100 different days have been computed', () => {
  const zone = 'UTC' as TimeZone
  const DAY_MS = 86_400_000
  const tomorrow = field('on', 'date', { latestOffset: { unit: 'day', amount: 1, roundToDay: true } })
  const spans = Array.from({ length: 4_100 }, (_, day) => day * DAY_MS)
  const found = [...spans, ...spans.slice(0, 3)].map(start => {
    const noon = (start + DAY_MS / 2) as Instant
    return [startOfDay(noon, zone), endOfDay(noon, zone), dateBounds(tomorrow, noon, zone).latest[0]!.at]
  })
  const expected = spans.map(start => [start, start + DAY_MS - 1, start + 2 * DAY_MS - 1])
  expect(found).toEqual([...expected, ...expected.slice(0, 3)])
})

test('a value is too early or too late exactly when the calendar says so, for any offset and time zone', () => {
  const unit = fc.constantFrom('year', 'month', 'week', 'day', 'hour', 'minute', 'second')
  const offset = fc.record({ unit, amount: fc.integer({ min: -40, max: 40 }), roundToDay: fc.boolean() })
  const time = fc.integer({ min: Date.UTC(1995, 0), max: Date.UTC(2045, 0) })
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Pacific/Apia',
    'Africa/Casablanca',
  )
  const near = fc.integer({ min: -3_000_000_000, max: 3_000_000_000 })
  fc.assert(
    fc.property(offset, time, near, zones, (asked, now, distance, name) => {
      const zone = name as TimeZone
      const both = field('at', 'date', { earliestOffset: asked, latestOffset: asked })
      const { earliest, latest } = dateBounds(both, now as Instant, zone)
      const value = (now + distance) as Instant
      const there = add(now as Instant, asked.amount, asked.unit, zone)
      expect(isTooEarly(value, earliest[0]!)).toBe(
        value < (asked.roundToDay ? startOfDay(there, zone) : there),
      )
      expect(isTooLate(value, latest[0]!)).toBe(value > (asked.roundToDay ? endOfDay(there, zone) : there))
    }),
    { numRuns: 500 },
  )
})
