import { describe, expect, test, vi } from 'vitest'
import { CALENDAR } from './calendar.ts'
import { failure, NOW, output } from './rendering.ts'

const at = (iso: string): number => Date.parse(iso)

describe('Dates and times in the time zone of the tenant', () => {
  test.each([
    ['d MMM YYYY', '1 Feb 2026'],
    ['MMM dd, YYYY', 'Feb 01, 2026'],
    ['MMMM d yy', 'February 1 26'],
    ['MM/dd/yyyy', '02/01/2026'],
    ['EEE EEEE e D', 'Sun Sunday 7 32'],
    ['HH:mm:ss.SSS', '00:30:05.006'],
    ['h K k a', '12 0 24 AM'],
    ["yyyy-MM-dd'T'HH:mmZZ", '2026-02-01T00:30+01:00'],
    ["Z ZZZ 'o''clock' ''", "+0100 Europe/Berlin o'clock '"],
    ["xxxx-'W'ww", '2026-W05'],
    ['C G', '20 AD'],
  ])('%s', (pattern, expected) => {
    const source = `{{ data | timestamp_millis_print: "${pattern}" }}`
    expect(output(source, at('2026-01-31T23:30:05.006Z'))).toBe(expected)
    expect(output(source, String(at('2026-01-31T23:30:05.006Z')))).toBe(expected)
  })

  test('YYYY prints the calendar year even if the week year differs', () => {
    expect(output('{{ data | timestamp_millis_print: "YYYY xxxx ww" }}', at('2027-01-01T12:00Z'))).toBe(
      '2027 2026 53',
    )
    expect(output('{{ data | timestamp_millis_print: "YYYY xxxx ww" }}', at('2024-12-30T12:00Z'))).toBe(
      '2024 2025 01',
    )
  })

  test('an absent or empty time prints nothing, and an invalid time or an unknown letter fails', () => {
    expect(output('{{ nothing | timestamp_millis_print: "d" }}{{ "" | timestamp_millis_print: "d" }}')).toBe(
      '',
    )
    expect(failure('{{ "soon" | timestamp_millis_print: "d" }}').message).toContain('soon')
    expect(failure('{{ 0 | timestamp_millis_print: "d Q" }}').message).toContain("'Q'")
    expect(failure('{{ 0 | timestamp_millis_print }}').message).toContain('pattern')
  })

  test('timestamp_millis_add follows the calendar and daylight saving time', () => {
    const added = (unit: string, n: number, from: string) =>
      new Date(Number(output(`{{ data | timestamp_millis_add: "${unit}", ${n} }}`, at(from)))).toISOString()
    expect(added('months', 1, '2026-01-30T23:00Z')).toBe('2026-02-27T23:00:00.000Z')
    expect(added('day', 1, '2026-03-28T11:00Z')).toBe('2026-03-29T10:00:00.000Z')
    expect(added('years', -1, '2024-02-28T23:00Z')).toBe('2023-02-27T23:00:00.000Z')
    expect(added('hours', 24, '2026-03-28T11:00Z')).toBe('2026-03-29T11:00:00.000Z')
    expect(failure('{{ 0 | timestamp_millis_add: "fortnight", 1 }}').message).toContain('fortnight')
    expect(failure('{{ 0 | timestamp_millis_add: "year", 99999 }}').code).toBe('templateFailed')
  })

  test('rounding to a day uses midnight in the time zone', () => {
    const rounded = (filter: string, from: string) => Number(output(`{{ data | ${filter} }}`, at(from)))
    expect(rounded('timestamp_millis_round_day_floor', '2026-01-31T23:30Z')).toBe(at('2026-01-31T23:00Z'))
    expect(rounded('timestamp_millis_round_day_ceiling', '2026-01-31T23:30Z')).toBe(at('2026-02-01T23:00Z'))
    expect(rounded('timestamp_millis_round_day_ceiling', '2026-01-31T23:00Z')).toBe(at('2026-01-31T23:00Z'))
  })

  test('"now" is the time of the environment', () => {
    expect(output('{{ "now" | get_timestamp_millis }}')).toBe(String(NOW))
    expect(output('{{ "now" | date: "%Y-%m-%d %H:%M" }}')).toBe('2026-03-10 09:05')
    expect(output('{{ "2026-01-31" | get_timestamp_millis }}')).toBe(String(at('2026-01-30T23:00Z')))
  })

  test('date accepts seconds, milliseconds and ISO dates', () => {
    expect(
      output(
        '{{ 1769900000 | date: "%-d %b %Y" }} {{ 1769900000000 | date: "%d.%m.%y" }} {{ "2026-02-01" | date: "%A %e %j %%" }}',
      ),
    ).toBe('31 Jan 2026 31.01.26 Sunday  1 032 %')
  })

  test('get_30_360_day_count counts every month as 30 days', () => {
    const days = (start: string, end: string) =>
      output(
        '{{ data.start | get_30_360_day_count: data.end }}',
        { start: at(start), end: at(end) },
        { timeZone: 'UTC' },
      )
    expect(days('2026-01-01T00:00Z', '2027-01-01T00:00Z')).toBe('360')
    expect(days('2026-01-31T00:00Z', '2026-03-31T00:00Z')).toBe('60')
    expect(days('2026-02-28T00:00Z', '2026-03-31T00:00Z')).toBe('33')
    expect(days('2026-03-15T00:00Z', '2026-01-15T00:00Z')).toBe('-60')
    expect(failure('{{ 0 | get_30_360_day_count }}').code).toBe('templateFailed')
  })

  test('a long pattern computes the local time and the name of the time zone only once', () => {
    const parts = vi.spyOn(CALENDAR, 'localParts')
    const names = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
    try {
      expect(output(`{{ 1769900000000 | date: "${'%d'.repeat(200)}" }}`)).toBe('31'.repeat(200))
      expect(parts).toHaveBeenCalledTimes(1)
      const zone = { timeZone: 'Europe/Berlin' }
      const pattern = `'${'z '.repeat(120)}'`
      expect(output(`{{ 1769900000000 | timestamp_millis_print: ${pattern} }}`, {}, zone)).toBe(
        'GMT+1 '.repeat(120),
      )
      expect(names).toHaveBeenCalledTimes(1)
    } finally {
      vi.restoreAllMocks()
    }
  })
})
