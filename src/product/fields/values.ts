import { Refusal } from '../../kernel/errors.ts'
import { type Decimal, decimal } from '../../kernel/money.ts'
import { isLongerThan, isStorable } from '../../kernel/text.ts'
import { type Instant, instant, localParts, type TimeZone } from '../../kernel/time.ts'
import type { Search, SearchTerm } from '../../platform/search.ts'
import type { FieldDefinition, FieldType } from '../configuration.ts'
import type { FieldData } from './groups.ts'
import { readDate } from './value-checks.ts'

/** Field name to its values as text. A field without a value has no entry, or in an update an empty one. */
export type FieldValues = Record<string, string[]>

export const LARGEST_VALUE_LENGTH = 20_000
export const LARGEST_VALUE_COUNT = 1_000
export const LARGEST_FIELD_COUNT = 1_000
const LARGEST_NAME_LENGTH = 200

/** In place of a field's name in a problem of all the values together: none of them was read. */
export const ALL_VALUES = 'fieldValues'

/** The values of a field; none when it has no entry. Safe for names that every object has, like `constructor`. */
export const valuesOf = (values: FieldValues, name: string): readonly string[] =>
  Object.hasOwn(values, name) ? (values[name] ?? []) : []

/** Why a field cannot bear the name, whatever the configuration says; undefined when it can. */
export function nameProblem(name: string): FieldError | undefined {
  if (name === '') return fieldError(name, 'INVALID_FIELD', 'has no name; name the field or leave it out')
  // Assigning to it would change the object's prototype instead of adding an entry.
  if (name === '__proto__') return fieldError(name, 'INVALID_FIELD', 'is not a name for a field; remove it')
  if (isLongerThan(name, LARGEST_NAME_LENGTH) || !isStorable(name))
    return fieldError(name, 'INVALID_FIELD', 'is not known; remove it or check its spelling')
  return undefined
}

/** The rule of a value that is longer than any may be. */
export const TOO_LONG = `must be at most ${LARGEST_VALUE_LENGTH} characters long; shorten it`

/** A scalar of the wire as text; undefined when it is none. Numbers become decimal text without exponent. */
function scalarText(item: unknown): string | undefined {
  if (typeof item === 'string') return item
  if (typeof item === 'number' && Number.isFinite(item)) return decimal(item).toFixed()
  if (typeof item === 'boolean') return String(item)
  return undefined
}

function readField(name: string, wire: unknown): string[] | FieldError {
  const items: unknown[] = Array.isArray(wire) ? wire : [wire]
  if (items.length > LARGEST_VALUE_COUNT)
    return fieldError(name, 'INVALID_VALUE', `takes at most ${LARGEST_VALUE_COUNT} values; send fewer`)
  const texts: string[] = []
  for (const item of items) {
    if (item === null || item === undefined || item === '') continue
    const text = scalarText(item)
    if (text === undefined) {
      const rule = 'must be a text, a number, a boolean or a list of these; send no nested list or object'
      return fieldError(name, 'INVALID_TYPE', rule)
    }
    if (isLongerThan(text, LARGEST_VALUE_LENGTH)) return fieldError(name, 'INVALID_VALUE', TOO_LONG)
    if (!isStorable(text)) {
      const rule = 'has a character that cannot be stored (NUL or half of a surrogate pair); remove it'
      return fieldError(name, 'INVALID_VALUE', rule)
    }
    texts.push(text)
  }
  return texts
}

/**
 * `fieldValues` of a request: scalars and arrays become arrays of text (brief 0.4). null, an empty array and ""
 * all say that the field has no value; it then has an empty entry, which removes what is stored (brief 6.3).
 * A field with a problem has no entry, so that what is stored stays comparable. null and undefined mean no fields.
 */
