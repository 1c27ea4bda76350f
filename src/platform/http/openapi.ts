// The OpenAPI 3.1 document, made from the same values that are mounted.
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { version } from '../../../package.json'
import { ERROR_KINDS } from '../../kernel/errors.ts'
import { ExceptionResponse } from '../error-contract.ts'
import { type Described, withHeaders } from './openapi-headers.ts'
import { addExample, type Examples, exampleOf } from './reference/examples.ts'
import { operationId } from './reference/operation-id.ts'
import { refusalsOf } from './reference/refusals.ts'
import { tagsOf } from './reference/tags.ts'
import type { Access, Route, UploadBody } from './route.ts'

const SCHEME = 'token'

const INTRODUCTION = `Policies, policyholders, quotes and their configuration.

Send the token of \`POST /account/authenticate\`, or a long-lived one of \`POST /auth/users/tokens\`, as
\`Authorization: Bearer <token>\`. Times are milliseconds since
1970-01-01T00:00Z; amounts are numbers in the currency of the policy. A write with the header \`Idempotency-Key\`
may be repeated: the repeat is answered what the first was. Every answer has an \`X-Request-Id\`, which finds it
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

function requires(access: Access): string {
  if (access.kind === 'tenant')
    return `Needs a token of the tenant with the permission ${access.permissions.map(name => `\`${name}\``).join(' or ')}.`
  if (access.kind === 'public') return 'Needs no token.'
  const named = access.permissions?.map(name => `\`${name}\``).join(' or ')
  const whose = access.kind === 'administration' ? 'a token of an administration account' : 'any valid token'
  return named ? `Needs ${whose} with the permission ${named}.` : `Needs ${whose}.`
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
  const content = {
    ...(schema && { 'application/json': { schema } }),
    ...Object.fromEntries(files),
  }
  return Object.keys(content).length === 0 ? {} : { content }
}

/** What the service posts to webhooks: the name is that of the event. */
export type Notification = {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly deprecated: boolean
  readonly schema: z.ZodType
}

/** The permissions that any one is enough of; `none` without a token, `signedIn` where any token is enough. */
const permissionText = (access: Route['access']): string =>
  access.kind === 'public' ? 'none' : access.permissions?.join(' | ') || 'signedIn'

/** The document as JSON text. Slow: made on the first request for it. */
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
        [route.answer.status ?? 200]: {
          description: route.answer.description,
          ...contentOf(route.answer),
        },
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
      // No token: the signature in the headers says who sends it (docs/webhooks.md).
      security: [],
      ...(deprecated && { deprecated }),
      request: { body: { required: true, content: { 'application/json': { schema } } } },
      responses: { 200: { description: 'Any 2xx: received. Anything else is a failure.' } },
    })
  const document = getOpenAPI31Document(
    {
      openapi: '3.1.0',
      info: {
        title: 'Bindery',
        version,
        description: INTRODUCTION,
        license: LICENSE,
      },
      servers: [{ url: '/', description: 'The service that answered.' }],
      tags: tagsOf(routes.flatMap(route => route.tags)),
    },
    { sortComponents: 'alphabetically' },
  )
  for (const route of routes)
    addExample(document.paths![route.path]![route.method] as never, exampleOf(examples, route))
  const errors = Object.entries(ERROR_KINDS).map(([code, { status, api, about }]) => ({
    code,
    httpStatus: status,
    apiErrorCode: api,
    about,
  }))
  return JSON.stringify({ ...withHeaders(document as Described, routes), 'x-error-codes': errors })
}
