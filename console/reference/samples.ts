// Builds a TypeScript sample of each operation from its recorded example. The page shows it next to curl and Python, which the
// library writes.

type Schema = {
  readonly type?: string
  readonly format?: string
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
}
type Content = Readonly<Record<string, { readonly example?: unknown; readonly schema?: Schema }>>
type Parameter = {
  /** Set for headers that many operations accept and the document defines elsewhere. Samples leave them out. */
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly example?: unknown
  readonly schema?: Schema
}
/** The properties of an OpenAPI operation that a sample needs. */
export type SampledOperation = {
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text)

const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const WIDTH = 90

/** Formats a value as source text. Uses one line if it fits after the `before` columns that precede it. */
export function literal(value: unknown, indent = '', before = indent.length): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const items: readonly (readonly [name: string, item: unknown])[] = Array.isArray(value)
    ? value.map(item => ['', item])
    : Object.entries(value).map(([name, item]) => [`${isName(name) ? name : quoted(name)}: `, item])
  const parts = items.map(([name, item]) => name + literal(item, inner, inner.length + name.length))
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' ']
  if (parts.length === 0) return open + close
  const line = open + space + parts.join(', ') + space + close
  if (!line.includes('\n') && before + line.length <= WIDTH) return line
  return `${open}\n${parts.map(part => `${inner}${part},\n`).join('')}${indent}${close}`
}

/** Marks source text that is inserted unquoted. */
const source = (text: string) => `\u0000${text}\u0000`
const withSources = (text: string): string =>
  text.replace(/'\\u0000(.*?)\\u0000'/g, (_, inner: string) => inner.replaceAll("\\'", "'"))

const FILE = source("await openAsBlob('file')")

const isFile = ({ format }: Schema = {}): boolean => format === 'binary'

/** The body of the example. A file is read from the disk. */
function bodyOf({ requestBody }: SampledOperation): unknown {
  if (!requestBody) return undefined
  const [media, { example, schema }] = Object.entries(requestBody.content)[0]!
  if (media === 'application/json') return example
  if (media !== 'multipart/form-data') return FILE
  const { properties = {} } = schema ?? {}
  const sent = typeof example === 'object' && example !== null ? Object.entries(example) : []
  // An example that is not an object is the content of the form's only file.
  const parts = sent.length > 0 ? sent : Object.keys(properties).map(name => [name, ''] as const)
  return Object.fromEntries(parts.map(([name, value]) => [name, isFile(properties[name]) ? FILE : value]))
}

/** A placeholder for a parameter that no test has sent. */
function placeholderFor({ type, minimum }: Schema = {}): unknown {
  if (type === 'integer' || type === 'number') return minimum ?? 0
  return type === 'array' ? ['…'] : '…'
}

/** Writes the program: it creates a client, makes the call, and prints the response. */
export function typeScriptSample(
  origin: string,
  method: string,
  path: string,
  operation: SampledOperation,
): string {
  const pathParameters = (operation.parameters ?? []).filter(parameter => parameter.in === 'path')
  const query = (operation.parameters ?? []).filter(
    parameter => parameter.in === 'query' && parameter.required,
  )
  const valuesOf = (parameters: readonly Parameter[]) =>
    Object.fromEntries(
      parameters.map(({ name, example, schema }) => [name!, example ?? placeholderFor(schema)]),
    )
  const params = {
    ...(pathParameters.length > 0 && { path: valuesOf(pathParameters) }),
    ...(query.length > 0 && { query: valuesOf(query) }),
  }
  const body = bodyOf(operation)
  const init = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(body !== undefined && { body }),
  }
  const [, good] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? []
  const isAnswered = good?.content !== undefined
  const isPublic = operation.security?.length === 0
  const call = `${isAnswered ? 'const answer = ' : ''}await bindery.${method}(${quoted(path)}`
  const lines = [
    ...(JSON.stringify(init).includes('openAsBlob') ? ["import { openAsBlob } from 'node:fs'"] : []),
    "import { createClient } from 'bindery/client'",
    '',
    `const bindery = createClient({ baseUrl: ${quoted(origin)}${isPublic ? '' : ', token: process.env.TOKEN'} })`,
    Object.keys(init).length > 0 ? `${call}, ${literal(init, '', call.length + 2)})` : `${call})`,
    ...(isAnswered ? ['console.log(answer)'] : []),
  ]
  return withSources(lines.join('\n'))
}