export function readFieldValues(wire: unknown): { values: FieldValues; problems: FieldError[] } {
  const refused = (code: FieldErrorCode, rule: string) => ({
    values: {},
    problems: [{ fieldName: ALL_VALUES, code, message: `Field values must be ${rule}.` }],
  })
  if (wire === null || wire === undefined) return { values: {}, problems: [] }
  if (typeof wire !== 'object' || Array.isArray(wire))
    return refused('INVALID_TYPE', 'an object of field names and their values')
  const fields = Object.entries(wire)
  if (fields.length > LARGEST_FIELD_COUNT)
    return refused('INVALID_VALUE', `at most ${LARGEST_FIELD_COUNT} fields; send fewer`)
  const read: [string, string[]][] = []
  const problems: FieldError[] = []
  for (const [name, value] of fields) {
    const result = nameProblem(name) ?? readField(name, value)
    if (Array.isArray(result)) read.push([name, result])
    else problems.push(result)
  }
  return { values: Object.fromEntries(read), problems }
}

/** What is stored after an update: named fields are replaced, empty entries remove, the others stay. */
export function mergeFieldValues(current: FieldValues, update: FieldValues): FieldValues {
  const merged = new Map(Object.entries(current))
  for (const [name, values] of Object.entries(update)) merged.set(name, values)
  return Object.fromEntries([...merged].filter(([, values]) => values.length > 0))
}

/** Digits before and after the point, each: keeps the arithmetic of rating templates cheap. */
export const LARGEST_DIGIT_COUNT = 40

const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/

/** Plain decimal text: a minus sign, digits, a point; no separators, plus sign or exponent (brief 6.4). */
export const isPlainNumber = (text: string): boolean => PLAIN_NUMBER.test(text)

/** Digits after the point as written: 2 for `5.00`. The text must be a plain number. */
export const decimalPlacesOf = (text: string): number => {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

/** The number, or undefined when the text is not plain or has more than 40 digits on a side of the point. */
export function plainDecimal(text: string): Decimal | undefined {
  if (!isPlainNumber(text)) return undefined
  const places = decimalPlacesOf(text)
  const whole = text.replace('-', '').length - (places > 0 ? places + 1 : 0)
  return places > LARGEST_DIGIT_COUNT || whole > LARGEST_DIGIT_COUNT ? undefined : decimal(text)
}

/** Values as they are stored: dates as milliseconds, media in lower case, all else as sent; wrong values stay as they are. */
export function normaliseFieldValues(
  definitions: FieldDefinition[],
  values: FieldValues,
  zone: TimeZone,
): FieldValues {
  const types = new Map(definitions.map(definition => [definition.name, definition.type]))
  const stored = (value: string, type: FieldType | undefined): string => {
    if (type === 'date') return String(readDate(value, zone) ?? value)
    return type === 'media' ? value.toLowerCase() : value
  }
  const entries = Object.entries(values).filter(([, list]) => list.length > 0)
  return Object.fromEntries(
    entries.map(([name, list]) => [name, list.map(value => stored(value, types.get(name)))]),
  )
}

/** The owner's values and those of its groups as they are stored. */
export function normaliseFieldData(
  definitions: FieldDefinition[],
  data: FieldData,
  zone: TimeZone,
): FieldData {
  const fieldsOf = (name: string): FieldDefinition[] =>
    definitions.find(definition => definition.name === name)?.fields ?? []
  return {
    values: normaliseFieldValues(definitions, data.values, zone),
    groups: data.groups.map(group => ({
      ...group,
      values: normaliseFieldValues(fieldsOf(group.fieldName), group.values, zone),
    })),
  }
}

// Problems of field values, in the shape that answers carry them (brief 8, FieldErrors).

export type FieldErrorCode =
  /** A required field has no value. */
  | 'MISSING'
  /** No such field, or one whose condition does not hold. */
  | 'INVALID_FIELD'
  /** The value cannot be read as the field's type at all. */
  | 'INVALID_TYPE'
  /** The value is of the type, but outside what the field allows. */
  | 'INVALID_VALUE'

/** Messages never repeat values: these may be personal data, and messages are logged. */
export type FieldError = { fieldName: string; code: FieldErrorCode; message: string }

/** Problems inside one field group. `index` counts from 0 in the order in which the field lists its groups. */
export type FieldGroupError = { fieldName: string; errors: FieldError[]; locator: string; index: number }

export type FieldErrors = {
  hasErrors: boolean
  errors: FieldError[]
  fieldGroupErrors: FieldGroupError[]
}

export const fieldErrors = (errors: FieldError[], fieldGroupErrors: FieldGroupError[] = []): FieldErrors => ({
  hasErrors: errors.length > 0 || fieldGroupErrors.length > 0,
  errors,
  fieldGroupErrors,
})

/** Both sets of problems as one; those of the same group stand together. */
export function joinFieldErrors(first: FieldErrors, second: FieldErrors): FieldErrors {
  const groups = new Map<string, FieldGroupError>()
  for (const group of [...first.fieldGroupErrors, ...second.fieldGroupErrors]) {
    const earlier = groups.get(group.locator)
    groups.set(group.locator, earlier ? { ...group, errors: [...earlier.errors, ...group.errors] } : group)
  }
  return fieldErrors([...first.errors, ...second.errors], [...groups.values()])
}

const SHOWN_LENGTH = 80

/** A name or locator from outside, short enough to stand in a message. */
export const shown = (text: string): string =>
  text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text.toWellFormed()

/** `rule` completes the sentence "Field 'name' …": what is wrong and what to do, without the full stop. */
export function fieldError(fieldName: string, code: FieldErrorCode, rule: string): FieldError {
  return { fieldName: shown(fieldName), code, message: `Field '${shown(fieldName)}' ${rule}.` }
}

// How records are found by their values: text folded, so that case and the ways to write an accent do not count.
/** Code points of a term: of longer texts only the beginning is indexed (brief 5.2). */
const LONGEST_TERM = 2_700

/** Text as it is compared: first in upper case (`ß` is `SS`), then in lower case letter by letter (`ς` depends on its place). */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const lower = Array.from(text.normalize('NFKC').toUpperCase(), letter => letter.toLowerCase())
  return lower.join('').normalize('NFC')
}

