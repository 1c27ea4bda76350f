import { memoByObject } from '../../kernel/maps.ts'
import { countText, isLongerThan } from '../../kernel/text.ts'
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
import { matchesPattern, patternSteps } from './patterns.ts'
import {
  decimalPlacesOf,
  type FieldErrorCode,
  isPlainNumber,
  LARGEST_DIGIT_COUNT,
  plainDecimal,
  shortenForMessage,
} from './values.ts'

/** Reads a date: milliseconds, or an ISO day as its start in the tenant's time zone (brief 6.4). */
export const readDate = (text: string, zone: TimeZone): Instant | undefined =>
  /^-?\d+$/.test(text) ? instant(Number(text) || 0) : dayStart(text, zone)

/** A bound, and how messages show it. */
type DateBound = {
  readonly at: Instant
  readonly name: string
  /** Values up to this one are certainly within the bound, so that its exact time need not be computed. */
  readonly within?: Instant
}

/** Whether the value is before the bound. Reads `at`, which needs the calendar, only if `within` does not decide. */
export const isTooEarly = (value: Instant, bound: DateBound): boolean =>
  (bound.within === undefined || value < bound.within) && value < bound.at

/** Whether the value is after the bound. Reads `at`, which needs the calendar, only if `within` does not decide. */
export const isTooLate = (value: Instant, bound: DateBound): boolean =>
  (bound.within === undefined || value > bound.within) && value > bound.at

type DateBounds = { readonly earliest: readonly DateBound[]; readonly latest: readonly DateBound[] }

/** Cached bounds. Computing them needs the calendar, and a request has many values. */
type KnownBounds = {
  /** The last result. All values of one change are checked at the same moment. */
  last: Span & { zone: TimeZone; bounds: DateBounds }
  /** By the start of the day, for bounds that stay the same all day. */
  readonly byDay: Map<Instant, { zone: TimeZone; bounds: DateBounds }> | undefined
}

const known = new WeakMap<FieldDefinition, KnownBounds>()

/** The most days that are cached for a field. The cache is then cleared. */
const MOST_DAYS = 1_500

const newDays = (definition: FieldDefinition): KnownBounds['byDay'] =>
  isSameAllDay(definition) ? new Map() : undefined

