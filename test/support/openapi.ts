// Reads the service's own OpenAPI document, so that tests also cover routes that are added later.
import { callOk } from './api.ts'

export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  enum?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  additionalProperties?: JsonSchema | boolean
  format?: string
}

type Parameter = { in: 'path' | 'query' | 'header'; name: string; required?: boolean; schema?: JsonSchema }

export type Operation = {
  method: string
  path: string
  parameters: Parameter[]
  /** Schema of the JSON body. Undefined without a body or for multipart. */
  body: JsonSchema | undefined
  multipart: JsonSchema | undefined
  /** The media types that the body can have. */
  mediaTypes: readonly string[]
  needsToken: boolean
  access: 'public' | 'signedIn' | 'tenant' | 'administration'
  /** Any one of these is enough. Empty if none is required. */
  permissions: readonly string[]
}

type Document = {
  paths: Record<string, Record<string, OperationObject>>
  components: { schemas: Record<string, JsonSchema> }
}

type OperationObject = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  security?: unknown[]
  'x-access': Operation['access']
  'x-permission'?: string
}

export type Api = { operations: Operation[]; resolve(schema: JsonSchema): JsonSchema }

/**
 * Permissions as the document states them in `x-permission`. Tests that call the routes thereby check that the document states
 * what they require.
 */
function permissionsOf(
  name: string,
  { 'x-permission': text, 'x-access': access }: OperationObject,
): readonly string[] {
  const alone = access === 'public' ? 'none' : 'signedIn'
  if (text === alone) return []
  if (!text || !/^[a-z-]+\.[a-z]+( \| [a-z-]+\.[a-z]+)*$/.test(text))
    throw new Error(`${name} has the x-permission ${JSON.stringify(text)}, which names no permission.`)
  return text.split(' | ')
}

export async function readApi(): Promise<Api> {
  const document = await callOk<Document>('GET', '/openapi.json')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const content = operation.requestBody?.content ?? {}
      return {
        method: method.toUpperCase(),
        path,
        parameters: operation.parameters ?? [],
        body: content['application/json']?.schema,
        multipart: content['multipart/form-data']?.schema,
        mediaTypes: Object.keys(content),
        needsToken: (operation.security ?? []).length > 0,
        access: operation['x-access'],
        permissions: permissionsOf(`${method} ${path}`, operation),
      }
    }),
  )
  return {
    operations,
    resolve: schema =>
      schema.$ref === undefined
        ? schema
        : (document.components.schemas[schema.$ref.split('/').at(-1)!] ?? {}),
  }
}

/**
 * A value that fits the schema, with all of its properties. `text` returns the text for a property of that name, so that a test
 * chooses the locators in a body.
 */
export function valueFor(
  api: Api,
  schema: JsonSchema,
  name: string,
  text: (name: string) => string,
): unknown {
  const resolved = api.resolve(schema)
  const options = resolved.anyOf ?? resolved.oneOf
  if (options) return valueFor(api, options.find(option => option.type !== 'null') ?? {}, name, text)
  if (resolved.allOf)
    return Object.assign({}, ...resolved.allOf.map(one => valueFor(api, one, name, text) as object))
  if (resolved.enum) return resolved.enum[0]
  const type = Array.isArray(resolved.type) ? resolved.type.find(one => one !== 'null') : resolved.type
  if (resolved.properties || type === 'object')
    return Object.fromEntries(
      Object.entries(resolved.properties ?? {}).map(([key, property]) => [
        key,
        valueFor(api, property, key, text),
      ]),
    )
  if (type === 'array') return []
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return false
  return text(name)
}

/** The path with its parameters filled in. */
export const filledPath = (path: string, value: (name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)))
