// Reads paged lists to the end. The contract has several ways to page; the answers show which one a list has.

/** The property that has the list, in answers that are not the list itself. */
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

/** The type of an answer's items. */
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

/** The items of one page; throws for an answer that is not a page. */
export function itemsOf(page: unknown): readonly unknown[] {
  if (Array.isArray(page)) return page
  const name = LIST_PROPERTIES.find(property => Array.isArray((page as Page | undefined)?.[property]))
  if (name === undefined) throw new TypeError('The answer is no page of a list.')
  return (page as Page)[name] as readonly unknown[]
}

/** The query of the page after this one; undefined after the last. */
export function nextQuery(page: unknown, query: Query): Query | undefined {
  const items = itemsOf(page)
  const further = { ...query, offset: Number(query.offset ?? 0) + items.length }
  // A plain list does not say whether there is more: the page after the last is empty.
  if (Array.isArray(page)) return items.length === 0 ? undefined : further
  const { listCompleted, pagingToken, page: number, events } = page as Page
  if (listCompleted === true) return undefined
  if (typeof pagingToken === 'string') {
    if (!events) return { ...query, pagingToken }
    // Streams of events return a token on every page, to continue later; it includes the filters.
    return items.length === 0 ? undefined : { pagingToken }
  }
  if (items.length === 0) return undefined
  if (typeof number === 'number') return { ...query, page: number + 1 }
  return listCompleted === false ? further : undefined
}
