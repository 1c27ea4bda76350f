// The inputs of an operation that can grow, found only from the OpenAPI document, so that new operations and properties are
// included automatically. Everything else in the request stays as small as the document allows.
import type { JsonSchema, Operation } from '../support/openapi.ts'

/** An input that grows, and the request with a given amount of it. */
export type Input = {
  /** `exposures[].fieldValues{}` of a body, `query searchValue`, `path policyLocator`. */
  readonly name: string
  /** What increases: list items, keys, or characters. */
  readonly of: 'items' | 'keys' | 'characters'
  readonly build: (size: number) => Built
}

/** The body, and the parts of path and query that differ from other requests of the operation. */
export type Built = {
  readonly body?: unknown
  readonly query?: string
  readonly path?: Readonly<Record<string, string>>
}

export type Resolve = (schema: JsonSchema) => JsonSchema

type Growth = { readonly name: string; readonly of: Input['of']; readonly build: (size: number) => unknown }

/** Nesting limit: deeper than any list of the interface, and the end of a recursive schema. */
const DEEPEST = 7

/** All inputs of the operation except those of uploads, which are not JSON (uploads.ts). */
export function inputsOf(
  operation: Pick<Operation, 'path' | 'parameters' | 'body'>,
  resolve: Resolve,
): Input[] {
  const body = operation.body && minimal(operation.body, resolve, 0)
  const bodies = operation.body === undefined ? [] : growths(operation.body, resolve, 0, [])
  const asked = operation.parameters.filter(one => one.in === 'query')
  return [
    ...bodies.map(
      ({ name, of, build }): Input => ({
        of,
        name: name === '' ? 'the body' : name.replace(/^\./, ''),
        build: size => ({ body: build(size) }),
      }),
    ),
    ...asked.flatMap(({ name, schema = {} }): Input[] => {
      const own = optionsOf(schema, resolve)
      const value = (text: string): Built => ({ body, query: `${name}=${encodeURIComponent(text)}` })
      if (own.some(isList))
        return [
          {
            name: `query ${name}`,
            of: 'items',
            build: size => ({
              body,
              query: Array.from({ length: size }, (_, at) => `${name}=v${at}`).join('&'),
            }),
          },
        ]
      return own.some(isText)
        ? [{ name: `query ${name}`, of: 'characters', build: size => value(textOf(size)) }]
        : []
    }),
    ...Array.from(
      operation.path.matchAll(/\{(\w+)\}/g),
      ([, name]): Input => ({
        name: `path ${name}`,
        of: 'characters',
        build: size => ({ body, path: { [name!]: textOf(size) } }),
      }),
    ),
  ]
}

/** Letters, and characters that are special in patterns and templates. */
const textOf = (size: number): string => 'ab1 -_.@{$'.repeat(Math.ceil(size / 10)).slice(0, size)

const typesOf = ({ type }: JsonSchema): readonly (string | undefined)[] =>
  Array.isArray(type) ? type : [type]
const isList = (schema: JsonSchema): boolean => typesOf(schema).includes('array')
const isText = (schema: JsonSchema): boolean =>
  schema.enum === undefined && typesOf(schema).includes('string')
const isAnything = (schema: JsonSchema): boolean =>
  Object.keys(schema).every(key => key === 'description' || key === 'example')

/** The alternatives of a schema. Parts of an `allOf` are merged into one. */
function optionsOf(schema: JsonSchema, resolve: Resolve): JsonSchema[] {
  const own = resolve(schema)
  const options = own.anyOf ?? own.oneOf
  if (options) return options.flatMap(one => optionsOf(one, resolve)).filter(one => one.type !== 'null')
  if (!own.allOf) return [own]
  const parts = own.allOf.flatMap(one => optionsOf(one, resolve))
  return [{ ...own, properties: Object.assign({}, own.properties, ...parts.map(one => one.properties)) }]
}

function growths(schema: JsonSchema, resolve: Resolve, depth: number, within: readonly string[]): Growth[] {
  const { $ref } = schema
  // A recursive schema is grown once: deeper levels are read like the first.
  if (depth > DEEPEST || ($ref !== undefined && within.includes($ref))) return []
  const inside = $ref === undefined ? within : [...within, $ref]
  const deeper = (one: JsonSchema): Growth[] => growths(one, resolve, depth + 1, inside)
  return optionsOf(schema, resolve).flatMap((own): Growth[] => {
    if (isAnything(own)) return [...ANYTHING]
    if (isText(own)) return [{ name: '', of: 'characters', build: textOf }]
    if (isList(own)) {
      const items = own.items ?? {}
      return [
        {
          name: '[]',
          of: 'items',
          build: size => Array.from({ length: size }, () => minimal(items, resolve, depth + 1)),
        },
        ...deeper(items).map(one => ({
          ...one,
          name: `[]${one.name}`,
          build: (size: number) => [one.build(size)],
        })),
      ]
    }
    const rest = own.additionalProperties
    const base = minimal(own, resolve, depth) as object
    return [
      ...(rest ? mapGrowths(rest === true ? {} : rest, deeper) : []),
      ...Object.entries(own.properties ?? {}).flatMap(([name, property]) =>
        deeper(property).map(one => ({
          ...one,
          name: `.${name}${one.name}`,
          build: (size: number) => ({ ...base, [name]: one.build(size) }),
        })),
      ),
    ]
  })
}

function mapGrowths(value: JsonSchema, deeper: (one: JsonSchema) => Growth[]): Growth[] {
  return [
    {
      name: '{}',
      of: 'keys',
      build: size => Object.fromEntries(Array.from({ length: size }, (_, at) => [`key${at}`, 'v'])),
    },
    { name: '{} key', of: 'characters', build: size => ({ [textOf(size)]: 'v' }) },
    ...deeper(value).map(one => ({
      ...one,
      name: `{}${one.name}`,
      build: (size: number) => ({ key: one.build(size) }),
    })),
  ]
}

/** The growths of a value that may be any JSON. */
const ANYTHING: readonly Growth[] = [
  { name: ' as text', of: 'characters', build: textOf },
  { name: ' as list', of: 'items', build: size => Array.from({ length: size }, (_, at) => at) },
  {
    name: ' as map',
    of: 'keys',
    build: size => Object.fromEntries(Array.from({ length: size }, (_, at) => [`key${at}`, at])),
  },
]

/** A value with only what the schema requires, so that the rest of the request costs nothing. */
function minimal(schema: JsonSchema, resolve: Resolve, depth: number): unknown {
  const [own = {}] = optionsOf(schema, resolve)
  if (own.enum) return own.enum[0]
  if (isText(own)) return own.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text'
  if (isList(own)) return []
  const types = typesOf(own)
  if (types.includes('integer') || types.includes('number')) return 1
  if (types.includes('boolean')) return false
  const required = depth > DEEPEST ? [] : (own.required ?? [])
  return Object.fromEntries(
    required.map(name => [name, minimal(own.properties?.[name] ?? {}, resolve, depth + 1)]),
  )
}
