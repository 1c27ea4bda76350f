import { expect, test } from 'vitest'
import {
  add,
  type Instant,
  LATEST,
  months,
  plainDay,
  readDateTime,
  type TimeZone,
} from '../../src/kernel/time.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const UTC = 'UTC' as TimeZone
const at = (iso: string): Instant => Date.parse(iso) as Instant
const counted = (from: string, to: string, zone: TimeZone): string => months(at(from), at(to), zone).toFixed()

test('an empty time span has 0 months', () => {
  expect(counted('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', UTC)).toBe('0')
})

test('months are rounded half up to seven places', () => {
  // 1 ÷ 31 is 0.03225806…
  expect(counted('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', UTC)).toBe('0.0322581')
})

test('a month in which the clocks go back is not complete an hour before its end', () => {
  // October has 745 hours.
  expect(counted('2026-09-30T22:00:00Z', '2026-10-31T22:30:00Z', BERLIN)).toBe('0.9993289')
})

test('months between the same times follow the calendar of the given time zone', () => {
  const [from, to] = ['2026-01-30T23:30:00Z', '2026-02-27T23:30:00Z'] as const
  // From January 31 in Berlin, where the end of February completes the month.
  expect([UTC, BERLIN, UTC].map(zone => counted(from, to, zone))).toEqual(['0.9655172', '1', '0.9655172'])
})

test('adding a day follows the clock of the given time zone', () => {
  const noon = at('2026-03-28T12:00:00Z')
  const next = [UTC, BERLIN, UTC].map(zone => new Date(add(noon, 1, 'day', zone)).toISOString())
  expect(next).toEqual(['2026-03-29T12:00:00.000Z', '2026-03-29T11:00:00.000Z', '2026-03-29T12:00:00.000Z'])
})

test('only a day of 24 hours is a plain day', () => {
  expect(plainDay(at('2026-03-28T12:00:00Z'), BERLIN)).toMatchObject({ start: at('2026-03-27T23:00:00Z') })
  expect(plainDay(at('2026-03-29T12:00:00Z'), BERLIN)).toBeUndefined()
})

test('the calendar ends with the year 9999', () => {
  expect(readDateTime('9999-12-31T23:59:59.999Z')).toBe(LATEST)
  expect(readDateTime(String(LATEST + 1))).toBeUndefined()
})
