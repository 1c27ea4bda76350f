// What the OpenAPI document says of headers, once for all operations: the platform sees to them, and no capability does.
import { isPaged } from './paging-links.ts'
import { isTagged, SUCCESSORS, writeOf } from './records.ts'
import type { Route } from './route.ts'

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
  const named: [HeaderName, boolean][] = [
    ['X-Request-Id', true],
    ['X-Client-Request-Id', true],
    ['Server-Timing', true],
    ['X-D1-Bookmark', isTenants(route)],
    ['ETag', (isTagged(route) && answersJson(route)) || shows === true],
    ['Location', makes !== undefined],
    ['Link', isList || `${method.toUpperCase()} ${path}` in SUCCESSORS],
    ['Deprecation', route.deprecated === true],
  ]
  return named.filter(([, has]) => has).map(([name]) => name)
}

function parametersOf(route: Route): ParameterName[] {
  const named: [ParameterName, boolean][] = [
    ['IfNoneMatch', isTagged(route) && answersJson(route)],
    ['IfMatch', writeOf(route).changes !== undefined],
    ['Bookmark', isTenants(route)],
    ['ClientRequestId', true],
  ]
  return named.filter(([, has]) => has).map(([name]) => name)
}

function responsesOf(route: Route): [string, ResponseName][] {
  return [
    ...(isTagged(route) && answersJson(route) ? [['304', 'NotModified'] as [string, ResponseName]] : []),
    ...(answersJson(route) && route.access.kind !== 'public'
      ? [['406', 'NotAcceptable'] as [string, ResponseName]]
      : []),
    ...(writeOf(route).changes === undefined
      ? []
      : [['412', 'PreconditionFailed'] as [string, ResponseName]]),
  ]
}

type Operation = {
  description?: string
  parameters?: object[]
  responses: Record<string, { headers?: object; $ref?: string }>
}
export type Described = {
  paths?: Record<string, unknown>
  components?: Record<string, unknown>
}

/** Adds the headers to the document that was made of the routes. */
export function withHeaders<D extends Described>(document: D, routes: readonly Route[]): D {
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
