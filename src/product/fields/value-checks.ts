import type { RE2JS } from 're2js'
import { loadPatterns } from '../../bundles/load.ts'
import { BoundedCache, memoByObject } from '../../kernel/maps.ts'
import { isLongerThan } from '../../kernel/text.ts'
import {
  add,
  dayStart,
  EARLIEST,
  endOfDay,
  type Instant,
  instant,
  LATEST,
  localParts,
  plainDay,
  type Span,
  startOfDay,
  type TimeZone,
} from '../../kernel/time.ts'
import type { DateOffset, FieldDefinition, FieldType, LookupTable } from '../configuration.ts'
import {
  decimalPlacesOf,
  type FieldErrorCode,
  isPlainNumber,
  LARGEST_DIGIT_COUNT,
  plainDecimal,
  shown,
} from './values.ts'

/** A date value: milliseconds text, or an ISO day read as its start in the tenant's zone (brief 6.4). */
export const readDate = (text: string, zone: TimeZone): Instant | undefined =>
  /^-?\d+$/.test(text) ? instant(Number(text) || 0) : dayStart(text, zone)

/** A bound of a date field, with how a message names it. */
type DateBound = {
  readonly at: Instant
  readonly name: string
  /** A time that surely lies within the bound, as all do that are farther from it: then nobody need know where it lies. */
  readonly within?: Instant
}

export const isTooEarly = (value: Instant, bound: DateBound): boolean =>
  (bound.within === undefined || value < bound.within) && value < bound.at

export const isTooLate = (value: Instant, bound: DateBound): boolean =>
  (bound.within === undefined || value > bound.within) && value > bound.at

type DateBounds = { readonly earliest: readonly DateBound[]; readonly latest: readonly DateBound[] }

/** What was worked out of a field's bounds. */
type KnownBounds = {
  /** Asked for last: all values of one change are checked at one moment. */
  last: Span & { zone: TimeZone; bounds: DateBounds }
  /** Of whole days by their starts, for those that stand until the day is over, and those that do not go by the moment. */
  readonly byDay: Map<Instant, { zone: TimeZone; bounds: DateBounds }> | undefined
}

const known = new WeakMap<FieldDefinition, KnownBounds>()

/** Days of one field whose bounds are remembered; with more of them it begins anew. */
const MOST_DAYS = 1_500

/** The inclusive bounds of a date field at `now`. A bound that is a day takes in the whole of that day. */
export function dateBounds(definition: FieldDefinition, now: Instant, zone: TimeZone): DateBounds {
  const found = known.get(definition)
  const last = found?.last
  if (last && last.start <= now && now <= last.end && last.zone === zone) return last.bounds
  const byDay: KnownBounds['byDay'] = found ? found.byDay : standsAllDay(definition) ? new Map() : undefined
  const day = byDay && plainDay(now, zone)
  const ofDay = day && byDay.get(day.start)
  const bounds = ofDay?.zone === zone ? ofDay.bounds : boundsAt(definition, now, zone)
  if (day && ofDay?.bounds !== bounds) {
    if (byDay.size >= MOST_DAYS) byDay.clear()
    byDay.set(day.start, { zone, bounds })
  }
  const { start, end } = day ?? { start: now, end: now }
  known.set(definition, { last: { start, end, zone, bounds }, byDay })
  return bounds
}

/** Days, weeks, months and years after any time of a day, rounded to the day, are the same day. */
const standsAllDay = ({ earliestOffset, latestOffset }: FieldDefinition): boolean =>
  [earliestOffset, latestOffset].every(
    offset => !offset || (offset.roundToDay && ['day', 'week', 'month', 'year'].includes(offset.unit)),
  )

function boundsAt(definition: FieldDefinition, now: Instant, zone: TimeZone): DateBounds {
  const { earliest, latest, earliestOffset, latestOffset } = definition
  const first = earliest === undefined ? undefined : readDate(earliest, zone)
  const last = latest === undefined ? undefined : readDate(latest, zone)
  const bound = (find: () => Instant, wholeDay: boolean, within?: Instant): DateBound => ({
    get at() {
      return find()
    },
    get name() {
      return printed(find(), wholeDay, zone)
    },
    ...(within !== undefined && { within }),
  })
  const fixed = (at: Instant | undefined, wholeDay: boolean): DateBound[] =>
    at === undefined ? [] : [bound(() => at, wholeDay)]
  /** Where now itself is within the bound that an offset gives, the calendar is walked for other values only. */
  const moving = (offset: DateOffset | undefined, round: Rounding, isWithin: boolean): DateBound[] => {
    if (!offset) return []
    let found: Instant | undefined
    const find = (): Instant => {
      found ??= offsetFrom(now, offset, round, zone)
      return found
    }
    return [bound(find, !!offset.roundToDay, isWithin ? now : undefined)]
  }
  const end = last !== undefined && isDay(latest) ? endOfDay(last, zone) : last
  return {
    earliest: [
      ...fixed(first, isDay(earliest)),
      ...moving(earliestOffset, startOfDay, (earliestOffset?.amount ?? 0) < 0),
    ],
    latest: [
      ...fixed(end, isDay(latest)),
      ...moving(latestOffset, endOfDay, (latestOffset?.amount ?? 0) > 0),
    ],
  }
}

