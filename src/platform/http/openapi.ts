// Builds the OpenAPI 3.1 document from the mounted routes.
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { version } from '../../../package.json'
import { ERROR_KINDS } from '../../kernel/errors.ts'
import type { UploadBody } from './body/upload.ts'
import { ExceptionResponse } from './error-contract.ts'
import { FILES_PATH } from './file-links.ts'
import { isTagged, SUCCESSORS, takesPreview, writeOf } from './records.ts'
import {
  addExample,
  type Examples,
  exampleOf,
  operationId,
  refusalsOf,
  tagsOf,
} from './reference/operations.ts'
import { isPaged } from './respond.ts'
import type { Access, Route } from './route.ts'

const SCHEME = 'token'

const INTRODUCTION = `Bindery administers insurance policies: it quotes, issues, endorses, renews, cancels, bills and documents them.

**Sign in** with \`POST /account/authenticate\`, and send the token as \`Authorization: Bearer <token>\`. Programs use a long-lived token of
\`POST /auth/users/tokens\`.

**Values.** Times are milliseconds since 1970-01-01T00:00Z, unless their description says ISO 8601. Amounts are numbers in major units of a
currency. Locators are opaque texts.

**Repeats.** You may repeat a write that has the header \`Idempotency-Key\`: the repeat returns the original response, and nothing happens twice.

**Headers.** Every response has an \`X-Request-Id\`, which identifies the request in the log and in the event stream, and a \`Server-Timing\`.
Operations that list \`ETag\`, \`If-None-Match\`, \`If-Match\`, \`Location\`, \`Link\` or \`X-D1-Bookmark\` send or read them.

**Errors** have the shape of \`ExceptionResponse\`: a stable code, and a message that says what is wrong and how to fix it.`

const LICENSE = { name: 'All rights reserved', identifier: 'LicenseRef-Bindery' }

const IdempotencyHeader = z.object({
  'Idempotency-Key': z.string().max(255).optional().openapi({
    description:
      'A text of your choice (visible ASCII). Within 30 days, requests with the same key are carried out only once.',
  }),
  'X-Idempotency-Key': z.string().max(255).optional().openapi({
    description: 'The older name of `Idempotency-Key`. Read only if that header is missing.',
  }),
})

const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: ExceptionResponse } },
})

const RetryAfter = z.object({
  'Retry-After': z.int().openapi({ description: 'Seconds to wait before you try again.' }),
})

const refusals = (route: Route, examples: Examples) => ({
  ...Object.fromEntries(
    [...refusalsOf(route, exampleOf(examples, route).refusals)].map(([status, description]) => [
      status,
      { ...refusal(description), ...((status === 429 || status === 503) && { headers: RetryAfter }) },
    ]),
  ),
  default: refusal('Any other error.'),
})

const TOKENS = {
  tenant: 'a token of the tenant',
  administration: 'a token of an administration account',
  signedIn: 'any valid token',
}

function requires(access: Access): string {
  if (access.kind === 'public') return 'Needs no token.'
  const permissions = access.permissions?.map(name => `\`${name}\``).join(' or ')
  const token = TOKENS[access.kind]
  return permissions ? `Needs ${token} with the permission ${permissions}.` : `Needs ${token}.`
}

const FILE = z.string().openapi({ format: 'binary' })
const uploadOf = ({ partNames = ['file'], media = 'application/octet-stream', json }: UploadBody) => {
  if (json) return { required: true, content: { 'application/json': { schema: json } } }
  const parts = partNames.map(name => [name, partNames.length === 1 ? FILE : FILE.optional()])
  return {
    required: true,
    content: {
      'multipart/form-data': { schema: z.object(Object.fromEntries(parts)) },
      [media]: { schema: FILE },
    },
  }
}

function mediaOf({ body, form, upload }: Route) {
  if (form) return { required: true, content: { 'multipart/form-data': { schema: form.schema } } }
  if (upload) return uploadOf(upload)
  return body && { required: body.required, content: { 'application/json': { schema: body.schema } } }
}

function requestOf(route: Route) {
  const { path, query, access, method } = route
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
  const media = mediaOf(route)
  return {
    ...(names.length > 0 && {
      params: z.object(Object.fromEntries(names.map(name => [name, z.string()]))),
    }),
    ...(query && { query: query as z.ZodObject }),
    ...(media && { body: media }),
    ...(access.kind !== 'public' && method !== 'get' && { headers: IdempotencyHeader }),
  }
}

function contentOf({ schema, media, fileMedia = [] }: Route['answer']) {
  const files = (media === undefined ? fileMedia : [media]).map(one => [one, { schema: FILE }] as const)
  const content = { ...(schema && { 'application/json': { schema } }), ...Object.fromEntries(files) }
  return Object.keys(content).length === 0 ? {} : { content }
}

/** A webhook request. The name is that of the event. */
export type Notification = {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly deprecated: boolean
  readonly schema: z.ZodType
}

