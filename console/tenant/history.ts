// Lists of past events, newest first, one page at a time. The address has the days and the other filters.

import type { Child, View } from '../element.ts'
import { addressedList } from '../lists/address-list.ts'
import { choiceForm } from '../lists/filters.ts'
import { emptyNote } from '../parts.ts'
import { addressOf, PAGE_SIZE, pagesOf, readFilters, spanFaults, spanInputs, spanOf } from './address.ts'

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
  readonly faults?: (chosen: Record<Name, string>) => readonly (string | undefined)[]
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
  faults = () => [],
  what,
  none,
  load,
}: History<Name>): Child {
  const chosen = readFilters(query, names)
  const span = spanOf(query)
  const from = query.get('page') ?? ''
  return [
    choiceForm([...spanInputs(span), ...fields(chosen)], typed => addressOf(path, typed)),
    addressedList({
      what,
      faults: [...spanFaults(span), ...faults(chosen)],
      from,
      whole: addressOf(path),
      firstPage: addressOf(path, { ...chosen, ...span }),
      async load() {
        const { count, table, next } = await load(
          { ...chosen, order: 'newestFirst', pageSize: PAGE_SIZE, pagingToken: from },
          span,
        )
        if (count === 0 && from === '' && next === undefined) return emptyNote(none)
        return [count > 0 && table(), pagesOf(path, { ...chosen, ...span }, from, { count, next })]
      },
    }),
  ]
}
