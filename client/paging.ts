// Reads paged lists to the end. The contract has several ways of paging. The responses show which one a list uses.

/** The property that contains the list, in responses that are not the list itself. */
export const LIST_PROPERTIES = [
  'items',
  'events',
  'policies',
  'policyholders',
  'entries',
  'logs',
  'calls',
  'movements',
  'keys',
] as const

type ListProperty = (typeof LIST_PROPERTIES)[number]

/** The type of the items in a response. */
export type ItemOf<Answer> = Answer extends readonly (infer Item)[]
  ? Item
  : Answer extends object
    ? NonNullable<Answer[Extract<keyof Answer, ListProperty>]> extends readonly (infer Item)[]
      ? Item
      : never
    : never

type Query = Readonly<Record<string, unknown>>

type Page = {
  readonly [name: string]: unknown
  readonly listCompleted?: boolean
  readonly pagingToken?: string
  readonly page?: number
}

/** Returns the items of one page. Throws if the response is not a page. */
export function itemsOf(page: unknown): readonly unknown[] {
  if (Array.isArray(page)) return page
  const name = LIST_PROPERTIES.find(property => Array.isArray((page as Page | undefined)?.[property]))
  if (name === undefined) throw new TypeError('The response is not a page of a list.')
  return (page as Page)[name] as readonly unknown[]
}

/** Returns the query of the next page, or undefined after the last. */
export function nextQuery(page: unknown, query: Query): Query | undefined {
  const items = itemsOf(page)
  const further = { ...query, offset: Number(query.offset ?? 0) + items.length }
  // A plain list does not say whether there is more. The page after the last is empty.
  if (Array.isArray(page)) return items.length === 0 ? undefined : further
  const { listCompleted, pagingToken, page: number, events } = page as Page
  if (listCompleted === true) return undefined
  if (typeof pagingToken === 'string') {
    if (!events) return { ...query, pagingToken }
    // Streams of events return a token on every page, to continue later. It includes the filters.
    return items.length === 0 ? undefined : { pagingToken }
  }
  if (items.length === 0) return undefined
  if (typeof number === 'number') return { ...query, page: number + 1 }
  return listCompleted === false ? further : undefined
}
