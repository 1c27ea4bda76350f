import { memoByObject } from '../../kernel/maps.ts'
import { isLongerThan } from '../../kernel/text.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { FieldDefinition, FieldType, LookupTable } from '../configuration.ts'
import { dateBounds, isTooEarly, isTooLate, readDate } from './dates.ts'
import { type FieldErrorCode, shown } from './errors.ts'
import { matchesPattern, patternSteps } from './patterns.ts'
import { decimalPlacesOf, isPlainNumber, LARGEST_DIGIT_COUNT, plainDecimal } from './values.ts'

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
      return isTableKey(table, name, value)
        ? undefined
        : wrongValue(`must be exactly one of the keys in the table '${tableName}'`)
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

const columnKeys = new WeakMap<LookupTable, Map<number, Set<string>>>()

/**
 * Whether the value is a key of the table: a cell of the column that bears the field's name, so that one table of
 * make, model and year serves three fields, or else of the first column. Exact match.
 */
function isTableKey(table: LookupTable, fieldName: string, value: string): boolean {
  const column = Math.max(0, table.columns.indexOf(fieldName))
  let columns = columnKeys.get(table)
  if (!columns) {
    columns = new Map()
    columnKeys.set(table, columns)
  }
  let keys = columns.get(column)
  if (!keys) {
    keys = new Set(table.rows.flatMap(row => row[column] ?? []))
    columns.set(column, keys)
  }
  return keys.has(value)
}
