import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { billingPeriods, periodsFrom } from '../../src/billing/schedule.ts'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import { LARGEST_PLAN_PERIODS } from '../../src/policy/records/invoice.ts'
import type { PaymentScheduleType } from '../../src/product/configuration.ts'
import { anyCoverage, local, localText, SCHEDULES, ZONES } from './spans.ts'

const starts = (from: string, to: string, type: PaymentScheduleType, zone = 'Europe/Berlin'): string[] =>
  billingPeriods({ start: local(from, zone), end: local(to, zone) }, type, zone as TimeZone).map(period =>
    localText(period.start, zone),
  )

describe('Billing periods', () => {
  test('monthly periods from the 31st begin at shorter month ends, and on the 31st again where there is one', () => {
    expect(starts('2024-01-31', '2024-07-31', 'monthly')).toEqual([
      '2024-01-31T00:00:00',
      '2024-02-29T00:00:00',
      '2024-03-31T00:00:00',
      '2024-04-30T00:00:00',
      '2024-05-31T00:00:00',
      '2024-06-30T00:00:00',
    ])
  })

  test('annual periods from February 29 begin on that day again in leap years', () => {
    expect(starts('2024-02-29', '2029-02-28', 'annually').map(start => start.slice(0, 10))).toEqual([
      '2024-02-29',
      '2025-02-28',
      '2026-02-28',
      '2027-02-28',
      '2028-02-29',
    ])
  })

  test('periods keep their local time when the clocks change', () => {
    expect(starts('2024-03-15T10:30', '2024-05-15T10:30', 'every_two_weeks')).toEqual([
      '2024-03-15T10:30:00',
      '2024-03-29T10:30:00',
      '2024-04-12T10:30:00',
      '2024-04-26T10:30:00',
      '2024-05-10T10:30:00',
    ])
  })

  test.each([
    ['total', 1],
    ['annually', 1],
    ['semiannually', 2],
    ['quarterly', 4],
    ['monthly', 12],
    ['every_two_weeks', 27],
    ['every_week', 53],
  ] as const)('the schedule %s divides a year into %i periods', (type, count) => {
    expect(starts('2023-05-15', '2024-05-15', type)).toHaveLength(count)
  })

  test('a last period that is cut keeps the length of the whole period in wholeMs', () => {
    const day = 86_400_000
    const periods = billingPeriods(
      { start: local('2023-01-10', 'UTC'), end: local('2023-02-20', 'UTC') },
      'monthly',
      'UTC' as TimeZone,
    )
    expect(periods.map(({ start, end, wholeMs }) => [(end - start) / day, wholeMs / day])).toEqual([
      [31, 31],
      [10, 28],
    ])
  })

  test('a plan with more than 1200 periods is rejected, and the message names the limit', () => {
    expect(starts('2000-01-01', '2100-01-01', 'monthly')).toHaveLength(LARGEST_PLAN_PERIODS)
    expect(() => starts('2000-01-01', '2100-01-02', 'monthly')).toThrow(/more than 1200 billing periods/)
    expect(starts('2000-01-01', '9999-01-01', 'total')).toHaveLength(1)
  })

  test('coverage without a length throws a RangeError', () => {
    expect(() => starts('2024-01-01', '2024-01-01', 'monthly')).toThrow(RangeError)
  })

  test('in every zone periods tile the coverage, only the last is cut, and their number matches the calendar', () => {
    const scenario = fc
      .constantFrom(...ZONES)
      .chain(zone => fc.tuple(fc.constant(zone), anyCoverage(zone), fc.constantFrom(...SCHEDULES)))
    fc.assert(
      fc.property(scenario, ([zone, coverage, type]) => {
        const periods = billingPeriods(coverage, type, zone)
        expect(periods[0]!.start).toBe(coverage.start)
        expect(periods.at(-1)!.end).toBe(coverage.end)
        for (const [index, { start, end, wholeMs }] of periods.entries()) {
          expect(start).toBeLessThan(end)
          if (index > 0) expect(start).toBe(periods[index - 1]!.end)
          if (index < periods.length - 1) expect(end - start).toBe(wholeMs)
          else expect(end - start).toBeLessThanOrEqual(wholeMs)
        }
        const whole = periods.filter(({ start, end, wholeMs }) => end - start === wholeMs).length
        expect(whole).toBe(wholePeriodsByCalendar(coverage, type, zone))
      }),
      { seed: 20_261_103, numRuns: 300 },
    )
  })
})

