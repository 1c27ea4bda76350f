// Handles every request of a route in this order: access, input, the call of the handler, the response.
import type { z } from '@hono/zod-openapi'
import { invalidParameter, notFound, Refusal } from '../../kernel/errors.ts'
import { BOOKMARK_HEADER, readBookmarks } from '../calls.ts'
import type { Caller, IdempotencyKey, RequestContext } from '../context.ts'
import { keyedHash } from '../sealed.ts'
import { heavyReading } from '../seats.ts'
import { homeDatabase, type Tenant, tenantNow } from '../tenancy.ts'
import { contractRefusal } from '../wire-problem.ts'
import { type FilePlace, filePlace } from './body/bytes.ts'
import { type FilePart, type Form, readForm } from './body/form.ts'
import { readJson } from './body/json.ts'
import { type OpenUpload, openUpload, type Upload } from './body/upload.ts'
import { type IfMatch, readIfMatch } from './entity-tags.ts'
import { checkTarget, type Exchange, queryValues } from './exchange.ts'
import { mayNameFiles, withFileAddresses } from './file-links.ts'
import { type Callers, requireAccess, type SignedIn } from './permissions.ts'
import { limitAddress, limitCaller } from './rate-limits.ts'
import { takesPreview, writeOf } from './records.ts'
import { answerResponse } from './respond.ts'
import type { Access, Route } from './route.ts'

/** Throws problems that `problemResponse` turns into responses. */
export async function serve(
  route: Route,
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
  env: Env,
  later: (work: Promise<unknown>) => void,
  callers: Callers,
): Promise<Response> {
  checkTarget(exchange)
  const { requestId, now, calls } = exchange
  const open = { env, requestId, now, calls, later }
  if (route.access.kind === 'public') await limitAddress(env, exchange.request, route)
  const who =
    route.access.kind === 'public'
      ? undefined
      : await authorizeCaller(route, route.access, params, exchange, open, callers)
  requireAcceptable(exchange.request, route)
  // The token was checked on the primary, so a stale copy cannot grant a permission that has ended.
  if (who?.tenant) {
    calls.clientBookmarks = readBookmarks(exchange.request.headers.get(BOOKMARK_HEADER), who.tenant)
    calls.isRead = route.method === 'get'
  }
  const query = route.query ? parseOrRefuse(route.query, queryValues(exchange), 'invalidParameter') : {}
  const place = filePlace()
  if (who?.tenant) calls.heavy = heavyReading(who.tenant.locator)
  let upload: OpenUpload | undefined
  try {
    upload = route.upload && (await openUpload(exchange.request, route.upload, place))
    const { body, file, sent } = await readBody(route, exchange, place, upload?.upload)
    const context = who
      ? {
          ...open,
          caller: who.caller,
          tenant: who.tenant,
          // Signed-in routes handle tokens and links, which use real time.
          ...(route.access.kind === 'tenant' && who.tenant && { now: tenantNow(who.tenant) }),
          ...(route.access.kind === 'signedIn' && {
            signedInAt: who.signedInAt,
            accountEpoch: who.accountEpoch,
            origin: publicOrigin(env, exchange, who.tenant),
          }),
          idempotency: route.method === 'get' ? undefined : idempotencyKey(exchange, env, who.caller, sent),
          ifMatch: ifMatchOf(route, exchange),
          previewToken: previewTokenOf(route, exchange),
          ...(mayAdd(route) && { adds: true }),
        }
      : {
          ...open,
          isHead: exchange.request.method === 'HEAD',
          requestHeaders: exchange.request.headers,
          requestOrigin: exchange.url.origin,
        }
    const input = { params, query, body, file, asksForFile: asksForFile(exchange.request, route) }
    const value = await route.handle(input as never, context as never)
    const tenant = who?.tenant
    if (tenant && who.isStale && !calls.sizes) {
      const home = homeDatabase({ env, tenant, calls })
      await home.batch([home.rawQuery('select 1')])
    }
    const signing = { env, origin: publicOrigin(env, exchange, tenant), now }
    return answerResponse({ route, exchange, params, query, value }, json =>
      tenant && mayNameFiles(route) ? withFileAddresses(json, signing, tenant) : json,
    )
  } finally {
    await upload?.close()
    place.leave()
  }
}

