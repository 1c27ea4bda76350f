import { Refusal } from '../kernel/errors.ts'
import type { SearchTerm } from '../platform/search/matching.ts'
import { type FieldValues, valuesOf } from '../product/fields/values.ts'
import { termsOf } from '../product/search-terms.ts'
import type { Dictionary } from './dictionary.ts'

/** Terms of one policyholder; each is a row of the index. */
export const MOST_SEARCH_TERMS = 1_000

/** Names of the fields that policyholders are found by. */
export const searchableNames = ({ fields }: Dictionary): string[] =>
  fields.filter(field => field.searchable).map(field => field.name)

/** The terms of a policyholder's own values in searchable fields, each once. Refuses with 413 over 1,000. */
export function searchTerms({ fields, timeZone }: Dictionary, values: FieldValues): SearchTerm[] {
  const found = fields
    .filter(field => field.searchable)
    .flatMap(field => termsOf(field, valuesOf(values, field.name), timeZone))
  if (found.length > MOST_SEARCH_TERMS)
    throw new Refusal(
      'tooLarge',
      `A policyholder has at most ${MOST_SEARCH_TERMS} values in searchable fields; these are ${found.length}.`,
    )
  return found
}
