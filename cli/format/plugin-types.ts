// TypeScript declarations of the inputs, results and globals of plugins, generated from the schemas by which the service checks
// them.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import {
  AutofillResult,
  InstallmentsResult,
  PerilRatesResult,
  PostIssuanceResult,
  PostPaymentReversalResult,
  PreGraceResult,
  ProrationResult,
  UnderwritingResult,
} from '../../src/extension/plugins/contract.ts'
import { ENTITIES } from '../../src/extension/plugins/runners/script-api.ts'
import { MAY_RETURN_NOTHING, PLUGIN_FUNCTIONS, type PluginFunction } from '../../src/product/configuration.ts'
import type { DataNode } from '../../src/product/templates/data-tree.ts'
import { PLUGIN_INPUTS } from '../../src/servicing/template-data/plugin-inputs.ts'
import { SCRIPT_API_FILE } from '../files.ts'
import type { JsonSchema } from './json-schema.ts'

/** Undefined: the function may return anything. */
const ANSWERS: Readonly<Record<PluginFunction, z.ZodType | undefined>> = {
  getPerilRates: PerilRatesResult,
  getUnderwritingResult: UnderwritingResult,
  getProrationResult: ProrationResult,
  createInstallments: InstallmentsResult,
  getPreGraceResult: PreGraceResult,
  getPostPaymentReversal: PostPaymentReversalResult,
  getPostIssuanceResult: PostIssuanceResult,
  getDataAutofill: AutofillResult,
  executeLambda: undefined,
}

/** The purpose of each function, as described in docs/plugins.md. */
const PURPOSES: Readonly<Record<PluginFunction, string>> = {
  getPerilRates: 'Prices new business, endorsements and renewals.',
  getUnderwritingResult: 'Underwrites new business, endorsements, renewals and reinstatements.',
  getProrationResult: 'Divides the price of a segment or a fee over time.',
  createInstallments: 'Plans the installments of a transaction or of a changed payment schedule.',
  getPreGraceResult: 'Sets the grace period of an invoice that is past due.',
  getPostPaymentReversal: 'Sets the grace period after a payment is reversed.',
  getPostIssuanceResult: 'Combines documents of an issued transaction.',
  getDataAutofill: 'Fills in requests before they are validated.',
  executeLambda: 'Responds to POST /lambda/{operation}.',
}

const comment = (text: string, indent: string): string =>
  text === '' ? '' : `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n`

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1)

/** `taxGroups` is a list of `TaxGroup`. */
function singular(name: string): string {
  if (/(ss|istics)$/.test(name)) return name
  return name.endsWith('uses') ? name.slice(0, -'es'.length) : name.replace(/s$/, '')
}

type Interface = { readonly name: string; readonly description: string; readonly body: string }

/**
 * Turns records of inputs into interfaces. Equal records share one. Different records with the same name are prefixed with the
 * name of the record around them.
 */
class Interfaces {
  readonly all: Interface[] = []
  readonly #byShape = new Map<string, string>()
  readonly #names = new Set<string>()

  add(node: DataNode, word: string, around: string): string {
    const shape = JSON.stringify(node.members)
    const present = this.#byShape.get(shape)
    if (present !== undefined) return present
    // Policies, exposures and perils each have characteristics.
    const isShared = word === 'characteristics' || this.#names.has(capital(word))
    const name = isShared ? around + capital(word) : capital(word)
    if (this.#names.has(name)) throw new Error(`Two records would have the name ${name}.`)
    this.#names.add(name)
    this.#byShape.set(shape, name)
    const at = this.all.push({ name, description: node.description, body: '' }) - 1
    const lines = Object.entries(node.members ?? {}).map(([member, one]) => {
      const type = this.typeOf(one, member, name)
      return `${comment(one.description, '    ')}    readonly ${key(member)}${one.isOptional ? '?' : ''}: ${type}\n`
    })
    this.all[at] = { name, description: node.description, body: lines.join('') }
    return name
  }

  /** Plugins receive every number as text. */
  typeOf(node: DataNode, word: string, around: string): string {
    const { type, items, values } = node
    if (type === 'record') return this.add(node, singular(word), around)
    if (type === 'list' && items) return `readonly ${this.#bracketed(items, word, around)}[]`
    if (type === 'map' && items)
      return `{ readonly [key: string]: ${this.typeOf(items, singular(word), around)} }`
    if (type === 'anything') return 'any'
    if (type === 'flag') return 'boolean'
    return values ? values.map(value => JSON.stringify(value)).join(' | ') : 'string'
  }

  #bracketed(items: DataNode, word: string, around: string): string {
    const type = this.typeOf(items, word, around)
    return / \| |^readonly /.test(type) ? `(${type})` : type
  }
}