describe('Billing periods of several terms from a given time', () => {
  const zone = 'Europe/Berlin' as TimeZone
  const year = (of: number) => ({ start: local(`${of}-01-01`, zone), end: local(`${of + 1}-01-01`, zone) })
  const spans = (type: PaymentScheduleType, from: string): string[][] =>
    periodsFrom([year(2023), year(2024)], type, zone, local(from, zone)).map(period =>
      period.map(({ start, end }) =>
        `${localText(start, zone)}/${localText(end, zone)}`.replaceAll('T00:00:00', ''),
      ),
    )

  test('a quarter that is cut consists of the rest of its month and its other months', () => {
    expect(spans('quarterly', '2024-07-16')).toEqual([
      ['2024-07-16/2024-08-01', '2024-08-01/2024-09-01', '2024-09-01/2024-10-01'],
      ['2024-10-01/2024-11-01', '2024-11-01/2024-12-01', '2024-12-01/2025-01-01'],
    ])
  })

  test('each term has its own periods, and the schedule total has one for each term', () => {
    expect(spans('total', '2023-12-01')).toEqual([['2023-12-01/2024-01-01'], ['2024-01-01/2025-01-01']])
    expect(spans('every_two_weeks', '2023-12-30').map(period => period[0])).toEqual([
      '2023-12-30/2023-12-31',
      '2023-12-31/2024-01-01',
      ...Array.from({ length: 27 }, () => expect.any(String)),
    ])
  })

  test('terms that together exceed 1200 periods are rejected', () => {
    const terms = Array.from({ length: 101 }, (_, at) => year(2000 + at))
    expect(periodsFrom(terms, 'monthly', zone, local('2001-01-01', zone))).toHaveLength(LARGEST_PLAN_PERIODS)
    expect(() => periodsFrom(terms, 'monthly', zone, local('2000-12-31', zone))).toThrow(
      /more than 1200 billing periods/,
    )
  })

  test('periods tile the rest of the coverage on the boundaries of the schedule', () => {
    const scenario = fc
      .constantFrom(...ZONES)
      .chain(in_ => fc.tuple(fc.constant(in_), anyCoverage(in_), fc.constantFrom(...SCHEDULES), fc.nat(999)))
    fc.assert(
      fc.property(scenario, ([in_, coverage, type, thousandths]) => {
        const from = (coverage.start +
          Math.floor(((coverage.end - coverage.start) * thousandths) / 1_000)) as Instant
        const periods = periodsFrom([coverage], type, in_, from)
        const units = periods.flat()
        expect([units[0]!.start, units.at(-1)!.end]).toEqual([from, coverage.end])
        for (const [at, one] of units.entries()) if (at > 0) expect(one.start).toBe(units[at - 1]!.end)
        const whole = billingPeriods(coverage, type, in_).filter(period => period.end > from)
        expect(periods.map(period => period.at(-1)!.end)).toEqual(whole.map(period => period.end))
      }),
      { seed: 20_261_121, numRuns: 300 },
    )
  })
})

/** Counts in another way: by the difference that the calendar gives, corrected where clamping makes it one too small. */
function wholePeriodsByCalendar(
  coverage: { start: number; end: number },
  type: PaymentScheduleType,
  zone: string,
): number {
  if (type === 'total') return 1
  const steps = { annually: 12, semiannually: 6, quarterly: 3, monthly: 1, every_two_weeks: 2, every_week: 1 }
  const unit = type.startsWith('every') ? 'weeks' : 'months'
  const start = Temporal.Instant.fromEpochMilliseconds(coverage.start).toZonedDateTimeISO(zone)
  const end = Temporal.Instant.fromEpochMilliseconds(coverage.end).toZonedDateTimeISO(zone)
  const length = start.until(end, { largestUnit: unit })[unit]
  let count = Math.max(0, Math.floor((length - 1) / steps[type]))
  while (start.add({ [unit]: (count + 1) * steps[type] }).epochMilliseconds <= coverage.end) count += 1
  return count
}
