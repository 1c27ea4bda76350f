// Addresses of the tenant's pages. The query has the filters and the page of a list.
import { queryOf } from '../api.ts'
import { timeOf } from '../calendar.ts'
import type { View } from '../element.ts'
import { dayFault } from '../lists/address-list.ts'
import { input } from '../lists/filters.ts'
import { pageLinks } from '../lists/pages.ts'
import { WORDS as LISTS } from '../lists/words.ts'
import { zone } from '../session.ts'
import { TENANT } from './words.ts'

/** The filters in an address. An empty text is no filter. */
export type Chosen = Readonly<Record<string, string>>

export const readFilters = <Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Record<Name, string> =>
  Object.fromEntries(names.map(name => [name, query.get(name) ?? ''])) as Record<Name, string>

/** Builds the address of `path` below `#/tenant/`, with its parts encoded. */
export function addressOf(path: readonly string[], chosen: Chosen = {}): string {
  const query = queryOf(chosen)
  return `#/tenant/${path.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`
}

/** Rows on a page. */
export const PAGE_SIZE = 50

/** `page` in the query is the token of the page, or the number of rows before it. */
export const pagesOf = (
  path: readonly string[],
  chosen: Chosen,
  page: string,
  { count, next }: { readonly count: number; readonly next: string | undefined },
): View =>
  pageLinks(
    count,
    page === '' ? undefined : addressOf(path, chosen),
    next === undefined ? undefined : addressOf(path, { ...chosen, page: next }),
  )

/** Reads the days from and until. Earlier addresses had `from=-` for no beginning. */
export function spanOf(query: URLSearchParams): { from: string; until: string } {
  const from = query.get('from') ?? ''
  return { from: from === '-' ? '' : from, until: query.get('until') ?? '' }
}

export const spanInputs = ({ from, until }: { from: string; until: string }): View[] => [
  input('from', TENANT.from, from, { type: 'date' }),
  input('until', TENANT.until, until, { type: 'date' }),
]

export const spanFaults = ({ from, until }: { from: string; until: string }): (string | undefined)[] => {
  const faults = [dayFault(TENANT.from, from), dayFault(TENANT.until, until)]
  const isReversed = from !== '' && until !== '' && until <= from
  return faults.every(fault => fault === undefined) && isReversed ? [LISTS.periodEndsFirst] : faults
}

/** Returns when the day begins in the tenant's zone, in milliseconds as text. Empty if it is not a day. */
export const msOfDay = (day: string): string => String((day === '' ? undefined : timeOf(day, zone())) ?? '')

export function isoOfDay(day: string): string {
  const ms = msOfDay(day)
  return ms === '' ? '' : new Date(Number(ms)).toISOString()
}
