// The only place that turns a value into JSON and an error into an HTTP response.

import type { z } from '@hono/zod-openapi'
import { version } from '../../../package.json'
import { ERROR_KINDS, Refusal, type RefusalDetails } from '../../kernel/errors.ts'
import { isLong } from '../../kernel/json.ts'
import { now } from '../../kernel/time.ts'
import { BOOKMARK_HEADER, serverTiming, writeBookmarks } from '../calls.ts'
import type { JsonAnswer } from '../commit.ts'
import { refusalOfFault } from '../faults.ts'
import { observe } from '../observation.ts'
import { withoutAuthTokens } from '../outbound/masking.ts'
import { entityTag, entityTagOf, tagsIn } from './entity-tags.ts'
import type { ExceptionResponse } from './error-contract.ts'
import { type Exchange, LONGEST_TARGET } from './exchange.ts'
import { FILES_PATH } from './file-links.ts'
import { setSecurityHeaders } from './protection.ts'
import { filledPath, isTagged, STREAMS, writeOf } from './records.ts'
import { isJsonText, LongAnswer, type Route } from './route.ts'

/** Clients of these paths compare httpStatus with text; clients of other paths compare it with a number (brief 0.15). */
const STATUS_AS_TEXT = /^\/(?:account|configuration)(?:\/|$)/

/** For errors under load that set no other value. */
const RETRY_AFTER_SECONDS = 1

/** Sets the headers of every response, including files and pages, and observes the request. */
export function finishResponse(exchange: Exchange, env: Env, { status, headers }: Response): void {
  const { request, requestId, clientRequestId, traceId, calls, operation, tenant, isSignedIn, refused } =
    exchange
  const durationMs = now() - exchange.now
  headers.set('x-request-id', requestId)
  if (clientRequestId !== undefined) headers.set('x-client-request-id', clientRequestId)
  // For a caller who is not signed in, the rows would reveal which tenants and accounts exist.
  const showsRows = status !== 401 && (isSignedIn === true || calls.d1 === 0)
  headers.set('server-timing', serverTiming(calls, durationMs, showsRows))
  const bookmarks = tenant && writeBookmarks(calls, tenant)
  if (bookmarks !== undefined) headers.set(BOOKMARK_HEADER, bookmarks)
  setSecurityHeaders(headers)
  observe(env, {
    at: 'request',
    operation: operation ?? `${request.method} (no route)`,
    tenant: tenant?.locator,
    requestId,
    clientRequestId,
    traceId,
    status,
    code: refused,
    durationMs,
    calls,
  })
}

/**
 * Builds the response of a handler. Void is an empty body with 200, not 204: published clients compare with 200, and none reads a
 * body there. A Response, e.g. a file, is sent unchanged. `addressed` replaces file names by addresses. A GET responds with 304
 * when the client already has the record.
 */
export function answerResponse(handled: Handled, addressed: (json: string) => string): Response {
  const { route, value } = handled
  if (value instanceof Response) return value
  if (value instanceof LongAnswer && isLong(value.value)) return longResponse(handled, value, addressed)
  const {
    status,
    text: json,
    media,
  }: JsonAnswer & { media?: string } = isJsonText(value)
    ? value
    : { status: statusOf(route), text: jsonOf(value) }
  if (json === '') return new Response(null, { status })
  const sent = addressed(json)
  // Encoded once, for the response and its tag.
  const bytes = encoder.encode(sent)
  const isAsMade = sent === json
  return withRecordHeaders(handled, jsonResponse(status, bytes, media), {
    isAsMade,
    digest: () => entityTag(isAsMade ? bytes : json),
    record: () => JSON.parse(json),
  })
}

const statusOf = ({ answer }: Route): number => answer.status ?? 200

const jsonOf = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value instanceof LongAnswer ? value.value : value)

/** Maximum size of a response that is kept while its tag is computed. A longer one is generated again while it is sent. */
const MOST_HELD_BYTES = 16 * 2 ** 20

/** Generates the whole response before sending any of it, to compute its tag and so that a failure leads to an error response. */
function longResponse(handled: Handled, answer: LongAnswer, addressed: (json: string) => string): Response {
  let held: Uint8Array[] | undefined = []
  let bytes = 0
  let isAsMade = true
  const made = function* (): Generator<string> {
    for (const json of answer.texts()) {
      const sent = addressed(json)
      isAsMade &&= sent === json
      if (held) {
        const chunk = encoder.encode(sent)
        bytes += chunk.length
        held.push(chunk)
        if (bytes > MOST_HELD_BYTES) held = undefined
      }
      yield json
    }
  }
  const digest = entityTagOf(made())
  const again = function* (): Generator<Uint8Array> {
    for (const json of answer.texts()) yield encoder.encode(addressed(json))
  }
  const body = held ? Buffer.concat(held) : streamOf(again())
  return withRecordHeaders(handled, jsonResponse(statusOf(handled.route), body, answer.media), {
    isAsMade,
    digest: () => digest,
    record: () => answer.value as Readonly<Record<string, unknown>>,
  })
}

