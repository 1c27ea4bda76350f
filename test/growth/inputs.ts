// Which inputs of an operation can grow, by the OpenAPI document alone: so a new operation or property is grown without being
// named. Everything else in the request stays as small as the document allows.
import type { JsonSchema, Operation } from '../support/openapi.ts'

/** An input that grows, and the request with so much of it. */
export type Input = {
  /** `exposures[].fieldValues{}` of a body, `query searchValue`, `path policyLocator`. */
  readonly name: string
  /** What there is more of: list items, keys, or characters. */
  readonly of: 'items' | 'keys' | 'characters'
  readonly build: (size: number) => Built
}

/** The body, and what is in the path and in the query beside what every request of the operation has. */
export type Built = {
  readonly body?: unknown
  readonly query?: string
  readonly path?: Readonly<Record<string, string>>
}

export type Resolve = (schema: JsonSchema) => JsonSchema

type Growth = { readonly name: string; readonly of: Input['of']; readonly build: (size: number) => unknown }

/** Elements of elements: deeper than any list of the interface lies, and no deeper where a schema is in itself. */
const DEEPEST = 7

/** All inputs of the operation but those of uploads, which are no JSON (uploads.ts). */
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

/** Letters and the characters that patterns and templates care for. */
const textOf = (size: number): string => 'ab1 -_.@{$'.repeat(Math.ceil(size / 10)).slice(0, size)

const typesOf = ({ type }: JsonSchema): readonly (string | undefined)[] =>
  Array.isArray(type) ? type : [type]
const isList = (schema: JsonSchema): boolean => typesOf(schema).includes('array')
const isText = (schema: JsonSchema): boolean =>
  schema.enum === undefined && typesOf(schema).includes('string')
const isAnything = (schema: JsonSchema): boolean =>
  Object.keys(schema).every(key => key === 'description' || key === 'example')

/** What a value may be; parts of an `allOf` are one. */
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
  // A schema that is in itself is grown once: what lies deeper is read as what lies above.
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

/** Of a value that may be any JSON. */
const ANYTHING: readonly Growth[] = [
  { name: ' as text', of: 'characters', build: textOf },
  { name: ' as list', of: 'items', build: size => Array.from({ length: size }, (_, at) => at) },
  {
    name: ' as map',
    of: 'keys',
    build: size => Object.fromEntries(Array.from({ length: size }, (_, at) => [`key${at}`, at])),
  },
]

/** A value with what the schema requires: nothing else of the request is to cost anything. */
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
