import { type ErrorCode, invalidParameter } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { type Calls, noCalls } from '../calls.ts'
import type { Tenant } from '../tenancy.ts'

/** A request with its data until the response. */
export type Exchange = {
  readonly request: Request
  readonly url: URL
  /** The X-Request-Id of the response, the referenceId of an error and the requestId of events. */
  readonly requestId: Uuid
  readonly calls: Calls
  readonly now: Instant
  /** The id that the client sent, if it is safe in headers and logs. */
  readonly clientRequestId: string | undefined
  /** From W3C Trace Context. */
  readonly traceId: string | undefined
  /** Whether the request was made for a software agent, by the door at `/mcp` (door.ts). */
  readonly isOfAgent: boolean
  /** Method and path template, once known. Logs never contain the path that a client sent. */
  operation?: string
  /** Known after the token is checked. */
  tenant?: Tenant
  /** Set once the caller's token is accepted, also for administration accounts. */
  isSignedIn?: true
  refused?: ErrorCode
}

const CLIENT_ID = /^[\x21-\x7e]{1,128}$/
const TRACE = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/

/**
 * Returns the client's own id of the request. It never replaces the service's id, which is the requestId of events and the key of
 * a write, and must be unique.
 */
function clientRequestIdOf(headers: Headers): string | undefined {
  const id = headers.get('x-client-request-id') ?? headers.get('x-request-id')
  return id !== null && CLIENT_ID.test(id) ? id : undefined
}

/** Starts an exchange. `within` are the figures of a request that a door made (door.ts). */
export const beginExchange = (request: Request, within?: Calls): Exchange => ({
  request,
  url: new URL(request.url),
  requestId: newUuid(0),
  calls: within ?? noCalls(),
  isOfAgent: within !== undefined,
  now: now(),
  clientRequestId: clientRequestIdOf(request.headers),
  traceId: TRACE.exec(request.headers.get('traceparent') ?? '')?.[1],
})

/** Maximum length of a request's path and query. */
export const LONGEST_TARGET = 8_192
const MOST_QUERY_VALUES = 200

/** Control characters. No locator, name or date contains them, and they are risky in databases and logs. */
const CONTROL = {
  path: /\p{Cc}/u,
  /** Keys of tables may contain line breaks and tabs. */
  query: /[^\P{Cc}\t\n\r]/u,
} as const

/** Rejects a path or query that is too long, or that has broken percent-encoding or control characters. */
export function checkTarget({ url }: Exchange): void {
  if (url.pathname.length + url.search.length > LONGEST_TARGET)
    throw invalidParameter(`The path and query are longer than ${LONGEST_TARGET} characters.`)
  for (const [part, text] of [
    ['path', url.pathname],
    ['query', url.search.replaceAll('+', ' ')],
  ] as const) {
    if (!text.includes('%')) continue
    if (CONTROL[part].test(decodeUriPart(part, text)))
      throw invalidParameter(`The ${part} has control characters; remove them.`)
  }
  if (url.search !== '' && url.searchParams.size > MOST_QUERY_VALUES)
    throw invalidParameter(`The query has more than ${MOST_QUERY_VALUES} values.`)
}

function decodeUriPart(part: string, text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidParameter(`The ${part} is not percent-encoded UTF-8. Encode a percent sign itself as %25.`)
  }
}

/** Returns text for a parameter given once and a list for one given several times. */
export function queryValues({ url }: Exchange): Record<string, string | string[]> {
  if (url.search === '') return {}
  const values = new Map<string, string | string[]>()
  for (const [name, value] of url.searchParams) {
    const earlier = values.get(name)
    if (earlier === undefined) values.set(name, value)
    else values.set(name, typeof earlier === 'string' ? [earlier, value] : [...earlier, value])
  }
  values.delete('__proto__')
  return Object.fromEntries(values)
}
