import { type SQL, sql } from 'drizzle-orm'
import { OptionalLongName, OptionalName } from './wire.ts'
import { breaks } from './wire-problem.ts'

/** The parameters of a list that can be searched: a field, and what its values equal or begin with. */
export const SEARCH_PARAMETERS = {
  searchField: OptionalName.describe('Name of a searchable field.'),
  searchValue: OptionalLongName.describe('What a value of the field is, in any case.'),
  searchPrefix: OptionalLongName.describe('What a value of the field begins with, in any case.'),
}

type SearchParameters = {
  readonly searchField?: string | undefined
  readonly searchValue?: string | undefined
  readonly searchPrefix?: string | undefined
}

/** Checks that the field comes together with one of the other two, and neither of these without it. */
export function checkSearch(ctx: Parameters<typeof breaks>[0] & { readonly value: SearchParameters }): void {
  const { searchField, searchValue, searchPrefix } = ctx.value
  const sought = [searchValue, searchPrefix].filter(text => text !== undefined).length
  if (sought !== (searchField === undefined ? 0 : 1))
    breaks(ctx, 'must come together with one of searchValue and searchPrefix', ['searchField'])
}

/** The condition on `field` and `term` of a table of search terms, whose key they begin. */
export function termMatches({ field, term, match }: Search): SQL {
  // No character comes after the last one that there is: an upper end for all that begins with the term.
  const matching =
    match === 'equal' ? sql`term = ${term}` : sql`term >= ${term} and term < ${`${term}\u{10ffff}`}`
  return sql`field = ${field} and ${matching}`
}

/** A value of a searchable field, folded. */
export type SearchTerm = { readonly field: string; readonly term: string }

/** What to look for: the term itself, or the terms that begin with it. */
export type Search = SearchTerm & { readonly match: 'equal' | 'prefix' }