/**
 * Returns the origin of addresses in responses: the configured one, or the tenant's host name. The request's `Host`, which the
 * caller chooses, is used only without the setting, by a local service or where there is no tenant.
 */
export function publicOrigin(
  { PUBLIC_ORIGIN: origin, ENVIRONMENT }: { readonly PUBLIC_ORIGIN: string; readonly ENVIRONMENT: string },
  { url }: Exchange,
  tenant: Pick<Tenant, 'hostName'> | undefined,
): string {
  if (origin) return origin.replace(/\/+$/, '')
  return tenant && ENVIRONMENT !== 'local' ? `https://${tenant.hostName}` : url.origin
}

const mayAdd = ({ method, worksWhenFull }: Route): boolean =>
  method !== 'get' && method !== 'delete' && !worksWhenFull

/** Checks the caller. The tenant is checked before the permission (resources brief 11). */
async function authorizeCaller(
  route: Route,
  access: Exclude<Access, { kind: 'public' }>,
  { tenantLocator }: Readonly<Record<string, string>>,
  exchange: Exchange,
  { env, later }: Pick<RequestContext, 'env' | 'later'>,
  { signedIn, recordRefusal }: Callers,
): Promise<SignedIn> {
  const found = await signedIn(exchange, env).catch(async problem => {
    await limitAddress(env, exchange.request, route)
    throw problem
  })
  const who: SignedIn = exchange.isOfAgent ? { ...found, caller: { ...found.caller, isAgent: true } } : found
  exchange.isSignedIn = true
  if (who.tenant) exchange.tenant = who.tenant
  await limitCaller(env, who)
  if (tenantLocator !== undefined && who.tenant && tenantLocator.toLowerCase() !== who.tenant.locator)
    throw notFound('tenant', tenantLocator)
  try {
    requireAccess(who, access)
  } catch (refusal) {
    const recording = recordRefusal(env, exchange, who, route)
    later(
      recording.catch(problem => console.error(JSON.stringify({ at: 'audit', problem: String(problem) }))),
    )
    throw refusal
  }
  if (tenantLocator !== undefined && !who.tenant) throw notFound('tenant', tenantLocator)
  return who
}

/**
 * Rejects a condition that the route does not check, because no write may ignore one. `*` passes: it only requires an existing
 * record, and clients send it with every write.
 */
function ifMatchOf(route: Route, { request }: Exchange): IfMatch | undefined {
  if (route.method === 'get') return undefined
  const ifMatch = readIfMatch(request.headers.get('if-match'))
  if (ifMatch !== undefined && ifMatch !== '*' && writeOf(route).changes === undefined)
    throw invalidParameter(
      `${route.method.toUpperCase()} ${route.path} does not accept If-Match, because it does not change exactly one record. Send the request without it.`,
    )
  return ifMatch
}

/** A token has about 700 characters. */
const LONGEST_PREVIEW_TOKEN = 4_096

/** As with `If-Match`, a write that cannot check the condition rejects it. */
function previewTokenOf(route: Route, { request }: Exchange): string | undefined {
  const token = request.headers.get('if-previewed')?.trim()
  if (route.method === 'get' || token === undefined) return undefined
  if (!takesPreview(route))
    throw invalidParameter(
      `${route.method.toUpperCase()} ${route.path} does not accept If-Previewed, because no preview shows what it does. Send the previewed transaction in one request that also issues it.`,
    )
  if (token.length > LONGEST_PREVIEW_TOKEN)
    throw invalidParameter(`If-Previewed may have at most ${LONGEST_PREVIEW_TOKEN} characters.`)
  return token
}

type ReadBody = { body: unknown; file: FilePart | Upload | undefined; sent: SentBody }

async function readBody(
  { method, body, form }: Route,
  { request }: Exchange,
  place: FilePlace,
  upload: Upload | undefined,
): Promise<ReadBody> {
  if (form) {
    const read: Form = await readForm(request, form, place)
    const parts = read.file ? { ...read.texts, [form.file]: read.file } : read.texts
    return {
      body: parseOrRefuse(form.schema, parts, 'invalidRequest'),
      file: read.file,
      sent: { form: read },
    }
  }
  if (!body) return { body: undefined, file: upload, sent: undefined }
  const { bytes, value } = await readJson(request, body)
  const parsed =
    value === undefined ? absentBody(method, body) : parseOrRefuse(body.schema, value, 'invalidRequest')
  return { body: parsed, file: undefined, sent: { bytes } }
}