type Rounding = (at: Instant, zone: TimeZone) => Instant

const isDay = (text: string | undefined): boolean => text?.includes('-', 1) ?? false

function offsetFrom(now: Instant, offset: DateOffset, round: Rounding, zone: TimeZone): Instant {
  const { amount, unit, roundToDay } = offset
  let at: Instant
  try {
    at = add(now, amount, unit, zone)
  } catch {
    // Beyond what the calendar can express: a way to write "any date".
    return amount < 0 ? EARLIEST : LATEST
  }
  return roundToDay ? round(at, zone) : at
}

function printed(at: Instant, wholeDay: boolean, zone: TimeZone): string {
  const { year, month, day, hour, minute, second } = localParts(at, zone)
  const two = (part: number): string => String(part).padStart(2, '0')
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return wholeDay ? date : `${date} ${two(hour)}:${two(minute)}:${two(second)} ${zone}`
}

// Patterns of fields, by an engine that takes linear time. It is large: loaded with the first configuration.
let engine: typeof RE2JS | undefined

/** Matching is synchronous: the engine has to be there before. Loads it once. */
export async function loadPatternEngine(): Promise<void> {
  engine ??= (await loadPatterns()).RE2JS
}

/** Instructions of the largest pattern that a configuration may have. */
const LARGEST_PATTERN_SIZE = 2_000

const compiled = new BoundedCache<RE2JS>(256)

function patternEngine(): typeof RE2JS {
  if (!engine) throw new Error('No pattern is matched before loadPatternEngine().')
  return engine
}

/** Throws with the reason when the source is not RE2 syntax as it stands. */
export function assertPattern(source: string): void {
  patternEngine().compile(source)
}

function compile(source: string): RE2JS {
  const engine = patternEngine()
  const pattern = compiled.get(source) ?? engine.compile(engine.translateRegExp(source))
  compiled.set(source, pattern)
  return pattern
}

/** Why a field may not have the pattern (RE2 syntax, at most 2,000 instructions); undefined when it may. */
export function patternProblem(source: string): string | undefined {
  try {
    const size = compile(source).programSize()
    if (size <= LARGEST_PATTERN_SIZE) return undefined
    return `The pattern compiles to ${size} instructions; simplify it to at most ${LARGEST_PATTERN_SIZE}.`
  } catch (error) {
    return `The pattern is not RE2 syntax: ${error instanceof Error ? error.message : String(error)}.`
  }
}

/** Upper bound of the steps that matching takes: instructions × characters. Throws as `matchesPattern`. */
export const patternSteps = (source: string, text: string): number =>
  compile(source).programSize() * (text.length + 1)

/** Whether the pattern matches the whole text, in linear time. Throws on a source that `patternProblem` refuses. */
export function matchesPattern(source: string, text: string): boolean {
  // Not `RE2JS.matches`: it builds an automaton of up to 8 MB for each pattern, and an isolate has 128 MB.
  return compile(source).matcher(text).matches()
}

/** What a value breaks; `rule` completes the sentence "Field 'name' …". */
type Breach = { code: FieldErrorCode; rule: string }

