// Writes an OpenAPI document as TypeScript types, in the form that openapi-fetch needs: `paths`, `components` and `operations`.
// Each schema is a named type, so that compiler errors name it when a body is wrong. A keyword that the service's own document
// does not use is an error, so that it cannot silently produce a wrong type.

/** The keywords of a schema that the service's document uses. */
type Schema = {
  $ref?: string
  type?: string | readonly string[]
  format?: string
  const?: unknown
  enum?: readonly (string | number | null)[]
  properties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  allOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
}
type Contents = Record<string, { schema?: Schema }>
type Header = { $ref?: string; required?: boolean; schema?: Schema }
type Response = { $ref?: string; headers?: Record<string, Header>; content?: Contents }
type Body = { required?: boolean; content: Contents }
type Parameter = { in: string; name: string; required?: boolean; schema?: Schema }
type Reference = { $ref: string }
type Operation = {
  operationId: string
  parameters?: readonly (Parameter | Reference)[]
  requestBody?: Body
  responses: Record<string, Response>
}
type Components = {
  schemas?: Record<string, Schema>
  responses?: Record<string, Response>
  parameters?: Record<string, Parameter>
  headers?: Record<string, Header>
}
export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>
  components?: Components
}

/** A type as text. Unions and intersections need parentheses inside other types. */
type Type = { text: string; form: 'plain' | 'union' | 'intersection' }

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const PLACES = ['query', 'header', 'path', 'cookie']
const PRIMITIVES: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

// Keywords by whether the type depends on them.
const WITHOUT_EFFECT =
  'description title example examples default deprecated pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties writeOnly x-enumDescriptions'
const WITH_EFFECT =
  '$ref type format const enum properties required additionalProperties items allOf anyOf oneOf'
const KNOWN_KEYWORDS = new Set(`${WITHOUT_EFFECT} ${WITH_EFFECT}`.split(' '))

const plain = (text: string): Type => ({ text, form: 'plain' })
const inside = ({ text, form }: Type): string => (form === 'plain' ? text : `(${text})`)
const isPrimitive = ({ text }: Type): boolean => Object.values(PRIMITIVES).includes(text)

/** Removes repeated primitives. */
const uniquePrimitives = (types: readonly Type[]): Type[] =>
  types.filter((type, at) => !isPrimitive(type) || types.findIndex(({ text }) => text === type.text) === at)

function join(types: readonly Type[], form: 'union' | 'intersection'): Type {
  if (types.length === 1) return types[0]!
  return {
    text: uniquePrimitives(types)
      .map(inside)
      .join(form === 'union' ? ' | ' : ' & '),
    form,
  }
}

const literal = (value: unknown): Type => plain(JSON.stringify(value))

function propertyName(name: string): string {
  const isBare = /^[A-Za-z_$][\w$]*$/.test(name) || (String(Number(name)) === name && !name.startsWith('-'))
  return isBare ? name : JSON.stringify(name)
}

/** Writes `#/components/schemas/Policy` as `Policy`, and `#/components/headers/ETag` as `components["headers"]["ETag"]`. */
function reference(ref: string): Type {
  const [, root, ...rest] = ref.split('/').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (rest[0] === 'schemas') return plain(rest[1]!)
  return plain(`${root}${rest.map(part => `[${JSON.stringify(part)}]`).join('')}`)
}

/** Indents with one tab for each level. Spaces would be a third of the text. */
function block(members: readonly string[]): string {
  const lines = members.join('\n').split('\n')
  return `{\n${lines.map(line => (line === '' ? '' : `\t${line}`)).join('\n')}\n}`
}

