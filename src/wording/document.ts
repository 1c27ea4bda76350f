// Adds to the OpenAPI document what its schemas do not say: meanings of properties, parameters and values, examples of properties,
// and events of operations.
import { ERROR_KINDS, type ErrorCode } from '../kernel/errors.ts'
import { EVENT_TYPES } from '../platform/events/catalogue.ts'
import { newerTypesOf } from '../platform/events/types.ts'
import { CAUSES } from '../servicing/events/stream/causes.ts'
import { BILLING } from './billing.ts'
import { BULK } from './bulk.ts'
import { exampleProperties } from './examples.ts'
import { PARAMETERS } from './parameters.ts'
import { POLICIES } from './policies.ts'
import { REMEDIES } from './remedies.ts'
import { SERVICE } from './service.ts'
import { SHARED } from './shared.ts'
import { VALUES } from './values.ts'
import { describeProperties, eachEnum, isUnitOnly, type Schema, type Words } from './words.ts'

export const WORDS: Words = { ...SHARED, ...POLICIES, ...BILLING, ...SERVICE, ...BULK }

type Parameter = { $ref?: string; name: string; in: string; description?: string; schema?: Schema }
type Content = Record<string, { schema?: Schema }>
type Operation = {
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
export type Described = {
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
  'x-error-codes'?: { code: string; remedy?: string }[]
}

/** Keys that were used. A test checks that no others exist. */
export type Used = {
  readonly words: Set<string>
  readonly parameters: Set<string>
  readonly values: Set<object>
}

/** Returns an empty record, to which the description of a document adds the keys that it uses. */
export const nothingUsed = (): Used => ({ words: new Set(), parameters: new Set(), values: new Set() })

/** Returns the keys under which words for a parameter may be, the most specific first. */
function parameterKeys(path: string, { name }: Pick<Parameter, 'name'>): string[] {
  const parts = path.split('/').slice(1)
  const first = parts[0]!
  const at = parts.indexOf(`{${name}}`)
  const before = at > 0 ? parts[at - 1]! : first
  return [`${first}/${before}/${name}`, `${before}/${name}`, `${first}/${name}`, name]
}

function describeParameters(path: string, operation: Operation, used: Used): void {
  for (const parameter of operation.parameters ?? []) {
    if (parameter.$ref !== undefined) continue
    const own = parameter.description ?? parameter.schema?.description
    if (!isUnitOnly(own)) {
      parameter.description = own!
      continue
    }
    const key = parameterKeys(path, parameter).find(one => Object.hasOwn(PARAMETERS, one))
    if (key === undefined) continue
    used.parameters.add(key)
    parameter.description = [PARAMETERS[key], own].filter(Boolean).join(' ')
  }
}

/** Describes schemas within operations: forms, and bodies of webhooks. They have no name; words call them `form` and `webhook`. */
function describeBodies(name: string, { requestBody, responses }: Operation, used: Used): void {
  const contents = [requestBody, ...Object.values(responses)].map(body => body?.content ?? {})
  for (const content of contents)
    for (const { schema } of Object.values(content))
      if (schema) describeProperties({ [name]: schema }, WORDS, used.words)
}

/** Meanings by their sorted values. */
const meaningsByValues = new Map<string, Readonly<Record<string, string>>>(
  VALUES.map(meanings => [Object.keys(meanings).sort().join('|'), meanings]),
)

const EVENTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EVENT_TYPES).flatMap(([type, { about }]) =>
    [type, ...newerTypesOf(type as keyof typeof EVENT_TYPES)].map(name => [name, about]),
  ),
)

const ERRORS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ERROR_KINDS).map(([code, { about }]) => [code, about]),
)

function meaningsOf(values: readonly string[], used: Used): Readonly<Record<string, string>> | undefined {
  const listed = meaningsByValues.get([...values].sort().join('|'))
  if (listed) used.values.add(listed)
  return listed ?? [EVENTS, ERRORS].find(all => values.every(value => Object.hasOwn(all, value)))
}

function describeValues(document: Described, used: Used): void {
  eachEnum(document, schema => {
    const values = schema.enum!.filter(value => typeof value === 'string')
    const meanings = meaningsOf(values, used)
    if (meanings)
      schema['x-enumDescriptions'] = Object.fromEntries(values.map(value => [value, meanings[value]!]))
  })
}

const codeList = (types: readonly string[]): string =>
  [...new Set(types)].map(type => `\`${type}\``).join(', ')

/** Returns what the stream and webhooks report of the operation. */
export function eventsOf(method: string, path: string): string | undefined {
  if (method === 'get') return undefined
  const cause = CAUSES[`${method.toUpperCase()} ${path}`]
  if (!cause) return 'Emits no events.'
  const emits = `Emits ${codeList(cause.does)}, for the steps that it completes.`
  return cause.mayFollow.length === 0
    ? emits
    : `${emits} Depending on its consequences, also ${codeList(cause.mayFollow)}.`
}

/** Changes the document in place. */
export function describeDocument(document: Described, used: Used = nothingUsed()): void {
  describeProperties(document.components.schemas, WORDS, used.words)
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      describeParameters(path, operation, used)
      describeBodies('form', operation, used)
      operation.description = [operation.description, eventsOf(method, path)].filter(Boolean).join('\n\n')
    }
  for (const methods of Object.values(document.webhooks ?? {}))
    for (const operation of Object.values(methods)) describeBodies('webhook', operation, used)
  describeValues(document, used)
  exampleProperties(document)
  for (const error of document['x-error-codes'] ?? [])
    error.remedy = withoutLinks(REMEDIES[error.code as ErrorCode])
}

/** Removes links, because the pages of the documentation are not available where the document is read. */
const withoutLinks = (text: string): string => text.replace(/ \(\[[^\]]*\]\([^)]*\)\)/g, '')