/** Inclusive bounds. A bound that is a day includes the whole day. */
export function dateBounds(definition: FieldDefinition, now: Instant, zone: TimeZone): DateBounds {
  const found = known.get(definition)
  const last = found?.last
  if (last && last.start <= now && now <= last.end && last.zone === zone) return last.bounds
  const byDay = found ? found.byDay : newDays(definition)
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

/** Whether the bounds stay the same all day: offsets in days or larger units that are rounded to the day do. */
const isSameAllDay = ({ earliestOffset, latestOffset }: FieldDefinition): boolean =>
  [earliestOffset, latestOffset].every(
    offset => !offset || (offset.roundToDay && ['day', 'week', 'month', 'year'].includes(offset.unit)),
  )

function boundsAt(definition: FieldDefinition, now: Instant, zone: TimeZone): DateBounds {
  const { earliest, latest, earliestOffset, latestOffset } = definition
  const first = earliest === undefined ? undefined : readDate(earliest, zone)
  const last = latest === undefined ? undefined : readDate(latest, zone)
  const makeBound = (find: () => Instant, wholeDay: boolean, within?: Instant): DateBound => ({
    get at() {
      return find()
    },
    get name() {
      return formatLocalTime(find(), wholeDay, zone)
    },
    ...(within !== undefined && { within }),
  })
  const fixedBounds = (at: Instant | undefined, wholeDay: boolean): DateBound[] =>
    at === undefined ? [] : [makeBound(() => at, wholeDay)]
  /** If now is within the bound, the exact bound is computed only for values on its other side. */
  const relativeBounds = (
    offset: DateOffset | undefined,
    round: Rounding,
    isWithin: boolean,
  ): DateBound[] => {
    if (!offset) return []
    let found: Instant | undefined
    const find = (): Instant => {
      found ??= offsetFrom(now, offset, round, zone)
      return found
    }
    return [makeBound(find, !!offset.roundToDay, isWithin ? now : undefined)]
  }
  const end = last !== undefined && isDay(latest) ? endOfDay(last, zone) : last
  return {
    earliest: [
      ...fixedBounds(first, isDay(earliest)),
      ...relativeBounds(earliestOffset, startOfDay, (earliestOffset?.amount ?? 0) < 0),
    ],
    latest: [
      ...fixedBounds(end, isDay(latest)),
      ...relativeBounds(latestOffset, endOfDay, (latestOffset?.amount ?? 0) > 0),
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
    // Beyond the calendar, which is how authors write "any date".
    return amount < 0 ? EARLIEST : LATEST
  }
  return roundToDay ? round(at, zone) : at
}

function formatLocalTime(at: Instant, wholeDay: boolean, zone: TimeZone): string {
  const { year, month, day, hour, minute, second } = localParts(at, zone)
  const two = (part: number): string => String(part).padStart(2, '0')
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return wholeDay ? date : `${date} ${two(hour)}:${two(minute)}:${two(second)} ${zone}`
}

/** `rule` completes the sentence "Field 'name' …". */
type Breach = { code: FieldErrorCode; rule: string }

export type CheckContext = {
  timeZone: TimeZone
  now: Instant
  table(name: string): LookupTable | undefined
  /** Whether a group of this field has the locator. */
  hasGroup(fieldName: string, locator: string): boolean
  /** Steps that remain for patterns. All fields of an owner share them and reduce their number. */
  patternBudget: { steps: number }
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const SHOWN_CHOICES = 20

const wrongType = (rule: string): Breach => ({ code: 'INVALID_TYPE', rule })
const wrongValue = (rule: string): Breach => ({ code: 'INVALID_VALUE', rule })

type ValueCheck = (value: string) => Breach | undefined

/** The permitted values as a set, because a field may have many. */
const allowedIn = memoByObject((values: readonly string[]): ReadonlySet<string> => new Set(values))

/** Checks by type. Each computes only once what depends on the definition and the moment alone. */
const CHECKS: Record<FieldType, (definition: FieldDefinition, context: CheckContext) => ValueCheck> = {
  string:
    ({ regex, maximumCount }, { patternBudget }) =>
    value => {
      if (maximumCount !== undefined && isLongerThan(value, maximumCount))
        return wrongValue(`must be at most ${countText(maximumCount, 'character')} long; shorten it`)
      if (regex === undefined) return undefined
      patternBudget.steps -= patternSteps(regex, value)
      if (patternBudget.steps < 0)
        return wrongValue('is too long to be compared with its pattern; shorten it or send fewer values')
      if (!matchesPattern(regex, value))
        return wrongValue(`must match the whole pattern ${shortenForMessage(regex)}; correct it`)
      return undefined
    },

  number: ({ decimalPlaces, minimum, maximum }) => {
    const kind =
      decimalPlaces === undefined
        ? 'a number'
        : `a number with at most ${countText(decimalPlaces, 'decimal place')}`
    return value => {
      if (!isPlainNumber(value))
        return wrongType(`must be ${kind}, in plain digits without separators or exponent`)
      const number = plainDecimal(value)
      if (number === undefined)
        return wrongValue(
          `must have at most ${LARGEST_DIGIT_COUNT} digits before and after the decimal point`,
        )
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
      return wrongValue(`must be exactly one of ${quoteFirstChoices(values)}`)
    },

  lookup: ({ name, table: tableName = '' }, context) => {
    const table = context.table(tableName)
    return value => {
      if (!table)
        return wrongValue(`cannot be checked: the configuration has no table '${tableName}'; deploy it`)
      const keys = tableKeys(table, name)
      if (keys.has(value)) return undefined
      return wrongValue(
        keys.size === 0
          ? `cannot have a value: the table '${tableName}' has no rows`
          : `must be exactly one of ${quoteFirstChoices(keys)} (keys in the table '${tableName}')`,
      )
    }
  },

  email: () => value =>
    isEmailAddress(value) ? undefined : wrongType('must be an e-mail address such as name@example.com'),

  phone: () => value =>
    isPhoneNumber(value)
      ? undefined
      : wrongType('must be a phone number of 3 to 20 digits, which spaces and +()- can separate'),

  media: () => value =>
    UUID.test(value) ? undefined : wrongType('must be the locator of an uploaded media file (a UUID)'),

  group:
    ({ name }, { hasGroup }) =>
    value =>
      hasGroup(name, value)
        ? undefined
        : wrongValue(
            `has no group '${shortenForMessage(value)}'; add and remove groups in the lists of field groups`,
          ),
}

/** Returns the check for a field's values. Pure, except that it reduces the pattern budget. */
export const valueCheck = (definition: FieldDefinition, context: CheckContext): ValueCheck =>
  CHECKS[definition.type](definition, context)

const ATOM = "[\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~-]+"
const QUOTED = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\x20-\\x7e])+"'
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'
const emailPattern = (): RegExp =>
  new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})@${LABEL}(?:\\.${LABEL})+$`, 'u')

/** Compiled at first use: a pattern of all alphabets takes a millisecond. */
let email: RegExp | undefined

const LONGEST_EMAIL = 254
const LONGEST_LOCAL_PART = 64

/**
 * Whether the text is an RFC 5321 mailbox, possibly with characters beyond ASCII (RFC 6531). The domain must have at least two
 * labels.
 */
function isEmailAddress(text: string): boolean {
  email ??= emailPattern()
  return text.length <= LONGEST_EMAIL && text.lastIndexOf('@') <= LONGEST_LOCAL_PART && email.test(text)
}

const LONGEST_PHONE = 40

/** Whether the text is in E.164 or digits with spaces and +()-, with 3 to 20 digits (brief 5.2). */
function isPhoneNumber(text: string): boolean {
  if (text.length > LONGEST_PHONE || !/^[\d ()+-]+$/.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  return digits >= 3 && digits <= 20
}

/** Keys by column, collected at first use. */
const columnKeys = memoByObject((_table: LookupTable) => new Map<number, Set<string>>())

/** The column of a table with the values of the field: the one with its name, or else the first. */
export const lookupColumn = ({ columns }: LookupTable, fieldName: string): number =>
  Math.max(0, columns.indexOf(fieldName))

function tableKeys(table: LookupTable, fieldName: string): ReadonlySet<string> {
  const column = lookupColumn(table, fieldName)
  const known = columnKeys(table)
  const keys = known.get(column) ?? new Set(table.rows.flatMap(row => row[column] ?? []))
  known.set(column, keys)
  return keys
}

/** The first choices, in quotes. */
function quoteFirstChoices(choices: Iterable<string>): string {
  const first: string[] = []
  for (const one of choices) {
    first.push(first.length === SHOWN_CHOICES ? '…' : `'${shortenForMessage(one)}'`)
    if (first.length > SHOWN_CHOICES) break
  }
  return first.join(', ')
}
