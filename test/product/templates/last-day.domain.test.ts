// The first and the last day of the calendar. Policies may begin and end on them, and documents print them.
import { describe, expect, test } from 'vitest'
import { EARLIEST, LATEST, type TimeZone } from '../../../src/kernel/time.ts'
import { failure, rendering } from './rendering.ts'

const printed = (at: number, rounding: string, zone: string): string =>
  rendering(
    `{{ data | timestamp_millis_round_day_${rounding} | timestamp_millis_print: "d MMM YYYY HH:mm" }}`,
    at,
    { timeZone: zone as TimeZone },
  ).output

describe('rounding to days at the ends of the calendar', () => {
  test.each([
    ['UTC', '1 Jan 10000 00:00', '31 Dec 9999 00:00'],
    ['Europe/Berlin', '2 Jan 10000 00:00', '1 Jan 10000 00:00'],
    ['America/New_York', '1 Jan 10000 00:00', '31 Dec 9999 00:00'],
  ])('prints the days around the end of 9999 in %s', (zone, ceiling, floor) => {
    expect(printed(LATEST, 'ceiling', zone)).toBe(ceiling)
    expect(printed(LATEST, 'floor', zone)).toBe(floor)
  })

  test('prints the day at the beginning of the year 1, and the day before it in New York', () => {
    expect(printed(EARLIEST, 'floor', 'UTC')).toBe('1 Jan 0001 00:00')
    expect(printed(EARLIEST, 'floor', 'America/New_York')).toBe('31 Dec 0000 00:00')
  })

  test('has no days beyond: adding days past either end fails', () => {
    expect(failure('{{ data | timestamp_millis_add: "day", 2 }}', LATEST).message).toContain(
      'years 1 to 9999',
    )
    expect(failure('{{ data | timestamp_millis_add: "day", -2 }}', EARLIEST).message).toContain(
      'years 1 to 9999',
    )
  })
})
