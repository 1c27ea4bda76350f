import { Refusal } from '../../kernel/errors.ts'
import { type Decimal, decimal } from '../../kernel/money.ts'
import { isLongerThan, isStorable } from '../../kernel/text.ts'
import { instant, isoDay, type TimeZone } from '../../kernel/time.ts'
import type { Search, SearchTerm } from '../../platform/search.ts'
import type { FieldDefinition, FieldType } from '../configuration.ts'
import type { FieldData } from './groups.ts'
import { readDate } from './value-checks.ts'

/** Text values by field name. A field without a value has no entry, or an empty one in an update. */
export type FieldValues = Record<string, string[]>

export const LARGEST_VALUE_LENGTH = 20_000
export const LARGEST_VALUE_COUNT = 1_000
export const LARGEST_FIELD_COUNT = 1_000
const LARGEST_NAME_LENGTH = 200

/** Replaces the field name in a problem of all values: none could be read. */
export const ALL_VALUES = 'fieldValues'

/** Empty without an entry. Safe for inherited names such as `constructor`. */
export const valuesOf = (values: FieldValues, name: string): readonly string[] =>
  Object.hasOwn(values, name) ? (values[name] ?? []) : []

/** Names that no field may have; undefined if valid. */
export function nameProblem(name: string): FieldError | undefined {
  if (name === '') return fieldError(name, 'INVALID_FIELD', 'has no name; name the field or leave it out')
  // Assigning to it would change the object's prototype.
  if (name === '__proto__') return fieldError(name, 'INVALID_FIELD', 'is not a name for a field; remove it')
  if (isLongerThan(name, LARGEST_NAME_LENGTH) || !isStorable(name))
    return fieldError(name, 'INVALID_FIELD', 'is not known; remove it or check its spelling')
  return undefined
}

/** Completes the sentence "Field 'name' …". */
export const TOO_LONG = `must be at most ${LARGEST_VALUE_LENGTH} characters long; shorten it`

/** Undefined if it is no scalar. Numbers become decimal text without exponent. */
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
 * Scalars and arrays become arrays of text (brief 0.4). null, an empty array and "" all mean that the field has no
 * value: it gets an empty entry, which removes the stored value (brief 6.3). A field with a problem gets no entry, so
 * its stored value stays comparable. null and undefined mean no fields.
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

/** Replaces named fields, removes those with empty entries, keeps the others. */
export function mergeFieldValues(current: FieldValues, update: FieldValues): FieldValues {
  const merged = new Map(Object.entries(current))
  for (const [name, values] of Object.entries(update)) merged.set(name, values)
  return Object.fromEntries([...merged].filter(([, values]) => values.length > 0))
}

/** On each side of the point: keeps the arithmetic of rating templates cheap. */
export const LARGEST_DIGIT_COUNT = 40

const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/

/** Minus sign, digits and point; no separators, plus sign or exponent (brief 6.4). */
export const isPlainNumber = (text: string): boolean => PLAIN_NUMBER.test(text)

/** As written: 2 for `5.00`. The text must be a plain number. */
export const decimalPlacesOf = (text: string): number => {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

/** Undefined if the text is not plain or has more than 40 digits on a side of the point. */
export function plainDecimal(text: string): Decimal | undefined {
  if (!isPlainNumber(text)) return undefined
  const places = decimalPlacesOf(text)
  const whole = text.replace('-', '').length - (places > 0 ? places + 1 : 0)
  return places > LARGEST_DIGIT_COUNT || whole > LARGEST_DIGIT_COUNT ? undefined : decimal(text)
}

/** Stores dates as milliseconds, media in lower case, all else as sent. Wrong values stay unchanged. */
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

/** Covers the owner's values and those of its groups. */
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

// Problems of field values as responses contain them (brief 8, FieldErrors).

export type FieldErrorCode =
  /** Required, and without a value. */
  | 'MISSING'
  /** Unknown field, or one whose condition does not hold. */
  | 'INVALID_FIELD'
  /** Cannot be read as the field's type. */
  | 'INVALID_TYPE'
  /** Of the right type, but not allowed. */
  | 'INVALID_VALUE'

/** Messages never repeat values: these may be personal data, and messages are logged. */
export type FieldError = { fieldName: string; code: FieldErrorCode; message: string }

/** `index` counts from 0 in the order of the field's groups. */
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

/** Merges problems of the same group. */
export function joinFieldErrors(first: FieldErrors, second: FieldErrors): FieldErrors {
  const groups = new Map<string, FieldGroupError>()
  for (const group of [...first.fieldGroupErrors, ...second.fieldGroupErrors]) {
    const earlier = groups.get(group.locator)
    groups.set(group.locator, earlier ? { ...group, errors: [...earlier.errors, ...group.errors] } : group)
  }
  return fieldErrors([...first.errors, ...second.errors], [...groups.values()])
}

const SHOWN_LENGTH = 80

/** Shortens a name or locator from outside for a message. */
export const shown = (text: string): string =>
  text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text.toWellFormed()

/** `rule` completes "Field 'name' …": the problem and its fix, without full stop. */
export function fieldError(fieldName: string, code: FieldErrorCode, rule: string): FieldError {
  return { fieldName: shown(fieldName), code, message: `Field '${shown(fieldName)}' ${rule}.` }
}

// Records are found by folded text, so case and the ways to write an accent do not matter. A term is at most this many
// code points: of longer texts only the beginning is indexed (brief 5.2).
const LONGEST_TERM = 2_700

/** Upper case first (`ß` is `SS`), then lower case letter by letter, because `ς` depends on its place. */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const lower = Array.from(text.normalize('NFKC').toUpperCase(), letter => letter.toLowerCase())
  return lower.join('').normalize('NFC')
}

/** ASCII needs no normalisation, and each code point is one unit. */
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/** Folded, and cut to what is indexed. */
export function termOf(value: string): string {
  const text = folded(value)
  if (isAscii(text)) return text.slice(0, LONGEST_TERM)
  return Array.from(text).slice(0, LONGEST_TERM).join('')
}

/** Unique terms. A date is found as stored, in milliseconds, and as a day. */
export function termsOf(field: FieldDefinition, values: readonly string[], zone: TimeZone): SearchTerm[] {
  const terms = values.flatMap(value => readings(field, value, zone)).map(termOf)
  return [...new Set(terms)].map(term => ({ field: field.name, term }))
}

function readings({ type }: FieldDefinition, value: string, zone: TimeZone): string[] {
  const at = type === 'date' && /^-?\d{1,15}$/.test(value) ? instant(Number(value)) : undefined
  return at === undefined ? [value] : [value, isoDay(at, zone)]
}

/** `searchField` requires one of the other two. */
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

/** Refuses (400) and lists the searchable fields. */
export function assertSearchable(name: string, searchable: readonly string[]): void {
  if (searchable.includes(name)) return
  const known = searchable.length === 0 ? 'no field is' : `these fields are: ${searchable.join(', ')}`
  const message = `'searchField' '${shown(name)}' is not searchable; ${known}.`
  throw new Refusal('invalidParameter', message, { searchableFields: searchable })
}
