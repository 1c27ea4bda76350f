// Formats times by Joda patterns and by the patterns of the standard `date` filter. Instants are milliseconds since 1970; zones
// are IANA names.
import { asInteger, asNumber } from './values.ts'

export type CalendarUnit = 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second'

/** Calendar arithmetic, which the caller provides. */
export type Calendar = {
  /** Returns undefined if the number is not an instant within the calendar. */
  instant(ms: number): number | undefined
  /** Returns the start of the day `YYYY-MM-DD`, or undefined if there is no such day. */
  dayStart(isoDate: string, zone: string): number | undefined
  startOfDay(at: number, zone: string): number
  endOfDay(at: number, zone: string): number
  /** Clamps a missing day to the last day of the month. `count` may be negative. Throws RangeError beyond the calendar. */
  add(at: number, count: number, unit: CalendarUnit, zone: string): number
  localParts(at: number, zone: string): LocalParts
}

/** `dayOfWeek` is 1 on Mondays. `offset` is like `+01:00`. */
type LocalParts = {
  readonly [part in Exclude<CalendarUnit, 'week'> | 'millisecond' | 'dayOfWeek' | 'dayOfYear']: number
} & { readonly offset: string }

export class DatePatternError extends Error {}

const LONGEST_PATTERN = 500

type Local = LocalParts & {
  readonly at: number
  readonly zone: string
  readonly zoneNames: { short?: string; long?: string }
}

const localOf = (at: number, zone: string, calendar: Calendar): Local => ({
  ...calendar.localParts(at, zone),
  at,
  zone,
  zoneNames: {},
})

const padded = (value: number, width: number): string =>
  value < 0 ? `-${padded(-value, width)}` : String(value).padStart(width, '0')

const names = new Map<string, string>()

/** Returns the English name, as the reference prints it. Counts from January and from Monday. */
function nameOf(kind: 'month' | 'weekday', style: 'long' | 'short', number: number): string {
  const key = `${kind} ${style} ${number}`
  const known = names.get(key)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', { [kind]: style, timeZone: 'UTC' })
  // 2024 begins on a Monday.
  const name = format.format(kind === 'month' ? Date.UTC(2024, number - 1, 1) : Date.UTC(2024, 0, number))
  names.set(key, name)
  return name
}

const text = (kind: 'month' | 'weekday', number: number, width: number): string =>
  nameOf(kind, width >= 4 ? 'long' : 'short', number)

const year = (value: number, width: number): string =>
  width === 2 ? padded(((value % 100) + 100) % 100, 2) : padded(value, width)

/** Returns the week and its year by ISO 8601. */
function isoWeek({ year, dayOfYear, dayOfWeek }: Local): { week: number; year: number } {
  const week = Math.floor((dayOfYear - dayOfWeek + 10) / 7)
  if (week < 1) return { week: weeksOf(year - 1), year: year - 1 }
  return week > weeksOf(year) ? { week: 1, year: year + 1 } : { week, year }
}

function weeksOf(year: number): number {
  const weekdayOfLastDay = (y: number): number =>
    (y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)) % 7
  return weekdayOfLastDay(year) === 4 || weekdayOfLastDay(year - 1) === 3 ? 53 : 52
}

const zoneFormats = new Map<string, Intl.DateTimeFormat>()
const MOST_ZONE_FORMATS = 100

/** Creating a format takes ten times as long as using it. */
function zoneFormat(zone: string, style: 'short' | 'long'): Intl.DateTimeFormat {
  const key = `${style} ${zone}`
  const known = zoneFormats.get(key)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: style })
  if (zoneFormats.size >= MOST_ZONE_FORMATS) zoneFormats.clear()
  zoneFormats.set(key, format)
  return format
}

/** Cached, because a pattern may need the name at every letter. */
function zoneName(local: Local, style: 'short' | 'long'): string {
  const known = local.zoneNames[style]
  if (known !== undefined) return known
  const parts = zoneFormat(local.zone, style).formatToParts(local.at)
  const name = parts.find(part => part.type === 'timeZoneName')?.value ?? local.zone
  local.zoneNames[style] = name
  return name
}

function offset(local: Local, width: number): string {
  if (width >= 3) return local.zone
  return width === 2 ? local.offset : local.offset.replace(':', '')
}

