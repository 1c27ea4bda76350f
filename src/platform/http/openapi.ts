// The OpenAPI 3.1 document, made from the mounted routes.
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { version } from '../../../package.json'
import { ERROR_KINDS } from '../../kernel/errors.ts'
import type { UploadBody } from './body/upload.ts'
import { ExceptionResponse } from './error-contract.ts'
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

const INTRODUCTION = `Policies, policyholders, quotes and their configuration.

Send the token of \`POST /account/authenticate\`, or a long-lived one of \`POST /auth/users/tokens\`, as
\`Authorization: Bearer <token>\`. Times are milliseconds since
1970-01-01T00:00Z; amounts are numbers in the currency of the policy. A write with the header \`Idempotency-Key\`
may be repeated: the repeat returns the original response. Every answer has an \`X-Request-Id\`, which finds it
in the log and in the event stream, and a \`Server-Timing\`. \`ETag\`, \`If-None-Match\` and \`If-Match\`, \`Location\`,
\`Link\` and \`X-D1-Bookmark\` are kept to where they are named. Whatever is refused is answered with an \`ExceptionResponse\`.`

const LICENSE = { name: 'All rights reserved', identifier: 'LicenseRef-Bindery' }

const IdempotencyHeader = z.object({
  'Idempotency-Key': z.string().max(255).optional().openapi({
    description: 'Visible ASCII. The same key with the same request is carried out once; kept for 30 days.',
  }),
  'X-Idempotency-Key': z.string().max(255).optional().openapi({
    description: 'The same under its older name; read where there is no `Idempotency-Key`.',
  }),
})

const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: ExceptionResponse } },
})

const RetryAfter = z.object({
  'Retry-After': z.int().openapi({ description: 'Seconds to wait before the next try.' }),
})

const refusals = (route: Route, examples: Examples) => ({
  ...Object.fromEntries(
    [...refusalsOf(route, exampleOf(examples, route).refusals)].map(([status, description]) => [
      status,
      { ...refusal(description), ...((status === 429 || status === 503) && { headers: RetryAfter }) },
    ]),
  ),
  default: refusal('Any other refusal.'),
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

function requestOf({ path, query, body, form, upload, access, method }: Route) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
  const media = form
    ? { required: true, content: { 'multipart/form-data': { schema: form.schema } } }
    : upload
      ? uploadOf(upload)
      : body && { required: body.required, content: { 'application/json': { schema: body.schema } } }
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

/** A webhook request; the name is the event's. */
export type Notification = {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly deprecated: boolean
  readonly schema: z.ZodType
}

/** Any one of the permissions is enough; `none` without a token, `signedIn` for any token. */
const permissionText = (access: Route['access']): string =>
  access.kind === 'public' ? 'none' : access.permissions?.join(' | ') || 'signedIn'

/** Slow: made on the first request for it. */
export function openApiDocument(
  routes: readonly Route[],
  notifications: readonly Notification[],
  examples: Examples,
): string {
  const { openAPIRegistry: registry, getOpenAPI31Document } = new OpenAPIHono()
  registry.registerComponent('securitySchemes', SCHEME, {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The token of an authenticate call, or a long-lived one (`bdy_…`); also accepted bare, and after `JWT`.',
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
      responses: { 200: { description: 'Any 2xx: received. Anything else is a failure.' } },
    })
  const document = getOpenAPI31Document(
    {
      openapi: '3.1.0',
      info: { title: 'Bindery', version, description: INTRODUCTION, license: LICENSE },
      servers: [{ url: '/', description: 'The service that answered.' }],
      tags: tagsOf(routes.flatMap(route => route.tags)),
    },
    { sortComponents: 'alphabetically' },
  )
  for (const route of routes)
    addExample(document.paths![route.path]![route.method] as never, exampleOf(examples, route))
  const errors = Object.entries(ERROR_KINDS).map(
    ([code, { status: httpStatus, api: apiErrorCode, about }]) => ({ code, httpStatus, apiErrorCode, about }),
  )
  return JSON.stringify({ ...withHeaders(document as Described, routes), 'x-error-codes': errors })
}

// Headers of all operations: the platform handles them, not the capabilities.
const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

const HEADERS = {
  'X-Request-Id': text(
    'The id of the request: in the log, in the audit trail, and the `requestId` of the events that it caused.',
    '0b7f6c1e-9a51-4a57-9d52-0a4a3c8d2b00',
  ),
  'X-Client-Request-Id': text('What the client called the request, where it did.', 'order-77'),
  'Server-Timing': text(
    'What the request took: milliseconds, round trips of each kind, and rows of the databases.',
    'total;dur=12, d1;desc="1", object;desc="0", r2;desc="0", queue;desc="0", rows;desc="12 read, 0 written"',
  ),
  'X-D1-Bookmark': text(
    'To be sent with the next request: who does reads what it wrote, from whichever copy of the database is next to it.',
    '0a1b2c3d.1.0=00000003-00000012-0000508f-2a1c',
  ),
  ETag: text(
    'Of the record as it is shown. Weak (`W/`) where addresses of files in it change, and where it was compressed on its way; either may be sent back.',
    '"Zk3vUqO1v2mS0cXoP9d4xA"',
  ),
  Location: text('The path at which the record that was made is read.', '/policy/100000064'),
  Link: text(
    'Where a list goes on (`next`), came from (`prev`) and begins (`first`); of a deprecated path what takes its place (`successor-version`).',
    '</policyholders?pageSize=2&pagingToken=AAAB>; rel="next"',
  ),
  Deprecation: text('Since when the path is deprecated (RFC 9745).', '@1767225600'),
} as const

type HeaderName = keyof typeof HEADERS

const parameter = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: false,
  ...text(description, example),
})

