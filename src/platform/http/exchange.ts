import { type ErrorCode, invalidParameter } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { type Calls, noCalls } from '../calls.ts'
import type { Tenant } from '../tenancy.ts'

/** One request and what belongs to it until it is answered. */
export type Exchange = {
  readonly request: Request
  readonly url: URL
  /** The answer's X-Request-Id, the referenceId of a refusal, the requestId of events. */
  readonly requestId: Uuid
  readonly calls: Calls
  readonly now: Instant
  /** What the client calls the request, if that may stand in a header and a log. */
  readonly clientRequestId: string | undefined
  /** The trace that the request is part of (W3C Trace Context). */
  readonly traceId: string | undefined
  /** Method and path as the route has them, once that is known: the log has no path of a client's. */
  operation?: string
  /** The tenant of the token, once that is known. */
  tenant?: Tenant
  /** Why it was refused. */
  refused?: ErrorCode
}

const CLIENT_ID = /^[\x21-\x7e]{1,128}$/
const TRACE = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/

/**
 * The client's own id. It never takes the place of the service's: that one is the requestId of events and the key under which
 * a write is looked up, and must not come a second time.
 */
function clientRequestIdOf(headers: Headers): string | undefined {
  const id = headers.get('x-client-request-id') ?? headers.get('x-request-id')
  return id !== null && CLIENT_ID.test(id) ? id : undefined
}

export const beginExchange = (request: Request): Exchange => ({
  request,
  url: new URL(request.url),
  requestId: newUuid(0),
  calls: noCalls(),
  now: now(),
  clientRequestId: clientRequestIdOf(request.headers),
  traceId: TRACE.exec(request.headers.get('traceparent') ?? '')?.[1],
})

/** Characters of a request's path and query. */
export const LONGEST_TARGET = 8_192
const MOST_QUERY_VALUES = 200

/** Control characters: no locator, name or date has one, and databases and logs are the better without. */
const CONTROL = /\p{Cc}/u

/** Refuses a path or query that cannot be meant: too long, broken percent-encoding, control characters. */
export function checkTarget({ url }: Exchange): void {
  if (url.pathname.length + url.search.length > LONGEST_TARGET)
    throw invalidParameter(`The path and query are longer than ${LONGEST_TARGET} characters.`)
  for (const [part, text] of [
    ['path', url.pathname],
    ['query', url.search.replaceAll('+', ' ')],
  ] as const) {
    if (!text.includes('%')) continue
    if (CONTROL.test(decoded(part, text)))
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

/** Query parameters: text when given once, a list when given several times. */
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
