// Finds faults of an OpenAPI document other than its shape: references that lead nowhere, schemas that nothing can match,
// examples that break their schemas, and calls that a reader cannot find or a generator cannot name.
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'

type Json = Record<string, unknown>
type Parameter = { in: string; name: string }
type Operation = {
  operationId?: string
  summary?: string
  parameters?: (Parameter | { $ref: string })[]
  security?: Json[]
  responses?: Record<string, Json>
}
export type Document = {
  info: { license?: { url?: string; identifier?: string } }
  servers?: { url: string }[]
  tags?: { name: string; description?: string }[]
  security?: Json[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Record<string, Operation>>
  components?: Record<string, Json>
}
/** A part of the document, and its place as a JSON pointer. */
type Part = { at: string; value: Json }

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
/** Keys whose values are data of the service, which may look like parts of a document. */
const VALUES = ['example', 'examples', 'default', 'enum', 'const']

/** Keywords of OpenAPI that JSON Schema does not have. */
const KEYWORDS_OF_OPENAPI = ['example', 'discriminator', 'xml', 'externalDocs']

const pointerTo = (at: string, key: string): string =>
  `${at}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

function* partsOf(value: Json, at = '#'): Generator<Part> {
  yield { at, value }
  for (const [key, inner] of Object.entries(value))
    if (isObject(inner) && (!VALUES.includes(key) || at.endsWith('/properties')))
      yield* partsOf(inner, pointerTo(at, key))
}

function resolve(document: Json, ref: string): unknown {
  let found: unknown = document
  for (const step of ref.split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = isObject(found) ? found[key] : undefined
  }
  return found
}

function* faultsOfReferences(document: Json, parts: readonly Part[]): Generator<string> {
  const used = new Set<string>()
  for (const { at, value } of parts) {
    const ref = value.$ref
    if (typeof ref !== 'string') continue
    used.add(ref)
    if (!ref.startsWith('#/') || resolve(document, ref) === undefined) yield `${at}: ${ref} does not exist`
  }
  for (const [kind, components] of Object.entries((document.components ?? {}) as Record<string, Json>))
    for (const name of Object.keys(components)) {
      const at = pointerTo(`#/components/${kind}`, name)
      if (!/^[\w.-]+$/.test(name)) yield `${at}: the name may only have letters, digits, ".", "-" and "_"`
      if (kind !== 'securitySchemes' && !used.has(at)) yield `${at}: nothing refers to it`
    }
}

const hasType = ({ type }: Json, name: string): boolean => type === undefined || [type].flat().includes(name)

/** Whether the key is valid in a schema. `nullable` is a keyword of OpenAPI 3.0 and has no effect in 3.1. */
const isKeyword = (ajv: Ajv2020, key: string): boolean =>
  key.startsWith('x-') ||
  KEYWORDS_OF_OPENAPI.includes(key) ||
  (key !== 'nullable' && Boolean(ajv.RULES.keywords[key]))

function* faultsOfSchemas(ajv: Ajv2020, schemas: readonly Part[]): Generator<string> {
  for (const { at, value } of schemas) {
    if (!ajv.validateSchema(value))
      yield `${at}: is not a valid schema: ${ajv.errorsText(ajv.errors, { dataVar: '' })}`
    for (const key of Object.keys(value)) if (!isKeyword(ajv, key)) yield `${at}: JSON Schema has no ${key}`
    if (value.items !== undefined && !hasType(value, 'array')) yield `${at}: has items, but is not an array`
    if (value.properties !== undefined && !hasType(value, 'object'))
      yield `${at}: has properties, but is not an object`
    for (const one of (value.enum as unknown[]) ?? [])
      if (value.type !== undefined && !ajv.validate({ type: value.type }, one))
        yield `${at}: ${JSON.stringify(one)} in its enum is not of its type`
  }
}

/**
 * Returns the schema with unnamed properties forbidden. A part of a composed schema stays open, because another part may name
 * them.
 */
function forbidUnnamedProperties(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map(one => forbidUnnamedProperties(one, isPart))
  if (!isObject(schema)) return schema
  const composed = ['allOf', 'anyOf', 'oneOf']
  const result: Json = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value))
      result[key] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, forbidUnnamedProperties(inner)]),
      )
    else result[key] = VALUES.includes(key) ? value : forbidUnnamedProperties(value, composed.includes(key))
  }
  const names = ['$ref', 'properties', ...composed].some(key => key in schema)
  return names && !isPart && schema.additionalProperties === undefined
    ? { ...result, unevaluatedProperties: false }
    : result
}