/** `Y` is the calendar year (year of era), `x` the week year. */
const LETTERS: Record<string, (local: Local, width: number) => string> = {
  G: () => 'AD',
  C: ({ year: y }, width) => padded(Math.floor(y / 100), width),
  Y: ({ year: y }, width) => year(y, width),
  y: ({ year: y }, width) => year(y, width),
  x: (local, width) => year(isoWeek(local).year, width),
  w: (local, width) => padded(isoWeek(local).week, width),
  e: ({ dayOfWeek }, width) => padded(dayOfWeek, width),
  E: ({ dayOfWeek }, width) => text('weekday', dayOfWeek, width),
  M: ({ month }, width) => (width >= 3 ? text('month', month, width) : padded(month, width)),
  D: ({ dayOfYear }, width) => padded(dayOfYear, width),
  d: ({ day }, width) => padded(day, width),
  a: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  K: ({ hour }, width) => padded(hour % 12, width),
  h: ({ hour }, width) => padded(hour % 12 || 12, width),
  H: ({ hour }, width) => padded(hour, width),
  k: ({ hour }, width) => padded(hour || 24, width),
  m: ({ minute }, width) => padded(minute, width),
  s: ({ second }, width) => padded(second, width),
  S: ({ millisecond }, width) => padded(millisecond, 3).padEnd(width, '0').slice(0, width),
  z: (local, width) => zoneName(local, width >= 4 ? 'long' : 'short'),
  Z: offset,
}

/** Formats by a Joda pattern such as `d MMM YYYY` (resources brief 12.1). Throws `DatePatternError` for unknown letters. */
export function formatDate(at: number, pattern: string, zone: string, calendar: Calendar): string {
  if (pattern.length > LONGEST_PATTERN) throw new DatePatternError('date pattern is too long')
  return formatLocal(localOf(at, zone, calendar), pattern)
}

const formatLocal = (local: Local, pattern: string): string =>
  pattern.replace(/''|'((?:[^']|'')*)'|([A-Za-z])\2*/g, (run: string, quoted?: string, letter?: string) => {
    if (run === "''") return "'"
    if (quoted !== undefined) return quoted.replaceAll("''", "'")
    const print = LETTERS[letter!]
    const message = `date pattern '${pattern}' has the letter '${letter}', which has no meaning`
    if (!print) throw new DatePatternError(message)
    return print(local, Math.min(run.length, 20))
  })

/** The Joda pattern for each letter of the standard `date` filter. */
const DIRECTIVES: ReadonlyMap<string, string> = new Map(
  `a E,A EEEE,b MMM,B MMMM,d dd,e d,H HH,I hh,j DDD,L SSS,m MM,M mm,p a,S ss,y YY,Y YYYY,z Z,Z z,F YYYY-MM-dd,T HH:mm:ss`
    .split(',')
    .map(pair => pair.split(' ') as [letter: string, pattern: string]),
)

/** Formats by a pattern of the standard `date` filter, such as `%d %b %Y`. `%-d` drops leading zeros. */
export function formatDirectives(at: number, pattern: string, zone: string, calendar: Calendar): string {
  if (pattern.length > LONGEST_PATTERN) throw new DatePatternError('date pattern is too long')
  const local = localOf(at, zone, calendar)
  return pattern.replace(/%(-?)([a-zA-Z%])/g, (directive: string, bare: string, letter: string) => {
    if (letter === '%') return '%'
    if (letter === 's') return String(Math.floor(at / 1000))
    const joda = DIRECTIVES.get(letter)
    if (!joda) return directive
    const printed = formatLocal(local, joda)
    if (letter === 'e' && bare === '') return printed.padStart(2, ' ')
    return bare ? printed.replace(/^0+(?=\d)/, '') : printed
  })
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})$/

/** Reads milliseconds, `2026-01-31` (its start in the zone) or a full ISO time. Returns undefined for anything else. */
export function instantOf(value: unknown, zone: string, calendar: Calendar): number | undefined {
  if (asNumber(value)) return calendar.instant(asInteger(value) ?? Number.NaN)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return DATE_TIME.test(text) ? calendar.instant(Date.parse(text)) : calendar.dayStart(text, zone)
}
