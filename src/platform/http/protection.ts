// What every answer tells browsers: to guess no content types, to keep and to send on nothing, to come back by https
// only, and to run nothing of what tenants wrote. And which pages may read an answer (CORS).
import { findTenant } from '../tenancy.ts'
import type { Exchange } from './exchange.ts'

const HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  // A year, and all host names below.
  ['strict-transport-security', 'max-age=31536000; includeSubDomains'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['x-frame-options', 'DENY'],
]

/** HTML that no page of ours is comes from a tenant's templates: it may be looked at, and does nothing. */
const RENDERED_POLICY =
  "default-src 'none'; img-src data: https:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

/** Answers that are no pages load nothing, should a browser show them. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Adds to the answer what it lacks of these headers. */
export function protect(headers: Headers): void {
  for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (headers.has('content-security-policy')) return
  const isHtml = headers.get('content-type')?.startsWith('text/html') ?? false
  headers.set('content-security-policy', isHtml ? RENDERED_POLICY : DATA_POLICY)
}

/** Headers of answers that pages of other origins may read, beside the few that they always may. */
const EXPOSED =
  'x-request-id, x-client-request-id, x-d1-bookmark, etag, link, location, server-timing, retry-after, deprecation, allow'
const ASKED_AT_MOST_SECONDS = '600'
const SENT =
  'authorization, content-type, idempotency-key, if-match, if-none-match, range, traceparent, x-client-request-id, x-d1-bookmark, x-idempotency-key, x-request-id'

/**
 * The origin of the page that calls, if the tenant whose host name it calls lists it (PUT /tenant/allowedOrigins). The
 * host name decides, since a preflight brings no token; so pages call a tenant's own host name. A token of another
 * tenant is of no use to them there: nothing may read its answers. Credentials that a browser adds by itself are
 * never allowed, as there are none: tokens go in a header.
 */
async function allowedOrigin(exchange: Exchange, env: Env): Promise<string | undefined> {
  const { request, url, calls } = exchange
  const origin = request.headers.get('origin')
  if (origin === null) return undefined
  // The request is carried out by now: its answer goes out, if need be to nobody's page.
  const tenant = await findTenant(env, { hostName: url.hostname }, calls).catch(problem => {
    console.error(JSON.stringify({ at: 'allowedOrigin', problem: String(problem) }))
    return undefined
  })
  if (!tenant?.allowedOrigins?.includes(origin)) return undefined
  const signedInTo = exchange.tenant?.locator ?? tenant.locator
  return signedInTo === tenant.locator ? origin : undefined
}

/** Lets the page that calls read the answer, if it may. */
export async function share(exchange: Exchange, env: Env, { headers }: Response): Promise<void> {
  headers.append('vary', 'origin')
  const origin = await allowedOrigin(exchange, env)
  if (origin === undefined) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-expose-headers', EXPOSED)
}

/** What a browser asks before it lets a page call: also which methods and headers. */
export async function sharePreflight(
  exchange: Exchange,
  env: Env,
  methods: readonly string[],
  { headers }: Response,
): Promise<void> {
  headers.append('vary', 'origin')
  const origin = await allowedOrigin(exchange, env)
  if (origin === undefined) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-allow-methods', methods.join(', '))
  headers.set('access-control-allow-headers', SENT)
  headers.set('access-control-max-age', ASKED_AT_MOST_SECONDS)
}