/** Returns the comment of a member, from what the document says about it. */
function comment(part: object): string {
  const said = part as Record<string, unknown>
  const shown = (value: unknown): string =>
    (typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value))
      .trim()
      .replace(/\r?\n/g, '\n *     ')
  const lines: string[] = []
  for (const field of ['title', 'summary']) if (said[field]) lines.push(shown(said[field]))
  if (said.format) lines.push(`Format: ${said.format}`)
  if (said.deprecated) lines.push('@deprecated')
  if (said.description) lines.push(`@description ${shown(said.description)}`)
  for (const field of ['default', 'example'])
    if (said[field] !== undefined) lines.push(`@${field} ${shown(said[field])}`)
  for (const example of (said.examples as unknown[]) ?? []) lines.push(`@example ${shown(example)}`)
  if ('const' in said) lines.push('@constant')
  if (said.enum) lines.push(`@enum {${[said.type ?? 'unknown'].flat().join('|')}}`)
  if (lines.length === 0) return ''
  const text = lines
    .join('\n * ')
    .replaceAll('*/', '*\\/')
    .replace(/[ \t]+$/gm, '')
  return lines.length === 1 && !text.includes('\n') ? `/** ${text} */\n` : `/**\n * ${text}\n */\n`
}

const member = (name: string, type: string, { about = {}, isOptional = false } = {}): string =>
  `${comment(about)}${propertyName(name)}${isOptional ? '?' : ''}: ${type};`

/**
 * Whether a schema is sent or received. Lists that are sent may be read-only. An enumeration that is only sent accepts any text,
 * because the compiler sees a value in a variable as any text.
 */
type Use = { readonly isSent: boolean; readonly isReceived: boolean }

const propertiesOf = ({ properties = {}, required = [] }: Schema, use: Use): string[] =>
  Object.entries(properties).map(([name, schema]) =>
    member(name, schemaType(schema, use).text, { about: schema, isOptional: !required.includes(name) }),
  )

function objectType(schema: Schema, use: Use): Type | undefined {
  const { additionalProperties: others } = schema
  const parts: Type[] = []
  const members = propertiesOf(schema, use)
  if (members.length > 0) parts.push(plain(block(members)))
  if (others) {
    const value =
      others === true || Object.keys(others).length === 0 ? 'unknown' : schemaType(others, use).text
    parts.push(plain(block([`[key: string]: ${value};`])))
  }
  return parts.length === 0 ? undefined : join(parts, 'intersection')
}

/** Returns the type that `type` and its keywords describe, without composed schemas. */
function coreType(schema: Schema, use: Use): Type | undefined {
  const { type } = schema
  if (typeof type === 'object')
    return join(
      type.map(one => schemaType({ ...schema, type: one }, use)),
      'union',
    )
  // A file is sent as a Blob, not as JSON text.
  if (schema.format === 'binary') return plain('Blob')
  if (type === 'array') {
    const list = `${inside(schema.items ? schemaType(schema.items, use) : plain('unknown'))}[]`
    return use.isSent ? { text: `readonly ${list}`, form: 'union' } : plain(list)
  }
  return type !== undefined && type in PRIMITIVES ? plain(PRIMITIVES[type]!) : objectType(schema, use)
}

/** Any text. Unlike `string`, it lets editors suggest the enumerated values of the same union. */
const ANY_TEXT = plain('(string & {})')

function schemaType(schema: Schema, use: Use): Type {
  const unknown = Object.keys(schema).filter(key => !KNOWN_KEYWORDS.has(key))
  if (unknown.length > 0) throw new Error(`scripts/contract-types.ts cannot convert ${unknown.join(', ')}.`)
  if (schema.$ref) return reference(schema.$ref)
  if (schema.const !== undefined && schema.const !== null) return literal(schema.const)
  if (schema.enum) {
    const isText = use.isSent && !use.isReceived && schema.enum.some(value => typeof value === 'string')
    const literals = [...schema.enum.map(literal), ...(isText ? [ANY_TEXT] : [])]
    return join(schema.type?.includes('null') ? [...literals, plain('null')] : literals, 'union')
  }
  if (schema.allOf && schema.required)
    throw new Error('scripts/contract-types.ts cannot convert a schema with both allOf and required.')
  const { allOf = [], anyOf = [], oneOf = [] } = schema
  const core = coreType(schema, use)
  const typed = (one: Schema): Type => schemaType(one, use)
  let type = core ? [core] : []
  if (allOf.length > 0) type = [join([...type, join(allOf.map(typed), 'intersection')], 'intersection')]
  if (anyOf.length > 0) type = [join([...type, ...anyOf.map(typed)], 'union')]
  if (oneOf.length > 0) {
    const choices = oneOf.map(typed)
    type = choices.every(isPrimitive)
      ? [join([...type, ...choices], 'union')]
      : [join([...type, join(choices, 'union')], 'intersection')]
  }
  return type[0] ?? plain(schema.type === undefined ? 'unknown' : 'Record<string, never>')
}

