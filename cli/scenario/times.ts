// Reads and writes times in the form that authors use: days and times of day in the product's time zone.
import {
  dayStart,
  type Instant,
  instant,
  localParts,
  readDateTime,
  type TimeZone,
} from '../../src/kernel/time.ts'

export const TIME_FORMS = "a day such as '2027-01-31', or a time such as '2027-01-31 14:30'"

const LOCAL = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?$/

/** Reads a day (its midnight), a time of day, ISO 8601 with an offset, or milliseconds since 1970. Undefined for anything else. */
export function readTime(written: unknown, zone: TimeZone): Instant | undefined {
  if (typeof written === 'number') return instant(written)
  if (typeof written !== 'string') return undefined
  const text = written.trim()
  if (/^-?\d{5,}$/.test(text)) return instant(Number(text))
  const day = dayStart(text, zone)
  if (day !== undefined) return day
  const [, date, hour, minute, second = '0', milli = '0'] = LOCAL.exec(text) ?? []
  if (date === undefined) return /[Zz]$|[+-]\d\d:?\d\d$/.test(text) ? readDateTime(text) : undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const utc = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(utc)) return undefined
  const local = utc + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + Number(milli)
  // Uses the offset of the time itself, which may differ from that of midnight.
  return instant(local - offsetMs((local - offsetMs(local, zone)) as Instant, zone))
}

function offsetMs(at: number, zone: TimeZone): number {
  const { year, month, day, hour, minute, second, millisecond } = localParts(at as Instant, zone)
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - at
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Returns only the day at midnight, and otherwise also the time of day, as short as is exact. */
export function timeText(at: number, zone: TimeZone): string {
  const { year, month, day, hour, minute, second, millisecond } = localParts(at as Instant, zone)
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  if (hour + minute + second + millisecond === 0) return date
  const seconds = second + millisecond === 0 ? '' : `:${two(second)}`
  const milliseconds = millisecond === 0 ? '' : `.${String(millisecond).padStart(3, '0')}`
  return `${date} ${two(hour)}:${two(minute)}${seconds}${milliseconds}`
}

export const isTimeName = (name: string): boolean => /Timestamp$/.test(name)

/** Values of fields have their own definitions. None of their properties is a time of this interface. */
const FIELD_VALUES = 'fieldValues'

/** Applies `change` to every property `…Timestamp` whose value is not an object. */
export function withTimes(value: unknown, change: (written: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(one => withTimes(one, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (name === FIELD_VALUES) return [name, one]
      return [
        name,
        isTimeName(name) && one !== null && typeof one !== 'object' ? change(one) : withTimes(one, change),
      ]
    }),
  )
}
