import { Refusal } from '../../kernel/errors.ts'
import { type Decimal, decimal } from '../../kernel/money.ts'
import { isLongerThan, isStorable } from '../../kernel/text.ts'
import { instant, isoDay, type TimeZone } from '../../kernel/time.ts'
import type { Search, SearchTerm } from '../../platform/search.ts'
import type { FieldDefinition, FieldType } from '../configuration.ts'
import type { FieldData } from './groups.ts'
import { readDate } from './value-checks.ts'

/** Values as text, by field name. A field without a value has no entry, or an empty one in an update. */
export type FieldValues = Record<string, string[]>

export const LARGEST_VALUE_LENGTH = 20_000
export const LARGEST_VALUE_COUNT = 1_000
export const LARGEST_FIELD_COUNT = 1_000
const LARGEST_NAME_LENGTH = 200

/** Stands for the field name in a problem that concerns all values: none could be read. */
export const ALL_VALUES = 'fieldValues'

/** The values of a field; empty without an entry. Safe for inherited names such as `constructor`. */
export const valuesOf = (values: FieldValues, name: string): readonly string[] =>
  Object.hasOwn(values, name) ? (values[name] ?? []) : []

/** Returns the problem of a name that no field may have; undefined if the name is valid. */
export function nameProblem(name: string): FieldError | undefined {
  if (name === '') return fieldError(name, 'INVALID_FIELD', 'has no name; name the field or leave it out')
  // Assigning to this name would change the object's prototype.
  if (name === '__proto__') return fieldError(name, 'INVALID_FIELD', 'is not a valid field name; remove it')
  if (isLongerThan(name, LARGEST_NAME_LENGTH) || !isStorable(name))
    return fieldError(name, 'INVALID_FIELD', 'is not known; remove it or check its spelling')
  return undefined
}

/** Completes the sentence "Field 'name' …". */
export const TOO_LONG = `must be at most ${LARGEST_VALUE_LENGTH} characters long; shorten it`

/** Converts a scalar to text; undefined for anything else. Numbers become decimal text without an exponent. */
function scalarText(item: unknown): string | undefined {
  if (typeof item === 'string') return item
  if (typeof item === 'number' && Number.isFinite(item)) return decimal(item).toFixed()
  if (typeof item === 'boolean') return String(item)
  return undefined
}