const PARAMETERS = {
  IfNoneMatch: parameter(
    'If-None-Match',
    'The ETag of the answer that the client has: if it would be sent the same, it is answered 304 without a body.',
    '"Zk3vUqO1v2mS0cXoP9d4xA"',
  ),
  IfMatch: parameter(
    'If-Match',
    'The ETag of the record as the client knows it: if it is another by now, nothing is done, and the answer is 412.',
    '"Zk3vUqO1v2mS0cXoP9d4xA"',
  ),
  IfPreviewed: parameter(
    'If-Previewed',
    'The `previewToken` of a preview: the write does what was previewed, at that price, or nothing (409 `previewOutdated`).',
    'eyJhbGciOiJFZERTQSIsInR5cCI6InByZXZpZXcrand0In0.eyJwb2xpY3kiOjEwMH0.c2lnbmF0dXJl',
  ),
  Bookmark: parameter(
    'X-D1-Bookmark',
    'That of the last answer of the same tenant.',
    HEADERS['X-D1-Bookmark'].example,
  ),
  ClientRequestId: parameter(
    'X-Client-Request-Id',
    'What the client calls the request: at most 128 visible characters of ASCII. It is in the log, and in the answer.',
    'order-77',
  ),
} as const

type ParameterName = keyof typeof PARAMETERS

const refused = (description: string, headers: object = {}) => ({
  description,
  headers,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ExceptionResponse' } } },
})

const header = (name: HeaderName) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const RESPONSES = {
  NotModified: { description: 'The client has it; there is no body.', headers: header('ETag') },
  NotAcceptable: refused('The `Accept` header leaves out JSON.'),
  PreconditionFailed: refused('The record is not as `If-Match` says.', header('ETag')),
}

type ResponseName = keyof typeof RESPONSES

const answersJson = ({ answer }: Route): boolean => answer.schema !== undefined && answer.media === undefined

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
    ['IfNoneMatch', isTagged(route) && answersJson(route)],
    ['IfMatch', writeOf(route).changes !== undefined],
    ['IfPreviewed', takesPreview(route)],
    ['Bookmark', isTenants(route)],
    ['ClientRequestId', true],
  ]
  return conditions.filter(([, has]) => has).map(([name]) => name)
}

function responsesOf(route: Route): [string, ResponseName][] {
  const conditions: [string, ResponseName, boolean][] = [
    ['304', 'NotModified', isTagged(route) && answersJson(route)],
    ['406', 'NotAcceptable', answersJson(route) && route.access.kind !== 'public'],
    ['412', 'PreconditionFailed', writeOf(route).changes !== undefined],
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
      operation.description = `${operation.description}\n\n\`If-Match\` takes the ETag of \`GET ${changes}\`.`
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