function* faultsOfExamples(ajv: Ajv2020, document: Json, parts: readonly Part[]): Generator<string> {
  const components = Object.entries((document.components as Json)?.schemas ?? {})
  const schemas = Object.fromEntries(
    components.map(([name, schema]) => [name, forbidUnnamedProperties(schema, true)]),
  )
  ajv.addSchema({ $id: 'document:', components: { schemas } })
  for (const { at, value } of parts) {
    const stated = isSchema({ at, value }) ? value : value.schema
    if (at.endsWith('/properties') || value.example === undefined || !isObject(stated)) continue
    const schema = JSON.parse(
      JSON.stringify(forbidUnnamedProperties(stated)).replaceAll('"$ref":"#', '"$ref":"document:#'),
    )
    if (!ajv.validate(schema, value.example))
      yield `${at}/example: ${ajv.errorsText(ajv.errors, { dataVar: 'it' })}`
  }
}

function* faultsOfOperation(
  document: Document,
  path: string,
  method: string,
  operation: Operation,
): Generator<string> {
  const at = `${method.toUpperCase()} ${path}`
  if (!operation.summary) yield `${at}: has no summary`
  if (!operation.operationId || !/^[\w.~:/?#[\]@!$&'()*+,;=-]+$/.test(operation.operationId))
    yield `${at}: needs an operationId that is valid in a URL`
  const statuses = Object.keys(operation.responses ?? {})
  if (!statuses.some(status => /^[23]/.test(status))) yield `${at}: has no success response (2xx or 3xx)`
  if (path in document.paths && !statuses.some(status => /^4/.test(status)))
    yield `${at}: has no error response (4xx)`
  const security = operation.security ?? document.security
  if (!security) yield `${at}: has no security requirement`
  for (const name of (security ?? []).flatMap(Object.keys))
    if (!document.components?.securitySchemes?.[name])
      yield `${at}: ${name} is not a security scheme of the document`
  const parameters = (operation.parameters ?? []).map(one =>
    '$ref' in one ? (resolve(document as unknown as Json, one.$ref) as Parameter | undefined) : one,
  )
  const named = parameters.map(one => `${one?.in} ${one?.name}`)
  for (const name of named.filter((one, index) => named.indexOf(one) !== index))
    yield `${at}: has the parameter "${name}" twice`
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!)
  for (const name of inPath) if (!named.includes(`path ${name}`)) yield `${at}: does not define {${name}}`
  for (const one of parameters)
    if (one?.in === 'path' && !inPath.includes(one.name)) yield `${at}: its path has no {${one.name}}`
}

function* faultsOfPath(path: string): Generator<string> {
  if (path.endsWith('/') && path !== '/') yield `${path}: ends with a slash`
  if (path.includes('?')) yield `${path}: has a query`
  if (path.includes('{}')) yield `${path}: has a parameter without a name`
}

function* faultsOfCalls(document: Document): Generator<string> {
  const { paths, webhooks = {} } = document
  const forms = new Map<string, string>()
  for (const path of Object.keys(paths)) {
    yield* faultsOfPath(path)
    const form = path.replace(/\{[^}]*\}/g, '{}')
    if (forms.has(form)) yield `${path}: is the same as ${forms.get(form)}`
    forms.set(form, path)
  }
  const operations = new Map<string, string>()
  for (const [path, item] of [...Object.entries(paths), ...Object.entries(webhooks)])
    for (const method of METHODS) {
      const operation = item[method]
      if (!operation) continue
      yield* faultsOfOperation(document, path, method, operation)
      const id = operation.operationId ?? ''
      if (operations.has(id)) yield `${path}: has the same operationId as ${operations.get(id)}, ${id}`
      operations.set(id, path)
    }
}

function* faultsOfHead({ info, servers = [], tags = [] }: Document): Generator<string> {
  if (!info.license?.url && !info.license?.identifier) yield 'info: has no license with a url or identifier'
  if (servers.length === 0) yield 'servers: is empty'
  for (const { url } of servers)
    if (url !== '/' && url.endsWith('/')) yield `servers: ${url} ends with a slash`
  for (const { name, description } of tags) if (!description) yield `tags: ${name} has no description`
}

const isSchema = ({ at }: Part): boolean =>
  /\/(schema|items|additionalProperties|not)$/.test(at) ||
  /\/(properties|allOf|anyOf|oneOf)\/[^/]+$/.test(at) ||
  /^#\/components\/schemas\/[^/]+$/.test(at)

/** Returns all faults of the document, each with its place. The document must already have the shape of OpenAPI 3.1. */
export function faultsOf(document: Document): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  const whole = document as unknown as Json
  const parts = [...partsOf(whole)]
  const basic = [
    ...faultsOfHead(document),
    ...faultsOfCalls(document),
    ...faultsOfReferences(whole, parts),
    ...faultsOfSchemas(ajv, parts.filter(isSchema)),
  ]
  // The examples cannot be checked against a missing or malformed schema.
  return basic.length > 0 ? basic : [...faultsOfExamples(ajv, whole, parts)]
}