/** Returns the type of a plugin's result, from the JSON Schema with which the service reads it. */
function answerType(schema: JsonSchema, indent: string): string {
  const { type, anyOf, items, properties, additionalProperties, required = [], enum: values } = schema
  if (values) return values.map(value => JSON.stringify(value)).join(' | ')
  if (anyOf) return [...new Set(anyOf.map(one => answerType(one, indent)))].join(' | ')
  if (items) {
    const inner = answerType(items, indent)
    return `readonly ${inner.includes(' | ') && !inner.startsWith('{') ? `(${inner})` : inner}[]`
  }
  if (properties) {
    const deeper = `${indent}  `
    const lines = Object.entries(properties).map(
      ([name, one]) =>
        `${comment(one.description ?? '', deeper)}${deeper}${key(name)}${required.includes(name) ? '' : '?'}: ${answerType(one, deeper)}\n`,
    )
    // The service checks these members and keeps the others unchanged.
    const others =
      additionalProperties === undefined || additionalProperties === false
        ? ''
        : `${deeper}[other: string]: any\n`
    return `{\n${lines.join('')}${others}${indent}}`
  }
  if (typeof additionalProperties === 'object' && type === 'object')
    return `{ [key: string]: ${answerType(additionalProperties, indent)} }`
  if (Array.isArray(type)) return type.map(one => answerType({ type: one }, indent)).join(' | ')
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  return 'any'
}

const answerSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

/** Returns the declarations of script-api.ts that authors see: all after those that only the service needs. */
function apiDeclarations(): string {
  const text = readFileSync(SCRIPT_API_FILE, 'utf8')
  const begin = text.lastIndexOf('/**', text.indexOf('export type RangeOperation'))
  if (begin < 0) throw new Error('script-api.ts has no declarations for authors.')
  return text
    .slice(begin)
    .replaceAll('export type', 'type')
    .trimEnd()
    .split('\n')
    .map(line => (line === '' ? '' : `  ${line}`))
    .join('\n')
}

const HEADER = `// The input, results and globals of Bindery plugins. Generated by \`npx bindery types\`; do not edit.
// All numbers in the input are text. Results can contain text or numbers.
`

const GLOBALS = `
/** Globals of scripts in addition to those of the language. All are synchronous. */
declare const socotraApi: Bindery.SocotraApi
${ENTITIES.map(entity => `declare const ${entity}: '${entity}'`).join('\n')}
/** Read the lines with \`GET /plugin/logs\`. */
declare const console: Record<
  'assert' | 'count' | 'debug' | 'dir' | 'error' | 'group' | 'groupEnd' | 'info' | 'log' | 'table' | 'trace' | 'warn',
  (...parts: any[]) => void
>
declare function structuredClone<T>(value: T): T
/** Encodes characters up to U+00FF in Base64. */
declare function btoa(text: string): string
/** Decodes Base64. */
declare function atob(text: string): string
`

/** Returns the text of a declaration file: the namespace `Bindery`, and the globals of scripts. */
export function pluginTypes(): string {
  const interfaces = new Interfaces()
  const functions = PLUGIN_FUNCTIONS.map(name => functionType(name, interfaces))
  const records = interfaces.all.map(
    ({ name, description, body }) => `${comment(description, '  ')}  interface ${name} {\n${body}  }`,
  )
  const entity = `  /** A record of the API, by its name in the reference. */
  type FetchedRecord<Kind extends Fetchable> = Kind extends 'Policy'
    ? Policy
    : Kind extends 'Policyholder'
      ? Policyholder
      : { readonly [property: string]: any }
  type Fetchable = ${ENTITIES.map(one => `'${one}'`).join(' | ')}`
  const body = [...functions, ...records, entity, apiDeclarations()].join('\n\n')
  return `${HEADER}declare namespace Bindery {\n${body}\n}\n${GLOBALS}`
}

function functionType(name: PluginFunction, interfaces: Interfaces): string {
  const own = capital(name)
  const purpose = comment(PURPOSES[name], '  ')
  const answer = ANSWERS[name]
  const nothing = MAY_RETURN_NOTHING.includes(name) ? ' | null | undefined | void' : ''
  if (!answer) {
    return `${purpose}  type ${own} = (operation: string, payload: any) => any`
  }
  const input = interfaces.typeOf(PLUGIN_INPUTS[name](), `${name}Input`, own)
  return [
    `${purpose}  type ${own} = (data: ${input}) => ${own}Answer${nothing} | Promise<${own}Answer${nothing}>`,
    `  type ${own}Answer = ${answerType(answerSchema(answer), '  ')}`,
  ].join('\n')
}