const streamOf = (chunks: Iterator<Uint8Array>): ReadableStream =>
  new ReadableStream({
    pull(controller) {
      const { done, value } = chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })

const encoder = new TextEncoder()

const jsonResponse = (
  status: number,
  json: string | Uint8Array | ReadableStream,
  media = 'application/json',
): Response => new Response(json, { status, headers: { 'content-type': media } })

/** Returns 204. `allow` lists the methods of the path, e.g. `GET, HEAD, OPTIONS`. */
export const optionsResponse = (allow: string): Response =>
  new Response(null, { status: 204, headers: { allow } })

/** Builds an ExceptionResponse (brief 8) for any thrown value. Anything but a Refusal is a fault and is logged. */
export function problemResponse(exchange: Exchange, problem: unknown, allow?: string): Response {
  const refusal = problem instanceof Refusal ? problem : faultRefusal(exchange, problem)
  exchange.refused = refusal.code
  const { request, url, requestId } = exchange
  const { status, api } = ERROR_KINDS[refusal.code]
  const body: ExceptionResponse = {
    httpStatus: STATUS_AS_TEXT.test(url.pathname) ? String(status) : status,
    httpErrorCode: status,
    apiErrorCode: api,
    code: refusal.code,
    message: refusal.message,
    requestMethod: request.method,
    requestUri: withoutAuthTokens(url.pathname),
    referenceId: requestId,
    version,
    ...(refusal.details as Pick<ExceptionResponse, keyof RefusalDetails>),
  }
  const response = jsonResponse(status, JSON.stringify(body))
  const { currentETag } = refusal.details
  if (currentETag !== undefined) response.headers.set('etag', currentETag)
  if (status === 401) response.headers.set('www-authenticate', 'Bearer')
  const isLoad = status === 429 || status === 503
  const retryAfter = refusal.retryAfterSeconds ?? (isLoad ? RETRY_AFTER_SECONDS : undefined)
  if (retryAfter !== undefined) response.headers.set('retry-after', String(retryAfter))
  if (allow !== undefined) response.headers.set('allow', allow)
  return response
}

/** The address of a file is a credential while it is valid, and a long-lived token may be part of a path. */
const loggedPath = ({ pathname }: URL): string =>
  pathname.startsWith(FILES_PATH.replace('{token}', '')) ? FILES_PATH : withoutAuthTokens(pathname)

/** Names a fault of the platform. For a fault of the service, returns only the reference to the log. */
function faultRefusal(exchange: Exchange, problem: unknown): Refusal {
  const { request, url, requestId } = exchange
  console.error(
    JSON.stringify({
      at: 'request',
      referenceId: requestId,
      method: request.method,
      path: loggedPath(url),
      problem: describe(problem),
      frames: frames(problem),
    }),
  )
  return (
    refusalOfFault(problem, exchange.calls) ??
    new Refusal(
      'internal',
      'The service failed. Report the referenceId to the operator, who can find the request in the log.',
    )
  )
}

/** Describes the error and its causes, without the values of query parameters, which may be personal data. */
function describe(problem: unknown): string {
  if (!(problem instanceof Error)) return String(problem)
  const message = problem.message.split('\nparams:')[0]!
  const cause = problem.cause === undefined ? '' : `; because of ${describe(problem.cause)}`
  return `${problem.name}: ${message}${cause}`
}

function frames(problem: unknown): string[] {
  const lines = problem instanceof Error ? (problem.stack ?? '').split('\n') : []
  return lines.filter(text => text.startsWith('    at ')).map(text => text.trim())
}

/** A request that a handler has processed. */
type Handled = {
  readonly route: Route
  readonly exchange: Exchange
  readonly params: Readonly<Record<string, string>>
  /** As parsed by the route's contract. */
  readonly query: unknown
  readonly value: unknown
}

/** Addresses are valid for 30 minutes. A response that contains some counts as unchanged for at most half of that time. */
const ADDRESSES_REUSED_MS = 15 * 60_000

/** `digest` is that of the JSON with file names. `isAsMade` is true if there are none, so that the JSON is sent unchanged. */
type AnswerText = {
  readonly isAsMade: boolean
  readonly digest: () => string
  readonly record: () => Readonly<Record<string, unknown>>
}

/** Adds the headers of a 200 response. Responds with 304 if the client already has it. */
function withRecordHeaders(handled: Handled, response: Response, answer: AnswerText): Response {
  const { headers } = response
  if (response.status !== 200 || !describeRecord(handled, answer, headers)) return response
  headers.delete('content-type')
  return new Response(null, { status: 304, headers })
}

/** Returns whether the client already has the record. */
function describeRecord(handled: Handled, answer: AnswerText, headers: Headers): boolean {
  const { route, exchange, query, value } = handled
  const { makes, shows } = writeOf(route)
  if (route.method !== 'get') {
    if (shows) headers.set('etag', tagOf(exchange, answer))
    const location = makes === undefined ? undefined : locationOf(makes, handled, answer.record())
    if (location !== undefined) headers.set('location', location)
    return false
  }
  if (!isTagged(route)) return false
  const tag = tagOf(exchange, answer)
  headers.set('etag', tag)
  headers.set('cache-control', route.access.kind === 'public' ? 'no-cache' : 'private, no-cache')
  const list = isJsonText(value) || value instanceof LongAnswer ? value.page : value
  const links = pagingLinks(exchange.url, route, query, list)
  if (links !== undefined) headers.append('link', links)
  return isKnown(exchange.request.headers.get('if-none-match'), tag)
}

/** Returns the tag. It is weak where addresses change with every response. */
const tagOf = ({ now }: Exchange, { isAsMade, digest }: AnswerText): string =>
  isAsMade ? `"${digest()}"` : `W/"${digest()}.${Math.floor(now / ADDRESSES_REUSED_MS).toString(36)}"`

/** Uses the weak comparison of RFC 9110. */
function isKnown(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false
  if (ifNoneMatch.trim() === '*') return true
  return tagsIn(ifNoneMatch)?.includes(tag.replace(/^W\/|"/g, '')) ?? false
}

/** Returns the `Location`. The response to an upload is the name of the resource, or contains the resource. */
function locationOf(
  template: string,
  { params }: Handled,
  answer: Readonly<Record<string, unknown>>,
): string | undefined {
  const resource = answer.resource as Readonly<Record<string, unknown>> | undefined
  return filledPath(template, answer, resource, params)
}

/** Default page length of a list without `count` (resources brief 0.1). */
const MOST_UNCOUNTED = 1_000

type PagingQuery = { readonly offset?: number; readonly count?: number; readonly pagingToken?: string }

/** Whether the query of the route has the parameter, which makes its response one page of a list. */
export const isPaged = (query: z.ZodType | undefined, by: 'offset' | 'pagingToken'): boolean =>
  query !== undefined && by in ((query as Partial<z.ZodObject>).shape ?? {})

function itemsOf(list: object): readonly unknown[] {
  if (Array.isArray(list)) return list
  return Object.values(list).find(value => Array.isArray(value)) ?? []
}

/** Returns the `Link` header (RFC 8288). Undefined for other responses and for a list that fits on one page. `query` is parsed. */
function pagingLinks(
  url: URL,
  { path, query: schema }: Pick<Route, 'path' | 'query'>,
  query: unknown,
  list: unknown,
): string | undefined {
  if (typeof list !== 'object' || list === null) return undefined
  const links: string[] = []
  const add = (rel: string, parameters: URLSearchParams): void => {
    const target = parameters.size > 0 ? `${url.pathname}?${parameters}` : url.pathname
    // A longer address could not be called. The client can use the token in the response instead.
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
    // The last page of an event stream also has a token; its next page is empty.
    if (typeof pagingToken === 'string' && items.length > 0)
      if (STREAMS.has(path)) add('next', new URLSearchParams({ pagingToken }))
      else link('next', { pagingToken })
    if ((query as PagingQuery).pagingToken !== undefined && !STREAMS.has(path))
      link('first', { pagingToken: undefined })
  } else if (isPaged(schema, 'offset')) {
    const { offset = 0, count = MOST_UNCOUNTED } = query as PagingQuery
    const isMore = listCompleted === undefined ? items.length >= count : listCompleted === false
    if (isMore && items.length > 0) link('next', { offset: String(offset + items.length) })
    if (offset > 0) {
      link('prev', { offset: String(Math.max(0, offset - count)) })
      link('first', { offset: undefined })
    }
  }
  return links.length === 0 ? undefined : links.join(', ')
}
