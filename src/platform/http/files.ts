// Serves files at signed addresses, streamed from R2, with conditional requests and ranges for resumed downloads.
import { isRefused, Refusal } from '../../kernel/errors.ts'
import { findTenant, requireServed, tenantFiles } from '../tenancy.ts'
import { disposition } from './disposition.ts'
import { readIfMatch, tagList } from './entity-tags.ts'
import { FILES_PATH, linkedKey, readLinkToken } from './file-links.ts'
import { type PublicContext, publicRoutes, type Route } from './route.ts'

const { get } = publicRoutes('Files')

export const fileRoutes: readonly Route[] = [
  get(FILES_PATH, {
    summary: 'Download a file',
    description:
      'At an address from another response, which is valid for 30 minutes. Sends one part for `Range` (206), and no body if `If-None-Match` or `If-Modified-Since` shows that you have the file (304).',
    answer: { description: 'The file, with its own media type.', media: 'application/octet-stream' },
    handle: ({ params }, context) => signedFile(params.token, context),
  }),
]

/** Responds with 200, 206, 304, 412 or 416. Throws 404 for an invalid token. */
async function signedFile(token: string, context: PublicContext): Promise<Response> {
  const { env, requestHeaders, calls, now } = context
  const link = readLinkToken(env.TOKEN_SECRET, token, now)
  const tenant = link && (await findTenant(env, { locator: link.tenantLocator }, calls))
  const key = link && linkedKey(link, tenant)
  if (!tenant || !key) throw noFile()
  requireServed(tenant)
  const bucket = tenantFiles(env, tenant)
  const range = requestedRange(context)
  calls.r2 += 1
  let object: R2ObjectBody | R2Object | null
  try {
    object = await bucket.get(key, { onlyIf: conditionsOf(requestHeaders), ...(range && { range }) })
  } catch (problem) {
    if (!range || isRefused(problem)) throw problem
    return await unsatisfiable(context, bucket, key, range, problem)
  }
  if (!object) throw noFile()
  const headers = headersOf(object)
  headers.set('content-disposition', disposition('attachment', link.fileName))
  if (!('body' in object))
    return new Response(null, { status: isKnown(requestHeaders, object) ? 304 : 412, headers })
  if (!range) {
    headers.set('content-length', String(object.size))
    return new Response(object.body, { headers })
  }
  const start = 'suffix' in range ? Math.max(0, object.size - range.suffix) : range.offset
  const end = Math.min(object.size, 'length' in range ? start + range.length : object.size)
  headers.set('content-range', `bytes ${start}-${end - 1}/${object.size}`)
  headers.set('content-length', String(end - start))
  return new Response(object.body, { status: 206, headers })
}

const noFile = (): Refusal =>
  new Refusal(
    'notFound',
    'There is no file at this address, or the address has expired. Request a new address.',
  )

type Range = { offset: number } | { offset: number; length: number } | { suffix: number }

/**
 * Returns a single requested range. Undefined, for the whole file, without the header, with several, with `If-Range`, for HEAD.
 */
function requestedRange({ isHead, requestHeaders: headers }: PublicContext): Range | undefined {
  // By RFC 9110, 14.2.
  if (isHead) return undefined
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range')?.trim() ?? '')
  if (!match || headers.has('if-range')) return undefined
  const [first, last] = [match[1]!, match[2]!]
  if (first === '') return last === '' ? undefined : { suffix: Number(last) }
  const offset = Number(first)
  if (last === '') return { offset }
  return Number(last) < offset ? undefined : { offset, length: Number(last) - offset + 1 }
}

/**
 * Cleans up the conditions, because R2 throws at text that is not a plain list of tags. As with records, such an `If-None-Match`
 * is ignored and such an `If-Match` is rejected.
 */
function conditionsOf(headers: Headers): Headers {
  readIfMatch(headers.get('if-match'))
  const conditions = new Headers(headers)
  for (const name of ['if-match', 'if-none-match']) {
    const asked = headers.get(name)?.trim()
    if (asked === undefined || asked === '*') continue
    const plain = tagList(asked)
    if (plain === undefined) conditions.delete(name)
    else conditions.set(name, plain)
  }
  return conditions
}

/**
 * Whether the client already has a file that R2 did not send. R2 reports only that one of the conditions does not hold. If-Match
 * and If-Unmodified-Since are evaluated before the conditions on what the client has (RFC 9110, 13.2.2).
 */
function isKnown(headers: Headers, { etag, uploaded }: R2Object): boolean {
  if (!headers.has('if-none-match') && !headers.has('if-modified-since')) return false
  const wanted = readIfMatch(headers.get('if-match'))
  if (wanted !== undefined) return wanted === '*' || wanted.includes(etag)
  const unmodifiedSince = Date.parse(headers.get('if-unmodified-since') ?? '')
  return !(uploaded.getTime() > unmodifiedSince)
}

/** Responds with 416 for a range beyond the file. R2 reports it like any failure; the size of the file shows which it was. */
async function unsatisfiable(
  context: PublicContext,
  bucket: R2Bucket,
  key: string,
  range: Range,
  problem: unknown,
): Promise<Response> {
  context.calls.r2 += 1
  const object = await bucket.head(key)
  if (!object) throw noFile()
  if ('suffix' in range ? range.suffix > 0 : range.offset < object.size) throw problem
  const headers = headersOf(object)
  headers.set('content-range', `bytes */${object.size}`)
  return new Response(null, { status: 416, headers })
}

function headersOf(object: R2Object): Headers {
  return new Headers({
    'content-type': object.httpMetadata?.contentType ?? 'application/octet-stream',
    etag: object.httpEtag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    // Pages show images from these addresses.
    'cross-origin-resource-policy': 'cross-origin',
  })
}
