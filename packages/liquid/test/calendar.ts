// A calendar for tests. Callers of the package bring their own.
import { Temporal } from 'temporal-polyfill'
import type { Calendar } from '../date-format.ts'

const EARLIEST = Date.parse('0001-01-01T00:00Z')
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const zoned = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)

const startOf = (date: Temporal.PlainDate, zone: string): number =>
  date.toZonedDateTime(zone).epochMilliseconds

export const CALENDAR: Calendar = {
  instant: ms => (Number.isInteger(ms) && ms >= EARLIEST && ms <= LATEST ? ms : undefined),
  dayStart(isoDate, zone) {
    try {
      return /^\d{4}-\d{2}-\d{2}$/.test(isoDate)
        ? startOf(Temporal.PlainDate.from(isoDate, { overflow: 'reject' }), zone)
        : undefined
    } catch {
      return undefined
    }
  },
  startOfDay: (at, zone) => zoned(at, zone).startOfDay().epochMilliseconds,
  endOfDay: (at, zone) => startOf(zoned(at, zone).toPlainDate().add({ days: 1 }), zone) - 1,
  add: (at, count, unit, zone) => zoned(at, zone).add({ [`${unit}s`]: count }).epochMilliseconds,
  localParts(at, zone) {
    const { year, month, day, hour, minute, second, millisecond, dayOfWeek, dayOfYear, offset } = zoned(
      at,
      zone,
    )
    return { year, month, day, hour, minute, second, millisecond, dayOfWeek, dayOfYear, offset }
  },
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export const isCurrency = (code: string): boolean => CURRENCIES.has(code)

export const digitsOfCurrency = (code: string): number => (code === 'JPY' ? 0 : 2)