function readField(name: string, wire: unknown): string[] | FieldError {
  const items: unknown[] = Array.isArray(wire) ? wire : [wire]
  if (items.length > LARGEST_VALUE_COUNT)
    return fieldError(name, 'INVALID_VALUE', `accepts at most ${LARGEST_VALUE_COUNT} values; send fewer`)
  const texts: string[] = []
  for (const item of items) {
    if (item === null || item === undefined || item === '') continue
    const text = scalarText(item)
    if (text === undefined) {
      const rule = 'must be a text, a number, a boolean or a list of these, without nested lists or objects'
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
 * Converts scalars and arrays to arrays of text (brief 0.4). null, an empty array and "" all mean that the field has no value: it
 * gets an empty entry, which removes the stored value (brief 6.3). A field with a problem gets no entry, so that its stored value
 * can still be compared. null and undefined mean no fields.
 */
export function readFieldValues(wire: unknown): { values: FieldValues; problems: FieldError[] } {
  const invalidValues = (code: FieldErrorCode, rule: string) => ({
    values: {},
    problems: [{ fieldName: ALL_VALUES, code, message: `Field values must be ${rule}.` }],
  })
  if (wire === null || wire === undefined) return { values: {}, problems: [] }
  if (typeof wire !== 'object' || Array.isArray(wire))
    return invalidValues('INVALID_TYPE', 'an object of field names and values')
  const fields = Object.entries(wire)
  if (fields.length > LARGEST_FIELD_COUNT)
    return invalidValues('INVALID_VALUE', `at most ${LARGEST_FIELD_COUNT} fields; send fewer`)
  const read: [string, string[]][] = []
  const problems: FieldError[] = []
  for (const [name, value] of fields) {
    const result = nameProblem(name) ?? readField(name, value)
    if (Array.isArray(result)) read.push([name, result])
    else problems.push(result)
  }
  return { values: Object.fromEntries(read), problems }
}

/** Replaces the fields of the update, removes those with empty entries, and keeps the others. */
export function mergeFieldValues(current: FieldValues, update: FieldValues): FieldValues {
  const merged = new Map(Object.entries(current))
  for (const [name, values] of Object.entries(update)) merged.set(name, values)
  return Object.fromEntries([...merged].filter(([, values]) => values.length > 0))
}

/** The most digits on each side of the point, which keeps the arithmetic of rating templates cheap. */
export const LARGEST_DIGIT_COUNT = 40

const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/

/** Whether the text is a minus sign, digits and a point only: no separators, plus sign or exponent (brief 6.4). */
export const isPlainNumber = (text: string): boolean => PLAIN_NUMBER.test(text)

/** The number of decimal places as written: 2 for `5.00`. The text must be a plain number. */
export const decimalPlacesOf = (text: string): number => {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

/** Returns undefined if the text is not a plain number, or has more than 40 digits on a side of the point. */
export function plainDecimal(text: string): Decimal | undefined {
  if (!isPlainNumber(text)) return undefined
  const places = decimalPlacesOf(text)
  const whole = text.replace('-', '').length - (places > 0 ? places + 1 : 0)
  return places > LARGEST_DIGIT_COUNT || whole > LARGEST_DIGIT_COUNT ? undefined : decimal(text)
}

/**
 * Converts values to their stored form: dates to milliseconds, media to lower case. Other values, and invalid ones, stay unchanged.
 */
export function normaliseFieldValues(
  definitions: FieldDefinition[],
  values: FieldValues,
  zone: TimeZone,
): FieldValues {
  const types = new Map(definitions.map(definition => [definition.name, definition.type]))
  const toStoredValue = (value: string, type: FieldType | undefined): string => {
    if (type === 'date') return String(readDate(value, zone) ?? value)
    return type === 'media' ? value.toLowerCase() : value
  }
  const entries = Object.entries(values).filter(([, list]) => list.length > 0)
  return Object.fromEntries(
    entries.map(([name, list]) => [name, list.map(value => toStoredValue(value, types.get(name)))]),
  )
}

/** Converts the owner's values and those of its groups to their stored form. */
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

// Problems of field values, as responses contain them (brief 8, FieldErrors).

export type FieldErrorCode =
  /** A required field has no value. */
  | 'MISSING'
  /** The field is unknown, or its condition does not hold. */
  | 'INVALID_FIELD'
  /** The value cannot be read as the field's type. */
  | 'INVALID_TYPE'
  /** The value has the right type but is not permitted. */
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

/** Returns the problems of one record's fields, as responses list them. No arguments but an empty list mean none. */
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

/** Shortens a name or locator from a request for a message. */
export const shortenForMessage = (text: string): string =>
  text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text.toWellFormed()

/** `rule` completes the sentence "Field 'name' …": the problem and its remedy, without a full stop. */
export function fieldError(fieldName: string, code: FieldErrorCode, rule: string): FieldError {
  return {
    fieldName: shortenForMessage(fieldName),
    code,
    message: `Field '${shortenForMessage(fieldName)}' ${rule}.`,
  }
}

// Records are found by folded text, so that case and the spelling of accents do not matter. A term has at most this many code
// points: only the beginning of a longer text is indexed (brief 5.2).
const LONGEST_TERM = 2_700

/**
 * Folds upper case first (`ß` becomes `SS`), and then lower case letter by letter, because the lower case of `Σ` depends on its
 * position.
 */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const lower = Array.from(text.normalize('NFKC').toUpperCase(), letter => letter.toLowerCase())
  return lower.join('').normalize('NFC')
}

/** ASCII needs no normalization, and each code point is one code unit. */
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/** The folded text with single blanks between its words and none around it, cut to the length that is indexed. */
export const termOf = (value: string): string => prefixOf(value).trimEnd()

/** Like a term, but a blank at the end stays: the beginning `de ` is that of `de la Cruz`, not of `Dexter`. */
const prefixOf = (value: string): string => cutTerm(foldText(value).replace(/\s+/g, ' ').trimStart())

function cutTerm(text: string): string {
  if (isAscii(text)) return text.slice(0, LONGEST_TERM)
  return Array.from(text).slice(0, LONGEST_TERM).join('')
}

/** Returns the unique terms of the values. A date is found by its stored milliseconds and as a day. */
export const termsOf: TermReader = (field, values, zone) =>
  readTerms(field, values, zone, text => [termOf(text)])

/** Like `termsOf`, with the terms under which an earlier release stored the values: it kept their blanks. */
export const storedTermsOf: TermReader = (field, values, zone) =>
  readTerms(field, values, zone, text => [termOf(text), cutTerm(foldText(text))])

export type TermReader = (field: FieldDefinition, values: readonly string[], zone: TimeZone) => SearchTerm[]

function readTerms(
  field: FieldDefinition,
  values: readonly string[],
  zone: TimeZone,
  read: (text: string) => string[],
): SearchTerm[] {
  const terms = values.flatMap(value => searchTexts(field, value, zone)).flatMap(read)
  return [...new Set(terms)].map(term => ({ field: field.name, term }))
}

function searchTexts({ type }: FieldDefinition, value: string, zone: TimeZone): string[] {
  const at = type === 'date' && /^-?\d{1,15}$/.test(value) ? instant(Number(value)) : undefined
  return at === undefined ? [value] : [value, isoDay(at, zone)]
}

/** Reads a search from a query. `searchField` requires one of the other two. */
export function searchOf(query: {
  readonly searchField?: string | undefined
  readonly searchValue?: string | undefined
  readonly searchPrefix?: string | undefined
}): Search | undefined {
  const { searchField: field, searchValue, searchPrefix = '' } = query
  if (field === undefined) return undefined
  return searchValue === undefined
    ? { field, term: prefixOf(searchPrefix), match: 'prefix' }
    : { field, term: termOf(searchValue), match: 'equal' }
}

/** Rejects with 400 a field that is not searchable, and lists those that are. */
export function assertSearchable(name: string, searchable: readonly string[]): void {
  if (searchable.includes(name)) return
  const known = searchable.length === 0 ? 'no field is' : `these fields are: ${searchable.join(', ')}`
  const message = `'searchField' '${shortenForMessage(name)}' is not searchable; ${known}.`
  throw new Refusal('invalidParameter', message, { searchableFields: searchable })
}
