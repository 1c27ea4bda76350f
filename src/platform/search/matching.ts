import { type SQL, sql } from 'drizzle-orm'

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
