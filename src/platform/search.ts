import { type SQL, sql } from 'drizzle-orm'
import { OptionalLongName, OptionalName } from './wire.ts'
import { reportProblem } from './wire-problem.ts'

export const SEARCH_PARAMETERS = {
  searchField: OptionalName.describe('Name of a searchable field.'),
  searchValue: OptionalLongName.describe('Value of the field. Letter case is ignored.'),
  searchPrefix: OptionalLongName.describe('Beginning of a value of the field. Letter case is ignored.'),
}

type SearchParameters = {
  readonly searchField?: string | undefined
  readonly searchValue?: string | undefined
  readonly searchPrefix?: string | undefined
}

/** Checks that the field comes with exactly one of the other two parameters, and that they come with the field. */
export function checkSearch(
  ctx: Parameters<typeof reportProblem>[0] & { readonly value: SearchParameters },
): void {
  const { searchField, searchValue, searchPrefix } = ctx.value
  const termCount = [searchValue, searchPrefix].filter(text => text !== undefined).length
  if (termCount !== (searchField === undefined ? 0 : 1))
    reportProblem(ctx, 'must be sent together with one of searchValue and searchPrefix', ['searchField'])
}

/** Matches every term with the prefix. U+10FFFF is the highest character, which makes it the upper bound. */
export const beginsWith = (term: SQL, prefix: string): SQL =>
  sql`${term} >= ${prefix} and ${term} < ${`${prefix}\u{10ffff}`}`

/** Returns a condition for a table whose key starts with `field` and `term`. */
export function termMatches({ field, term, match }: Search): SQL {
  const matching = match === 'equal' ? sql`term = ${term}` : beginsWith(sql`term`, term)
  return sql`field = ${field} and ${matching}`
}

/** `term` is case-folded. */
export type SearchTerm = { readonly field: string; readonly term: string }

export type Search = SearchTerm & { readonly match: 'equal' | 'prefix' }
