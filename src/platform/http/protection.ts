// What every answer tells browsers: to guess no content types, to keep and to send on nothing, to come back by https
// only, and to run nothing of what tenants wrote. And which pages may read an answer (CORS).
import { findTenant, isOriginListed } from '../tenancy.ts'
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
 * The origin of the page that calls, if it may read the answer. Credentials that a browser adds by itself are never allowed: there
 * are none, since tokens go in a header.
 */
async function allowedOrigin(exchange: Exchange, env: Env): Promise<string | undefined> {
  const origin = exchange.request.headers.get('origin')
  if (origin === null) return undefined
  // The request is carried out by now: its answer goes out, if need be to nobody's page.
  const mayRead = await isAllowed(origin, exchange, env).catch(problem => {
    console.error(JSON.stringify({ at: 'allowedOrigin', problem: String(problem) }))
    return false
  })
  return mayRead ? origin : undefined
}

/**
 * Whether a tenant lists the origin (PUT /tenant/allowedOrigins): the tenant that is signed in, whose host name is called where it is
 * a tenant's. At the host that all tenants share, what is not signed in (a preflight, a sign-in) may be read by pages that any tenant
 * lists, since it tells nothing of a tenant.
 */
async function isAllowed(origin: string, { url, calls, tenant }: Exchange, env: Env): Promise<boolean> {
  const called = await findTenant(env, { hostName: url.hostname }, calls)
  const lists = called ?? tenant
  if (!lists) return await isOriginListed(env, origin, calls)
  if (called && tenant && called.locator !== tenant.locator) return false
  return lists.allowedOrigins?.includes(origin) ?? false
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