/** Every way to write it is one, and each of its code points is one of the text's units. */
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

function termOf(value: string): string {
  const text = folded(value)
  if (isAscii(text)) return text.slice(0, LONGEST_TERM)
  return Array.from(text).slice(0, LONGEST_TERM).join('')
}

/** The terms of a field's values, each once. A date can be found as it is stored, in milliseconds, and as a day. */
export function termsOf(field: FieldDefinition, values: readonly string[], zone: TimeZone): SearchTerm[] {
  const terms = values.flatMap(value => readings(field, value, zone)).map(termOf)
  return [...new Set(terms)].map(term => ({ field: field.name, term }))
}

function readings({ type }: FieldDefinition, value: string, zone: TimeZone): string[] {
  const at = type === 'date' && /^-?\d{1,15}$/.test(value) ? instant(Number(value)) : undefined
  return at === undefined ? [value] : [value, isoDay(at, zone)]
}

function isoDay(at: Instant, zone: TimeZone): string {
  const { year, month, day } = localParts(at, zone)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

/** What a list query looks for, if anything; `searchField` stands with one of the other two. */
export function searchOf(query: {
  readonly searchField?: string | undefined
  readonly searchValue?: string | undefined
  readonly searchPrefix?: string | undefined
}): Search | undefined {
  const { searchField: field, searchValue, searchPrefix = '' } = query
  if (field === undefined) return undefined
  return searchValue === undefined
    ? { field, term: termOf(searchPrefix), match: 'prefix' }
    : { field, term: termOf(searchValue), match: 'equal' }
}

/** Refuses (400) a search in a field that is not searchable, naming those that are. */
export function assertSearchable(name: string, searchable: readonly string[]): void {
  if (searchable.includes(name)) return
  const known = searchable.length === 0 ? 'no field is' : `these fields are: ${searchable.join(', ')}`
  const message = `'searchField' '${shown(name)}' is not searchable; ${known}.`
  throw new Refusal('invalidParameter', message, { searchableFields: searchable })
}