const SENT: Use = { isSent: true, isReceived: false }
const RECEIVED: Use = { isSent: false, isReceived: true }

/** Leaves out examples, which are most of the document. */
const contentMembers = (content: Contents, use: Use): string[] =>
  Object.entries(content).map(([name, { schema }]) =>
    member(name, schema ? schemaType(schema, use).text : 'unknown'),
  )

function headerType({ $ref, schema }: Header): string {
  if ($ref) return reference($ref).text
  return schema ? schemaType(schema, RECEIVED).text : 'unknown'
}

function responseType({ headers = {}, content = {} }: Response): string {
  const named = Object.entries(headers).map(([name, header]) =>
    member(name, headerType(header), { about: header, isOptional: !header.$ref && !header.required }),
  )
  const bodies = contentMembers(content, RECEIVED)
  return block([
    member('headers', block([...named, '[name: string]: unknown;'])),
    ...(bodies.length > 0 ? [member('content', block(bodies))] : []),
  ])
}

const parameterType = ({ schema }: Parameter): string =>
  schema ? schemaType(schema, RECEIVED).text : 'string'

/** Returns the parameter and its type. Parameters that several calls share are among the components. */
function resolved(
  parameter: Parameter | Reference,
  shared: Record<string, Parameter>,
): Parameter & { type: string } {
  if ('in' in parameter) return { ...parameter, type: parameterType(parameter) }
  const found = shared[parameter.$ref.split('/').at(-1)!]
  if (!found) throw new Error(`The OpenAPI document has no ${parameter.$ref}.`)
  return { ...found, type: reference(parameter.$ref).text }
}

function parametersMember(parameters: readonly (Parameter & { type: string })[]): string {
  const places = PLACES.flatMap(place => {
    const here = parameters.filter(parameter => parameter.in === place)
    if (here.length === 0) return []
    const members = here.map(({ type, ...about }) =>
      member(about.name, type, { about, isOptional: !about.required }),
    )
    return member(place, block(members), { isOptional: here.every(({ required }) => !required) })
  })
  return member('parameters', places.length > 0 ? block(places) : '{}')
}

function pathType(item: Record<string, Operation>): string {
  const methods = METHODS.flatMap(method => {
    const about = item[method]
    return about ? member(method, `operations[${JSON.stringify(about.operationId)}]`, { about }) : []
  })
  return block(methods)
}

function bodyMember(body: Body | undefined): string {
  if (!body) return member('requestBody', 'never', { isOptional: true })
  const content = member('content', block(contentMembers(body.content, SENT)))
  return member('requestBody', block([content]), { about: body, isOptional: !body.required })
}

const REFUSED = 'ExceptionResponse'

/** Whether the response is an error. Most responses of the document are, and they differ only in their codes. */
const isRefusal = ({ $ref, headers, content = {} }: Response): boolean =>
  $ref === undefined &&
  headers === undefined &&
  Object.values(content).length === 1 &&
  content['application/json']?.schema?.$ref === `#/components/schemas/${REFUSED}`

function answerType(response: Response): string {
  if (response.$ref) return reference(response.$ref).text
  return isRefusal(response) ? 'Refusal' : responseType(response)
}