export type CheckContext = {
  timeZone: TimeZone
  now: Instant
  table(name: string): LookupTable | undefined
  /** Whether the owner has such a group for the field. */
  hasGroup(fieldName: string, locator: string): boolean
  /** What is left for matching patterns; shared by all fields of an owner and counted down. */
  patternBudget: { steps: number }
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const SHOWN_CHOICES = 20

const wrongType = (rule: string): Breach => ({ code: 'INVALID_TYPE', rule })
const wrongValue = (rule: string): Breach => ({ code: 'INVALID_VALUE', rule })
const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

type ValueCheck = (value: string) => Breach | undefined

/** The choices of a field, of which there may be many: a set for as long as its definition is in memory. */
const allowedIn = memoByObject((values: readonly string[]): ReadonlySet<string> => new Set(values))

/** For each type, a check of single values; what depends only on the definition and the moment is worked out once. */
const CHECKS: Record<FieldType, (definition: FieldDefinition, context: CheckContext) => ValueCheck> = {
  string:
    ({ regex, maximumCount }, { patternBudget }) =>
    value => {
      if (maximumCount !== undefined && isLongerThan(value, maximumCount))
        return wrongValue(`must be at most ${plural(maximumCount, 'character')} long; shorten it`)
      if (regex === undefined) return undefined
      patternBudget.steps -= patternSteps(regex, value)
      if (patternBudget.steps < 0)
        return wrongValue('is too long to be held against its pattern; shorten it or send fewer values')
      if (!matchesPattern(regex, value))
        return wrongValue(`must match the pattern ${shown(regex)} as a whole; correct it`)
      return undefined
    },

  number: ({ decimalPlaces, minimum, maximum }) => {
    const kind =
      decimalPlaces === undefined
        ? 'a number'
        : `a number with at most ${plural(decimalPlaces, 'decimal place')}`
    return value => {
      if (!isPlainNumber(value))
        return wrongType(`must be ${kind}, in plain digits without separators or exponent`)
      const number = plainDecimal(value)
      if (number === undefined)
        return wrongValue(`must have at most ${LARGEST_DIGIT_COUNT} digits on either side of the point`)
      if (decimalPlaces !== undefined && decimalPlacesOf(value) > decimalPlaces)
        return wrongValue(`must be ${kind}`)
      if (minimum !== undefined && number.lt(minimum)) return wrongValue(`must be at least ${minimum}`)
      if (maximum !== undefined && number.gt(maximum)) return wrongValue(`must be at most ${maximum}`)
      return undefined
    }
  },

  date: (definition, { now, timeZone }) => {
    const { earliest, latest } = dateBounds(definition, now, timeZone)
    return value => {
      const at = readDate(value, timeZone)
      if (at === undefined)
        return wrongType('must be a date: milliseconds since 1970, or an existing day as YYYY-MM-DD')
      const early = earliest.find(bound => isTooEarly(at, bound))
      if (early) return wrongValue(`must be a date not before ${early.name}`)
      const late = latest.find(bound => isTooLate(at, bound))
      if (late) return wrongValue(`must be a date not after ${late.name}`)
      return undefined
    }
  },

  select:
    ({ values = [] }) =>
    value => {
      if (allowedIn(values).has(value)) return undefined
      const listed = values.slice(0, SHOWN_CHOICES).map(one => `'${shown(one)}'`)
      if (values.length > SHOWN_CHOICES) listed.push('…')
      return wrongValue(`must be exactly one of ${listed.join(', ')}`)
    },

  lookup: ({ name, table: tableName = '' }, context) => {
    const table = context.table(tableName)
    return value => {
      if (!table)
        return wrongValue(`cannot be checked: the configuration has no table '${tableName}'; deploy it`)
      if (isTableKey(table, name, value)) return undefined
      return wrongValue(`must be exactly one of the keys in the table '${tableName}'`)
    }
  },

  email: () => value =>
    isEmailAddress(value) ? undefined : wrongType('must be an e-mail address such as name@example.com'),

  phone: () => value =>
    isPhoneNumber(value)
      ? undefined
      : wrongType('must be a phone number of 3 to 20 digits; spaces and +()- may stand between them'),

  media: () => value =>
    UUID.test(value) ? undefined : wrongType('must be the locator of an uploaded medium (a UUID)'),

  group:
    ({ name }, { hasGroup }) =>
    value =>
      hasGroup(name, value)
        ? undefined
        : wrongValue(`has no group '${shown(value)}'; add and remove groups through the field group lists`),
}

/** The check of single values of the field. Pure but for the pattern budget, which it counts down. */
export const valueCheck = (definition: FieldDefinition, context: CheckContext): ValueCheck =>
  CHECKS[definition.type](definition, context)

const ATOM = "[\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~-]+"
const QUOTED = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\x20-\\x7e])+"'
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'
const emailPattern = (): RegExp =>
  new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})@${LABEL}(?:\\.${LABEL})+$`, 'u')

/** Made with the first address: a pattern of all alphabets takes a millisecond. */
let email: RegExp | undefined

const LONGEST_EMAIL = 254
const LONGEST_LOCAL_PART = 64

/** An RFC 5321 mailbox, also with letters beyond ASCII (RFC 6531); the domain has at least two labels. */
function isEmailAddress(text: string): boolean {
  email ??= emailPattern()
  return text.length <= LONGEST_EMAIL && text.lastIndexOf('@') <= LONGEST_LOCAL_PART && email.test(text)
}

const LONGEST_PHONE = 40

/** E.164, or digits with spaces and +()-; 3 to 20 digits (brief 5.2). */
function isPhoneNumber(text: string): boolean {
  if (text.length > LONGEST_PHONE || !/^[\d ()+-]+$/.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  return digits >= 3 && digits <= 20
}

/** The keys of a table by column, which are collected when the first value is looked for. */
const columnKeys = memoByObject((_table: LookupTable) => new Map<number, Set<string>>())

/** Whether the value is exactly a cell of the column that has the field's name, or else of the first column. */
function isTableKey(table: LookupTable, fieldName: string, value: string): boolean {
  const column = Math.max(0, table.columns.indexOf(fieldName))
  const known = columnKeys(table)
  const keys = known.get(column) ?? new Set(table.rows.flatMap(row => row[column] ?? []))
  known.set(column, keys)
  return keys.has(value)
}
