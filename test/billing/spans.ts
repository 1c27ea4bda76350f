import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import type { Instant, Span, TimeZone } from '../../src/kernel/time.ts'
import type { PaymentScheduleType } from '../../src/product/configuration.ts'

/** Zones whose clocks change at midnight or by half an hour, that skip a day or are far from UTC, and plain ones. */
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Nuuk',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
] as TimeZone[]

export const SCHEDULES: PaymentScheduleType[] = [
  'total',
  'annually',
  'semiannually',
  'quarterly',
  'monthly',
  'every_two_weeks',
  'every_week',
]

/** `local('2024-01-31T10:00', 'Europe/Berlin')` */
export const local = (text: string, zone: string): Instant =>
  Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds as Instant

/** An instant as local time, with a fraction of a second only if it is not zero: `2024-01-31T10:00:00`. */
export const localText = (at: Instant, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDateTime().toString()

/** Coverage of seconds to three years between 2005 and 2035, with ends on and off the period boundaries. */
export const anyCoverage = (zone: TimeZone): fc.Arbitrary<Span> =>
  fc
    .record({
      start: fc.integer({ min: Date.UTC(2005, 0), max: Date.UTC(2035, 0) }),
      wholeDay: fc.boolean(),
      months: fc.integer({ min: 0, max: 36 }),
      moreMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2_000_000_000 })),
    })
    .filter(({ months, moreMs }) => months + moreMs > 0)
    .map(({ start, wholeDay, months, moreMs }) => {
      const at = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone)
      const from = wholeDay ? at.startOfDay() : at
      return {
        start: from.epochMilliseconds as Instant,
        end: (from.add({ months }).epochMilliseconds + moreMs) as Instant,
      }
    })
