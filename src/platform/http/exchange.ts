import { type ErrorCode, invalidParameter } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { type Calls, noCalls } from '../calls.ts'
import type { Tenant } from '../tenancy.ts'

/** A request with its data until it is answered. */
export type Exchange = {
  readonly request: Request
  readonly url: URL
  /** X-Request-Id of the answer, referenceId of a refusal, requestId of events. */
  readonly requestId: Uuid
  readonly calls: Calls
  readonly now: Instant
  /** The client's own id, if it is safe in headers and logs. */
  readonly clientRequestId: string | undefined
  /** W3C Trace Context. */
  readonly traceId: string | undefined
  /** Whether it was made for a software agent, by the door at `/mcp` (door.ts). */
  readonly isOfAgent: boolean
  /** Method and path template, once known: logs contain no client's path. */
  operation?: string
  /** Known after the token is checked. */
  tenant?: Tenant
  /** Set once the caller's token is accepted, of administration accounts too. */
  isSignedIn?: true
  refused?: ErrorCode
}

const CLIENT_ID = /^[\x21-\x7e]{1,128}$/
const TRACE = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/

/**
 * The client's own id of the request. It never replaces the service's id: that one is the requestId of events and the key
 * of a write, and must be unique.
 */
function clientRequestIdOf(headers: Headers): string | undefined {
  const id = headers.get('x-client-request-id') ?? headers.get('x-request-id')
  return id !== null && CLIENT_ID.test(id) ? id : undefined
}

/** `within`: the figures of a request that a door made (door.ts). */
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

/** Limit of a request's path and query. */
export const LONGEST_TARGET = 8_192
const MOST_QUERY_VALUES = 200

/** No locator, name or date contains control characters, and they are risky in databases and logs. */
const CONTROL = {
  path: /\p{Cc}/u,
  /** Keys of tables may have line breaks and tabs. */
  query: /[^\P{Cc}\t\n\r]/u,
} as const

/** Refuses a path or query that is too long, has broken percent-encoding or control characters. */
export function checkTarget({ url }: Exchange): void {
  if (url.pathname.length + url.search.length > LONGEST_TARGET)
    throw invalidParameter(`The path and query are longer than ${LONGEST_TARGET} characters.`)
  for (const [part, text] of [
    ['path', url.pathname],
    ['query', url.search.replaceAll('+', ' ')],
  ] as const) {
    if (!text.includes('%')) continue
    if (CONTROL[part].test(decoded(part, text)))
      throw invalidParameter(`The ${part} has control characters; remove them.`)
  }
  if (url.search !== '' && url.searchParams.size > MOST_QUERY_VALUES)
    throw invalidParameter(`The query has more than ${MOST_QUERY_VALUES} values.`)
}

function decoded(part: string, text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalidParameter(`The ${part} is not percent-encoded UTF-8; write a percent sign itself as %25.`)
  }
}

/** Text for a parameter given once, a list for one given several times. */
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
