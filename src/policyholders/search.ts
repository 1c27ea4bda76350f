// How policyholders are found by their values: text folded, so that case and the ways to write an accent do not
// count.
import type { FieldDefinition } from '../configuration/configuration.ts'
import { Refusal } from '../platform/errors.ts'
import { shown } from '../platform/fields/errors.ts'
import { type FieldValues, valuesOf } from '../platform/fields/values.ts'
import { type Instant, instant, localParts, type TimeZone } from '../platform/time.ts'
import type { PolicyholderListQuery } from './contract.ts'
import type { Dictionary } from './dictionary.ts'

export type SearchTerm = { readonly field: string; readonly term: string }

/** What to look for: the term itself, or the terms that begin with it. */
export type Search = SearchTerm & { readonly match: 'equal' | 'prefix' }

/** Terms of one policyholder; each is a row of the index. */
export const MOST_SEARCH_TERMS = 1_000

/** Code points of a term; more than any search can have, so that a shortened term equals none. */
const LONGEST_TERM = 1_024

/**
 * Text as it is compared: upper case first, where `ß` is `SS`, then lower case letter by letter, since that of a
 * word depends on where a letter stands (`ς`).
 */
export function folded(text: string): string {
  const lower = Array.from(text.normalize('NFKC').toUpperCase(), letter => letter.toLowerCase())
  return lower.join('').normalize('NFC')
}

const termOf = (value: string): string => Array.from(folded(value)).slice(0, LONGEST_TERM).join('')

/** A date can be found as it is stored, in milliseconds, and as a day. */
function readings({ type }: FieldDefinition, value: string, zone: TimeZone): string[] {
  const at = type === 'date' && /^-?\d{1,15}$/.test(value) ? instant(Number(value)) : undefined
  return at === undefined ? [value] : [value, isoDay(at, zone)]
}

function isoDay(at: Instant, zone: TimeZone): string {
  const { year, month, day } = localParts(at, zone)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

/** The terms of a policyholder's own values in searchable fields, each once. Refuses with 413 over 1,000. */
export function searchTerms({ fields, timeZone }: Dictionary, values: FieldValues): SearchTerm[] {
  const found: SearchTerm[] = []
  for (const field of fields) {
    if (!field.searchable) continue
    const texts = valuesOf(values, field.name).flatMap(value => readings(field, value, timeZone))
    for (const term of new Set(texts.map(termOf))) found.push({ field: field.name, term })
  }
  if (found.length > MOST_SEARCH_TERMS)
    throw new Refusal(
      'tooLarge',
      `A policyholder has at most ${MOST_SEARCH_TERMS} values in searchable fields; these are ${found.length}.`,
    )
  return found
}

/** What a list query looks for, if anything. */
export function searchOf({
  searchField: field,
  searchValue,
  searchPrefix = '',
}: PolicyholderListQuery): Search | undefined {
  if (field === undefined) return undefined
  return searchValue === undefined
    ? { field, term: termOf(searchPrefix), match: 'prefix' }
    : { field, term: termOf(searchValue), match: 'equal' }
}

/** Refuses (400) a search in a field that is not searchable, naming those that are. */
export function assertSearchable(name: string, { fields }: Dictionary): void {
  const searchable = fields.filter(field => field.searchable).map(field => field.name)
  if (searchable.includes(name)) return
  throw new Refusal(
    'invalidParameter',
    `'searchField' '${shown(name)}' is not searchable; ${
      searchable.length === 0 ? 'no field is' : `these fields are: ${searchable.join(', ')}`
    }.`,
  )
}