/** Formats permissions, any one of which is enough. `none` means without a token, `signedIn` with any token. */
const permissionText = (access: Route['access']): string =>
  access.kind === 'public' ? 'none' : access.permissions?.join(' | ') || 'signedIn'

/**
 * Builds the document. This is slow, so it runs on the first request for the document. `describe` adds descriptions to the
 * document as a plain value.
 */
export function openApiDocument(
  routes: readonly Route[],
  notifications: readonly Notification[],
  examples: Examples,
  describe: (document: never) => void,
): string {
  const { openAPIRegistry: registry, getOpenAPI31Document } = new OpenAPIHono()
  registry.registerComponent('securitySchemes', SCHEME, {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The token of an authenticate call, or a long-lived token (`bdy_…`). Also accepted without `Bearer`, and after `JWT`.',
  })
  for (const route of routes)
    registry.registerPath({
      method: route.method,
      path: route.path,
      operationId: operationId(route),
      summary: route.summary,
      description: [route.description, requires(route.access)].filter(Boolean).join('\n\n'),
      tags: [...route.tags],
      ...(route.deprecated && { deprecated: true }),
      security: route.access.kind === 'public' ? [] : [{ [SCHEME]: [] }],
      'x-access': route.access.kind,
      'x-permission': permissionText(route.access),
      ...('permissions' in route.access && { 'x-permissions': [...(route.access.permissions ?? [])] }),
      request: requestOf(route),
      responses: {
        [route.answer.status ?? 200]: { description: route.answer.description, ...contentOf(route.answer) },
        ...refusals(route, examples),
      },
    })
  for (const { name, summary, description, deprecated, schema } of notifications)
    registry.registerWebhook({
      method: 'post',
      path: name,
      operationId: `on${name.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
      summary,
      description,
      tags: ['Webhooks'],
      // No token: a signature in the headers identifies the sender (docs/webhooks.md).
      security: [],
      ...(deprecated && { deprecated }),
      request: { body: { required: true, content: { 'application/json': { schema } } } },
      responses: { 200: { description: 'Any 2xx status: received. Any other status: failed.' } },
    })
  const document = getOpenAPI31Document(
    {
      openapi: '3.1.0',
      info: { title: 'Bindery', version, description: INTRODUCTION, license: LICENSE },
      servers: [{ url: '/', description: 'Name of the service.' }],
      tags: tagsOf(routes.flatMap(route => route.tags)),
    },
    { sortComponents: 'alphabetically' },
  )
  for (const route of routes)
    addExample(document.paths![route.path]![route.method] as never, exampleOf(examples, route))
  const errors = Object.entries(ERROR_KINDS).map(
    ([code, { status: httpStatus, api: apiErrorCode, about }]) => ({ code, httpStatus, apiErrorCode, about }),
  )
  const text = JSON.stringify({ ...withHeaders(document as Described, routes), 'x-error-codes': errors })
  // Objects may be shared within the document. A parsed copy has a separate object at each place.
  const described = JSON.parse(text)
  describe(described as never)
  return JSON.stringify(described)
}

// Headers of all operations. The platform handles them, not the capabilities.
const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

const HEADERS = {
  'X-Request-Id': text(
    'Identifies the request in the log, in the audit trail, and as `requestId` of the events that it caused.',
    '0b7f6c1e-9a51-4a57-9d52-0a4a3c8d2b00',
  ),
  'X-Client-Request-Id': text('Your own name for the request, if you sent one.', 'order-77'),
  'Server-Timing': text(
    'The cost of the request: milliseconds, round trips of each kind, and database rows.',
    'total;dur=12, d1;desc="1", object;desc="0", r2;desc="0", queue;desc="0", rows;desc="12 read, 0 written"',
  ),
  'X-D1-Bookmark': text(
    'Send it with your next request: that request then reads what you wrote, from whichever copy of the database is nearest.',
    '0a1b2c3d.1.0=00000003-00000012-0000508f-2a1c',
  ),
  ETag: text(
    'Digest of the record as shown. Weak (`W/`) if it contains file addresses or was compressed in transit. You may send back either form.',
    '"Zk3vUqO1v2mS0cXoP9d4xA"',
  ),
  Location: text('Path of the new record.', '/policy/100000064'),
  Link: text(
    'The next (`next`), previous (`prev`) and first (`first`) page of a list; for a deprecated path, the path that replaces it (`successor-version`).',
    '</policyholders?pageSize=2&pagingToken=AAAB>; rel="next"',
  ),
  Deprecation: text('Time from which the path is deprecated (RFC 9745).', '@1767225600'),
} as const

type HeaderName = keyof typeof HEADERS

// Without `example`, because the reference's request samples would send it.
const parameter = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

const PARAMETERS = {
  IfNoneMatch: parameter(
    'If-None-Match',
    'The `ETag` of the response that you have, with its quotation marks. If the response would be the same, it is 304 without a body.',
  ),
  IfMatch: parameter(
    'If-Match',
    'The `ETag` of the record as you know it, with its quotation marks. If the record has changed, nothing is done, and the response is 412.',
  ),
  IfPreviewed: parameter(
    'If-Previewed',
    'The `previewToken` of a preview. The request then does exactly what was previewed, at that price, or nothing (409 `previewOutdated`).',
  ),
  Bookmark: parameter(
    'X-D1-Bookmark',
    'The `X-D1-Bookmark` of your last response from the same tenant. The request then reads what that request wrote.',
  ),
  ClientRequestId: parameter(
    'X-Client-Request-Id',
    'Your name for the request, such as `order-77`: at most 128 visible ASCII characters. It appears in the log and in the response.',
  ),
} as const

type ParameterName = keyof typeof PARAMETERS

const errorResponse = (description: string, headers: object = {}) => ({
  description,
  headers,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ExceptionResponse' } } },
})

const header = (name: HeaderName) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const RESPONSES = {
  NotModified: {
    description: 'You have this response already; there is no body.',
    headers: header('ETag'),
  },
  NotAcceptable: errorResponse('The `Accept` header does not allow JSON.'),
  PreconditionFailed: errorResponse('The record no longer has the `ETag` in `If-Match`.', header('ETag')),
  PartOfFile: { description: 'The part of the file that `Range` names.' },
  OtherFile: { description: 'A condition such as `If-Match` is not met; there is no body.' },
  NoSuchPart: {
    description: 'The file is shorter than the start of `Range`. `Content-Range` has its length.',
  },
}

type ResponseName = keyof typeof RESPONSES

const answersJson = ({ answer }: Route): boolean => answer.schema !== undefined && answer.media === undefined

/** Whether the route serves files, which have their own conditions and ranges (files.ts). */
const sendsFiles = ({ path }: Route): boolean => path === FILES_PATH

const isTenants = ({ access }: Route): boolean => access.kind === 'tenant'

function headersOf(route: Route): HeaderName[] {
  const { method, path } = route
  const { makes, shows } = writeOf(route)
  const isList = method === 'get' && (isPaged(route.query, 'pagingToken') || isPaged(route.query, 'offset'))
  const conditions: [HeaderName, boolean][] = [
    ['X-Request-Id', true],
    ['X-Client-Request-Id', true],
    ['Server-Timing', true],
    ['X-D1-Bookmark', isTenants(route)],
    ['ETag', (isTagged(route) && answersJson(route)) || shows === true],
    ['Location', makes !== undefined],
    ['Link', isList || `${method.toUpperCase()} ${path}` in SUCCESSORS],
    ['Deprecation', route.deprecated === true],
  ]
  return conditions.filter(([, has]) => has).map(([name]) => name)
}

function parametersOf(route: Route): ParameterName[] {
  const conditions: [ParameterName, boolean][] = [
    ['IfNoneMatch', (isTagged(route) && answersJson(route)) || sendsFiles(route)],
    ['IfMatch', writeOf(route).changes !== undefined],
    ['IfPreviewed', takesPreview(route)],
    ['Bookmark', isTenants(route)],
    ['ClientRequestId', true],
  ]
  return conditions.filter(([, has]) => has).map(([name]) => name)
}

function responsesOf(route: Route): [string, ResponseName][] {
  const conditions: [string, ResponseName, boolean][] = [
    ['206', 'PartOfFile', sendsFiles(route)],
    ['304', 'NotModified', (isTagged(route) && answersJson(route)) || sendsFiles(route)],
    ['406', 'NotAcceptable', answersJson(route) && route.access.kind !== 'public'],
    ['412', 'PreconditionFailed', writeOf(route).changes !== undefined],
    ['412', 'OtherFile', sendsFiles(route)],
    ['416', 'NoSuchPart', sendsFiles(route)],
  ]
  return conditions.flatMap(([status, name, has]) => (has ? [[status, name]] : []))
}

type Operation = {
  description?: string
  parameters?: object[]
  responses: Record<string, { headers?: object; $ref?: string }>
}
type Described = {
  paths?: Record<string, unknown>
  components?: Record<string, unknown>
}

function withHeaders<D extends Described>(document: D, routes: readonly Route[]): D {
  for (const route of routes) {
    const item = document.paths?.[route.path] as Record<string, Operation>
    const operation = item[route.method]!
    operation.parameters = [
      ...(operation.parameters ?? []),
      ...parametersOf(route).map(name => ({ $ref: `#/components/parameters/${name}` })),
    ]
    const answer = operation.responses[route.answer.status ?? 200]!
    answer.headers = { ...answer.headers, ...Object.assign({}, ...headersOf(route).map(header)) }
    for (const [status, name] of responsesOf(route))
      operation.responses[status] ??= { $ref: `#/components/responses/${name}` }
    const { changes } = writeOf(route)
    if (changes !== undefined)
      operation.description = `${operation.description}\n\n\`If-Match\` accepts the ETag of \`GET ${changes}\`.`
  }
  return {
    ...document,
    components: {
      ...document.components,
      headers: HEADERS,
      parameters: { ...(document.components?.parameters as object), ...PARAMETERS },
      responses: { ...(document.components?.responses as object), ...RESPONSES },
    },
  }
}
