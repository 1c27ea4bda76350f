// What an answer says of the record that it shows: its tag, where it is read, and where its list goes on.
import { entityTag, tagsIn } from '../entity-tags.ts'
import type { Exchange } from './exchange.ts'
import { pagingLinks } from './paging-links.ts'
import { filledPath, isTagged, writeOf } from './records.ts'
import { isJsonText, type Route } from './route.ts'

/** A request that a handler has answered. */
export type Handled = {
  readonly route: Route
  readonly exchange: Exchange
  readonly params: Readonly<Record<string, string>>
  /** As the route's contract parsed it. */
  readonly query: unknown
  readonly value: unknown
}

/** Addresses of files hold for 30 minutes: an answer that has some is taken for the same for half of that at most. */
const ADDRESSES_STAND_MS = 15 * 60_000

/** An answer's JSON; as it is sent, with addresses of files in it; and that in UTF-8. */
export type Sent = { readonly json: string; readonly sent: string; readonly bytes: Uint8Array }

/** Headers of an answer 200; and whether the client has it already. */
export function describeRecord(handled: Handled, answer: Sent, headers: Headers): { isKnown: boolean } {
  const { route, exchange, query, value } = handled
  const { makes, shows } = writeOf(route)
  if (route.method !== 'get') {
    if (shows) headers.set('etag', tagOf(exchange, answer))
    const location = makes === undefined ? undefined : locationOf(makes, handled, answer.json)
    if (location !== undefined) headers.set('location', location)
    return { isKnown: false }
  }
  if (!isTagged(route)) return { isKnown: false }
  const tag = tagOf(exchange, answer)
  headers.set('etag', tag)
  headers.set('cache-control', route.access.kind === 'public' ? 'no-cache' : 'private, no-cache')
  const links = pagingLinks(exchange.url, route, query, isJsonText(value) ? value.page : value)
  if (links !== undefined) headers.append('link', links)
  return { isKnown: isKnown(exchange.request.headers.get('if-none-match'), tag) }
}

/** Weak where addresses change with every answer. */
function tagOf({ now }: Exchange, { json, sent, bytes }: Sent): string {
  if (sent === json) return `"${entityTag(bytes)}"`
  return `W/"${entityTag(json)}.${Math.floor(now / ADDRESSES_STAND_MS).toString(36)}"`
}

/** Compared weakly, as RFC 9110 says. */
function isKnown(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return tagsIn(ifNoneMatch)?.includes(tag.replace(/^W\/|"/g, '')) ?? false
}

/** The answer to an upload has its resource's name, or in it the resource. */
function locationOf(template: string, { params }: Handled, json: string): string | undefined {
  const answer = JSON.parse(json) as Readonly<Record<string, unknown>>
  const resource = answer.resource as Readonly<Record<string, unknown>> | undefined
  return filledPath(template, answer, resource, params)
}
