// Overwriting data of a policyholder for good, e.g. to erase a person: in every version, and in texts that
// templates printed it into (brief 7).
import { Refusal } from '../../kernel/errors.ts'
import type { SearchTerm } from '../../platform/search/matching.ts'
import { invalid } from '../../policyholders/change.ts'
import {
  type Dictionary,
  type Policyholder,
  searchTerms,
  validationFieldError,
} from '../../policyholders/values.ts'
import { type FieldValues, fieldError, readFieldValues, valuesOf } from '../../product/fields/values.ts'

/** A value that some version of the policyholder, or of a sub-entity, holds. */
export type StoredValue = { readonly field: string; readonly value: string }

/** Field to the values that come in the place of those stored: one, or none. */
export type Replacements = FieldValues

/** Bytes of the replacements, and characters of one version's JSON after them; a row takes 2 MB. */
const LARGEST_OVERWRITTEN = 1_000_000

/**
 * What a request overwrites. The texts need not fit the type of their field: erasing must always be possible.
 * Refuses texts and names that cannot be stored (400), and too many of them (400, 413).
 */
export function replacementsOf(overwrites: Readonly<Record<string, string>>): Replacements {
  const { values, problems } = readFieldValues(overwrites)
  if (problems.length > 0) throw invalid(problems.map(validationFieldError))
  if (Object.keys(values).length === 0)
    throw new Refusal('invalidRequest', "'overwrites' names no field; name at least one.")
  assertSize(new TextEncoder().encode(JSON.stringify(values)).length)
  return values
}

/** Refuses (400) a field that is neither in the dictionary nor stored in any version. */
export function assertKnown(
  replacements: Replacements,
  { fields }: Dictionary,
  stored: readonly StoredValue[],
): void {
  const known = new Set([...fields.map(({ name }) => name), ...stored.map(({ field }) => field)])
  const unknown = Object.keys(replacements).filter(name => !known.has(name))
  if (unknown.length === 0) return
  const rule = 'is not known, and no version has it; check its spelling'
  throw invalid(unknown.map(name => validationFieldError(fieldError(name, 'INVALID_FIELD', rule))))
}

/** Refuses (413) replacements that are too long, or would make a version too long. */
export function assertSize(size: number): void {
  if (size > LARGEST_OVERWRITTEN)
    throw new Refusal(
      'tooLarge',
      'The replacements would make the policyholder too large; send shorter texts.',
    )
}

/** The search terms that the replacements have: of fields in which the policyholder has a value today. */
export function termsAfter(
  { entity }: Policyholder,
  replacements: Replacements,
  dictionary: Dictionary,
): SearchTerm[] {
  const present = Object.entries(replacements).filter(([field]) => valuesOf(entity.values, field).length > 0)
  return searchTerms(dictionary, Object.fromEntries(present))
}

/** The values as they are looked for: as stored, in upper and in lower case. */
export const formsOf = (stored: readonly StoredValue[]): string[] => [
  ...new Set(
    stored
      .flatMap(({ value }) => [value, value.toUpperCase(), value.toLowerCase()])
      .filter(form => form.trim() !== ''),
  ),
]

/** Letters, digits and marks: what makes a word go on. */
const WORD = /[\p{L}\p{N}\p{M}]/u

/**
 * A text without the overwritten values: each, as whole words, as stored or in upper or lower case, gives way to
 * what replaces it. What a template printed in another form, e.g. a date, stays.
 */
export function scrubber(
  stored: readonly StoredValue[],
  replacements: Replacements,
): (text: string) => string {
  const replacing = new Map<string, string>()
  for (const one of stored) {
    const replacement = valuesOf(replacements, one.field)[0] ?? ''
    for (const form of formsOf([one])) replacing.set(form, replacement)
  }
  // The longest first: a name that is part of another one must not break it up.
  const longestFirst = [...replacing].sort(([a], [b]) => b.length - a.length)
  return text => longestFirst.reduce((rest, [form, by]) => withoutWords(rest, form, by), text)
}

function withoutWords(text: string, words: string, replacement: string): string {
  let clean = ''
  let from = 0
  let at = text.indexOf(words)
  while (at !== -1) {
    const end = at + words.length
    const whole = !continues(text, at) && !continues(text, end)
    if (whole) {
      clean += text.slice(from, at) + replacement
      from = end
    }
    at = text.indexOf(words, whole ? end : at + 1)
  }
  return clean + text.slice(from)
}

/** Whether a word goes on across the place between two characters. */
function continues(text: string, place: number): boolean {
  const before = Array.from(text.slice(Math.max(0, place - 2), place)).at(-1) ?? ''
  const after = text.codePointAt(place)
  return WORD.test(before) && after !== undefined && WORD.test(String.fromCodePoint(after))
}
