// Security headers of every response: no content sniffing, no caching, no referrer, https only, no scripts from tenants. Also
// CORS: which pages may read a response.
import { Refusal } from '../../kernel/errors.ts'
import { findTenant, isOriginListed } from '../tenancy.ts'
import type { Exchange } from './exchange.ts'
import { limitAddress } from './rate-limits.ts'

const HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  // One year, for all subdomains.
  ['strict-transport-security', 'max-age=31536000; includeSubDomains'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['x-frame-options', 'DENY'],
]

/** For HTML from tenants' templates: browsers show it but run nothing in it. */
const RENDERED_POLICY =
  "default-src 'none'; img-src data: https:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

/** For all other responses: they load nothing if a browser shows them. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Adds the headers that the handler did not set: `no-store`, and a content security policy that depends on the media type. */
export function setSecurityHeaders(headers: Headers): void {
  for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (headers.has('content-security-policy')) return
  const isHtml = headers.get('content-type')?.startsWith('text/html') ?? false
  headers.set('content-security-policy', isHtml ? RENDERED_POLICY : DATA_POLICY)
}

/** Headers that pages of other origins may read in addition to the default ones. */
const EXPOSED =
  'x-request-id, x-client-request-id, x-d1-bookmark, etag, link, location, server-timing, retry-after, deprecation, allow, accept-ranges, content-disposition, content-range, www-authenticate, x-resource-name, x-resource-revision'
const PREFLIGHT_MAX_AGE_SECONDS = '600'
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-match, if-modified-since, if-none-match, if-previewed, if-unmodified-since, mcp-method, mcp-name, mcp-protocol-version, range, traceparent, x-client-request-id, x-d1-bookmark, x-idempotency-key, x-request-id'

/**
 * Returns the origin of the calling page if it may read the response. Never allows credentials that a browser adds by itself:
 * there are none, because tokens are in a header.
 */
async function allowedOrigin(exchange: Exchange, env: Env): Promise<string | undefined> {
  const origin = exchange.request.headers.get('origin')
  if (origin === null) return undefined
  // The request has been carried out, so the response must be sent even if the page may not read it.
  const mayRead = await isAllowed(origin, exchange, env).catch(problem => {
    if (problem instanceof Refusal) return false
    console.error(JSON.stringify({ at: 'allowedOrigin', problem: String(problem) }))
    return false
  })
  return mayRead ? origin : undefined
}

/**
 * Whether a tenant lists the origin (PUT /tenant/allowedOrigins): the signed-in tenant, or the tenant of the host name.
 *
 * At the host that all tenants share, pages listed by any tenant may read responses without sign-in (a preflight, a sign-in),
 * because these reveal nothing about a tenant.
 */
async function isAllowed(
  origin: string,
  { request, url, calls, tenant }: Exchange,
  env: Env,
): Promise<boolean> {
  const called = await findTenant(env, { hostName: url.hostname }, calls)
  const listing = called ?? tenant
  if (!listing)
    return await isOriginListed(env, origin, calls, () => limitAddress(env, request, { path: '' }))
  if (called && tenant && called.locator !== tenant.locator) return false
  return listing.allowedOrigins?.includes(origin) ?? false
}

/** Lets the calling page read the response if its origin is allowed. If that cannot be determined, the page may not read it. */
export async function setCorsHeaders(exchange: Exchange, env: Env, { headers }: Response): Promise<void> {
  headers.append('vary', 'origin')
  const origin = await allowedOrigin(exchange, env)
  if (origin === undefined) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-expose-headers', EXPOSED)
}

/**
 * Answers a preflight of a page. Without the headers, which an origin that is not allowed does not get, the browser sends no
 * request.
 */
export async function setPreflightHeaders(
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
  headers.set('access-control-allow-headers', REQUEST_HEADERS)
  headers.set('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS)
}
