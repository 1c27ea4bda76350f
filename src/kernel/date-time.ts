// Times as newer interfaces write them (contract 2): ISO 8601.
import { type Instant, instant } from './time.ts'

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|([+ -])([01]\d|2[0-3]):?([0-5]\d))?)?$/i

/**
 * The time that a text names, as milliseconds since 1970 or in ISO 8601: a date alone is its beginning in UTC, and a time
 * without an offset is in UTC. The plus of an offset may have become a space, as it does in an address. Undefined for what
 * is no time.
 */
export function readDateTime(text: string): Instant | undefined {
  if (/^-?\d{1,15}$/.test(text)) return instant(Number(text))
  const parts = ISO.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', sign, hours = '00', minutes = '00'] =
    parts
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // A day that the month lacks would be one of the next.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day)) return undefined
  // To the millisecond; what is finer is left out.
  const milliseconds = Math.round(Number(`0${/\.\d+/.exec(text)?.[0] ?? ''}`.slice(0, 5)) * 1000)
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  return instant(local + milliseconds - (sign === '-' ? -offset : offset))
}

/** Milliseconds that a `Retry-After` header asks for: seconds or an HTTP date. Undefined when it is neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const at = /^[A-Za-z]{3}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