/**
 * Returns what the handler gets without a body: that of `{}` if all properties are optional, even where the contract requires the
 * body, because clients then send none (brief 0.12 and 1.6). Not for PUT: it replaces what there is, and a body that got lost must
 * not replace it by defaults.
 */
function absentBody(method: Route['method'], { schema, required }: NonNullable<Route['body']>): unknown {
  for (const nothing of method === 'put' ? [] : [undefined, {}]) {
    const result = schema.safeParse(nothing)
    if (result.success) return result.data
  }
  return required ? parseOrRefuse(schema, undefined, 'invalidRequest') : undefined
}

function parseOrRefuse(
  schema: z.ZodType,
  value: unknown,
  code: 'invalidRequest' | 'invalidParameter',
): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw contractRefusal(result.error, code)
}

const KEY = /^[\x21-\x7e]{1,255}$/

/** The body as sent, for the hash. */
type SentBody = { readonly bytes: Uint8Array } | { readonly form: Form } | undefined

/**
 * Returns the key of a repeatable write with a hash of the request, or undefined without the header. A form is hashed by its
 * parts, because clients choose a new boundary each time. Its file is hashed with its name and type, which records show. The hash
 * is keyed, because bodies contain secrets and the row is kept for weeks.
 */
function idempotencyKey(
  { request, url }: Exchange,
  env: Pick<Env, 'SEALING_KEY'>,
  caller: Caller,
  body: SentBody,
): IdempotencyKey | undefined {
  // Migrations use an X- prefix (resources brief 9.1).
  const key = request.headers.get('idempotency-key') ?? request.headers.get('x-idempotency-key')
  if (key === null) return undefined
  if (!KEY.test(key))
    throw invalidParameter('The Idempotency-Key must have 1 to 255 visible ASCII characters and no spaces.')
  const hash = keyedHash(env)
  hash.update(`${request.method} ${url.pathname.replace(/\/$/, '')}${url.search}\n`)
  if (body && 'bytes' in body) hash.update(body.bytes)
  else if (body) {
    const { texts, file } = body.form
    hash.update(JSON.stringify(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))))
    if (file) hash.update(`\n${JSON.stringify([file.fileName, file.mediaType])}\n`).update(file.bytes)
  }
  return { key: `${caller.accountLocator}:${key}`, bodyHash: hash.digest('hex') }
}

// Content negotiation. Compression is left to Cloudflare's edge and costs the Worker no CPU time.
/** Parses the items of a list with weights, in lower case: `text/html;q=0.8` is `['text/html', 0.8]`. */
const parseWeights = (list: string): (readonly [string, number])[] =>
  list
    .toLowerCase()
    .split(',')
    .map(part => {
      const [name = '', ...parameters] = part.split(';').map(text => text.trim())
      const weight = parameters.find(text => text.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0] as const
    })
    .filter(([name]) => name !== '')

/** Whether the list accepts the first of the names, from the most to the least specific, that it contains. */
function accepts(list: string, ...names: readonly string[]): boolean {
  const parts = parseWeights(list)
  for (const name of names) {
    const part = parts.find(([listed]) => listed === name)
    if (part) return part[1] > 0
  }
  return parts.length === 0
}

/** Whether the client names the media type of the file, with at least the weight of JSON. Wildcards do not count. */
function asksForFile({ headers }: Request, { answer }: Route): boolean {
  const parts = new Map(parseWeights(headers.get('accept') ?? ''))
  const file = Math.max(0, ...(answer.fileMedia ?? []).map(media => parts.get(media) ?? 0))
  return file > 0 && file >= (parts.get('application/json') ?? 0)
}

/**
 * Throws 406 for a client that does not accept JSON, before any work: afterwards, the client could not learn what was done. Files,
 * probes and sign-ins are exempt.
 */
function requireAcceptable(request: Request, route: Route): void {
  const { access, answer } = route
  const accept = request.headers.get('accept')
  if (accept === null || access.kind === 'public' || !answer.schema || answer.media !== undefined) return
  if (asksForFile(request, route)) return
  if (!accepts(accept, 'application/json', 'application/*', '*/*'))
    throw new Refusal(
      'notAcceptable',
      'The response is application/json, which the Accept header does not allow. Add it to the header.',
    )
}
