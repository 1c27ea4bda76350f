// `Link` of a list (RFC 8288): where it goes on, where it came from and where it begins, beside what the answer itself says.
import type { z } from '@hono/zod-openapi'
import { LONGEST_TARGET } from './exchange.ts'
import { STREAMS } from './records.ts'
import type { Route } from './route.ts'

/** Elements of a list that is asked for without a count, at most (resources brief 0.1). */
const MOST_UNCOUNTED = 1_000

type Asked = { readonly offset?: number; readonly count?: number; readonly pagingToken?: string }

export const isPaged = (query: z.ZodType | undefined, by: 'offset' | 'pagingToken'): boolean =>
  query !== undefined && by in ((query as Partial<z.ZodObject>).shape ?? {})

function itemsOf(list: object): readonly unknown[] {
  if (Array.isArray(list)) return list
  return Object.values(list).find(value => Array.isArray(value)) ?? []
}

/** The header's value; undefined for what is no list, and where the list is on one page. `query` is parsed. */
export function pagingLinks(
  url: URL,
  { path, query: schema }: Pick<Route, 'path' | 'query'>,
  query: unknown,
  list: unknown,
): string | undefined {
  if (typeof list !== 'object' || list === null) return undefined
  const links: string[] = []
  const add = (rel: string, parameters: URLSearchParams): void => {
    const target = parameters.size > 0 ? `${url.pathname}?${parameters}` : url.pathname
    // A longer one could not be called; the answer has the token.
    if (target.length <= LONGEST_TARGET) links.push(`<${target}>; rel="${rel}"`)
  }
  const link = (rel: string, changes: Readonly<Record<string, string | undefined>>): void => {
    const parameters = new URLSearchParams(url.searchParams)
    for (const [name, value] of Object.entries(changes))
      if (value === undefined) parameters.delete(name)
      else parameters.set(name, value)
    add(rel, parameters)
  }
  const items = itemsOf(list)
  const { listCompleted, pagingToken } = list as { listCompleted?: unknown; pagingToken?: unknown }
  if (isPaged(schema, 'pagingToken')) {
    // Streams of events have a token on their last page too, which then has nothing.
    if (typeof pagingToken === 'string' && items.length > 0)
      if (STREAMS.has(path)) add('next', new URLSearchParams({ pagingToken }))
      else link('next', { pagingToken })
    if ((query as Asked).pagingToken !== undefined && !STREAMS.has(path))
      link('first', { pagingToken: undefined })
  } else if (isPaged(schema, 'offset')) {
    const { offset = 0, count = MOST_UNCOUNTED } = query as Asked
    const isMore = listCompleted === undefined ? items.length >= count : listCompleted === false
    if (isMore && items.length > 0) link('next', { offset: String(offset + items.length) })
    if (offset > 0) {
      link('prev', { offset: String(Math.max(0, offset - count)) })
      link('first', { offset: undefined })
    }
  }
  return links.length === 0 ? undefined : links.join(', ')
}
