import { type SQL, sql } from 'drizzle-orm'
import type { Search } from '../../product/search-terms.ts'

/** The condition on `field` and `term` of a table of search terms, whose key they begin. */
export function termMatches({ field, term, match }: Search): SQL {
  // No character comes after the last one that there is: an upper end for all that begins with the term.
  const matching =
    match === 'equal' ? sql`term = ${term}` : sql`term >= ${term} and term < ${`${term}\u{10ffff}`}`
  return sql`field = ${field} and ${matching}`
}
