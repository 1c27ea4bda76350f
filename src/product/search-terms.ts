// How records are found by their values: text folded, so that case and the ways to write an accent do not count.
import { Refusal } from '../kernel/errors.ts'
import { type Instant, instant, localParts, type TimeZone } from '../kernel/time.ts'
import type { Search, SearchTerm } from '../platform/search/matching.ts'
import type { FieldDefinition } from './configuration.ts'
import { shown } from './fields/errors.ts'

/** Code points of a term: of longer texts only the beginning is indexed (brief 5.2). */
const LONGEST_TERM = 2_700

/**
 * Text as it is compared: upper case first, where `ß` is `SS`, then lower case letter by letter, since that of a
 * word depends on where a letter stands (`ς`).
 */
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
  throw new Refusal(
    'invalidParameter',
    `'searchField' '${shown(name)}' is not searchable; ${
      searchable.length === 0 ? 'no field is' : `these fields are: ${searchable.join(', ')}`
    }.`,
    { searchableFields: searchable },
  )
}
