import { describe, expect, test } from 'vitest'
import { marks } from '../../console/calendar.ts'
import { isNegative, isZero, shareOf, sum } from '../../console/decimal.ts'

describe('amounts', () => {
  test('add up exactly where floats do not', () => {
    expect(sum(['0.1', '0.2'])).toBe('0.3')
    expect(sum(['9007199254740993', '0.01', '-0.02'])).toBe('9007199254740992.99')
    expect(sum(['671.17', '732.78', '-521.67', undefined])).toBe('882.28')
    expect(sum([])).toBe('0')
    expect(sum(['-166.90'])).toBe('-166.9')
    expect(sum(['1200', '300'])).toBe('1500')
  })

  test('are shared between days to twelve decimal places', () => {
    expect(shareOf('671.17', 365)).toBe('1.838821917808')
    expect(shareOf('-10', 4)).toBe('-2.5')
    expect(shareOf('5', 0)).toBe('5')
  })

  test('are told by their digits', () => {
    expect([isZero('0.00'), isZero('-0.01'), isNegative('-0.01'), isNegative('0')]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(() => sum(['12e3'])).toThrow("'12e3' is no decimal number")
  })
})

describe('marks of the time axis', () => {
  const at = (time: string): number => Date.parse(time)
  const told = (found: ReturnType<typeof marks>): string[] => found.map(one => new Date(one.at).toISOString())

  test('stand where months begin in the zone, across its change to summer time', () => {
    const found = marks(at('2027-01-01T00:00+01:00'), at('2028-01-01T00:00+01:00'), 4, 'Europe/Berlin')
    expect(told(found)).toEqual([
      '2026-12-31T23:00:00.000Z',
      '2027-03-31T22:00:00.000Z',
      '2027-06-30T22:00:00.000Z',
      '2027-09-30T22:00:00.000Z',
      '2027-12-31T23:00:00.000Z',
    ])
  })

  test('are as many as there is room for, however long the span', () => {
    for (const years of [0.1, 1, 3, 10, 60, 200])
      for (const most of [3, 8]) {
        const start = at('2020-02-15T00:00Z')
        const found = marks(start, start + years * 365.25 * 86_400_000, most, 'America/New_York')
        expect(found.length).toBeLessThanOrEqual(most + 1)
        expect(found.every(one => one.at >= start)).toBe(true)
      }
  })
})