function operationType(operation: Operation, shared: Record<string, Parameter>): string {
  const { parameters = [], requestBody, responses } = operation
  const answers = Object.entries(responses).map(([status, about]) =>
    member(status, answerType(about), { about }),
  )
  return block([
    parametersMember(parameters.map(parameter => resolved(parameter, shared))),
    bodyMember(requestBody),
    member('responses', block(answers)),
  ])
}

/** Collects the names of the schemas that a part of the document refers to, directly or indirectly. */
function reachableSchemas(
  part: unknown,
  schemas: Record<string, Schema>,
  found = new Set<string>(),
): Set<string> {
  if (typeof part !== 'object' || part === null) return found
  const { $ref } = part as Schema
  const name = typeof $ref === 'string' && $ref.startsWith(SCHEMAS) ? $ref.slice(SCHEMAS.length) : undefined
  if (name !== undefined && !found.has(name)) {
    found.add(name)
    reachableSchemas(schemas[name], schemas, found)
  }
  for (const [key, value] of Object.entries(part))
    if (key !== 'example' && key !== 'examples') reachableSchemas(value, schemas, found)
  return found
}

const SCHEMAS = '#/components/schemas/'

/** Declares an interface if possible, because the compiler then shows only its name. */
function namedType(name: string, schema: Schema, use: Use): string {
  const { properties, additionalProperties, allOf, anyOf, oneOf, type } = schema
  const isRecord =
    properties && Object.keys(properties).length > 0 && type === 'object' && !(allOf ?? anyOf ?? oneOf)
  return isRecord && !additionalProperties
    ? `${comment(schema)}export interface ${name} ${block(propertiesOf(schema, use))}`
    : `${comment(schema)}export type ${name} = ${schemaType(schema, use).text};`
}

function componentsType({ schemas, responses, parameters, headers }: Components): string {
  const group = <Part extends object>(
    name: string,
    parts: Record<string, Part> | undefined,
    type: (part: Part) => string,
  ) => {
    const members = Object.entries(parts ?? {}).map(([key, about]) => member(key, type(about), { about }))
    return member(name, members.length > 0 ? block(members) : 'never')
  }
  const names = Object.keys(schemas ?? {}).map(name => member(name, name))
  return block([
    member('schemas', names.length > 0 ? block(names) : 'never'),
    group('responses', responses, responseType),
    group('parameters', parameters, parameterType),
    member('requestBodies', 'never'),
    group('headers', headers, headerType),
    member('pathItems', 'never'),
  ])
}

/**
 * Returns the types of the document's calls, as the text of a module. Throws for a keyword that the document has not used before.
 */
export function contractTypes({ paths, components = {} }: OpenApiDocument): string {
  const items = Object.entries(paths).map(([path, item]) => member(path, pathType(item)))
  const all = Object.values(paths).flatMap(item => METHODS.flatMap(method => item[method] ?? []))
  const { schemas = {}, parameters = {} } = components
  const received = reachableSchemas(
    all.map(({ responses }) => responses),
    schemas,
  )
  const sent = reachableSchemas(
    all.map(({ requestBody }) => requestBody),
    schemas,
  )
  const named = Object.entries(schemas).map(([name, schema]) =>
    namedType(name, schema, { isSent: sent.has(name), isReceived: received.has(name) }),
  )
  const operations = all.map(operation => member(operation.operationId, operationType(operation, parameters)))
  return [
    `export interface paths ${block(items)}`,
    'export type webhooks = Record<string, never>;',
    ...named,
    ...(REFUSED in schemas
      ? [
          `type Refusal = ${responseType({ content: { 'application/json': { schema: { $ref: SCHEMAS + REFUSED } } } })};`,
        ]
      : []),
    `export interface components ${componentsType(components)}`,
    'export type $defs = Record<string, never>;',
    `export interface operations ${block(operations)}`,
    '',
  ].join('\n')
}
