// Lists of past events, newest first, one page at a time. The address has the days and the other filters.

import type { Child, View } from '../element.ts'
import { choiceForm } from '../lists/filters.ts'
import { emptyNote, loadedSection } from '../parts.ts'
import { addressOf, PAGE_SIZE, pagesOf, readFilters, spanInputs, spanOf } from './address.ts'

type Page = {
  readonly count: number
  readonly table: () => View
  /** Undefined on the last page. */
  readonly next: string | undefined
}

type History<Name extends string> = {
  /** The address of the list, below `#/tenant/`. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  /** The filters in addition to the days, and their fields. */
  readonly names: readonly Name[]
  readonly fields: (chosen: Record<Name, string>) => readonly View[]
  /** The object of "Loading", such as "the audit trail". */
  readonly what: string
  readonly none: string
  readonly load: (
    asked: Record<Name, string> & {
      readonly order: 'newestFirst'
      readonly pageSize: number
      readonly pagingToken: string
    },
    span: { readonly from: string; readonly until: string },
  ) => Promise<Page>
}

export function history<Name extends string>({
  path,
  query,
  names,
  fields,
  what,
  none,
  load,
}: History<Name>): Child {
  const chosen = readFilters(query, names)
  const span = spanOf(query)
  const from = query.get('page') ?? ''
  return [
    choiceForm([...spanInputs(span), ...fields(chosen)], typed => addressOf(path, typed)),
    loadedSection(what, async () => {
      const { count, table, next } = await load(
        { ...chosen, order: 'newestFirst', pageSize: PAGE_SIZE, pagingToken: from },
        span,
      )
      if (count === 0 && from === '' && next === undefined) return emptyNote(none)
      return [count > 0 && table(), pagesOf(path, { ...chosen, ...span }, from, { count, next })]
    }),
  ]
}
