// Writes the reference in docs/configuration.md from the schemas that read the files. npm run docs:configuration
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonSchema } from '../cli/format/json-schema.ts'
import { FILE_KINDS, type FileKind, OTHER_FILES, schemaOfKind } from '../cli/format/kinds.ts'
import { propertiesByType } from '../src/product/check/fields/fields.ts'
import type { FieldType } from '../src/product/configuration.ts'
import { betweenMarks } from './marks.ts'

export const CONFIGURATION_BEGIN = '<!-- configuration:begin -->'
export const CONFIGURATION_END = '<!-- configuration:end -->'

const code = (text: string): string => `\`${text}\``

/** A property with everything that its schema says about it. */
export type DescribedProperty = {
  /** From the root of its file, such as `lapse.gracePeriodDays`, `fees[].name`, `plugins.<name>.path`. */
  readonly path: string
  readonly schema: JsonSchema
  readonly isNeeded: boolean
}

/** Structures with their own sections, by the name of their definition. */
const SECTION_LINKS: Readonly<Record<string, string>> = {
  field: '[fields](#fields)',
  document: '[documents](#documents)',
}

type WithReferences = JsonSchema & {
  $ref?: string
  allOf?: WithReferences[]
  definitions?: Record<string, WithReferences>
}

const definitionName = ({ $ref, allOf }: WithReferences): string | undefined =>
  ($ref ?? allOf?.[0]?.$ref)?.split('/').at(-1)

/**
 * Returns the object that a property is, lists or contains by name, and the text between its name and the names of the object's
 * properties.
 */
function innerObject(schema: JsonSchema): { schema: JsonSchema; step: string } | undefined {
  if (schema.properties) return { schema, step: '.' }
  const inner = (found: JsonSchema | undefined, step: string) => {
    if (!found) return undefined
    const further = innerObject(found)
    return further && { schema: further.schema, step: step + further.step }
  }
  if (schema.items) return inner(schema.items, '[]')
  if (typeof schema.additionalProperties === 'object') return inner(schema.additionalProperties, '.<name>')
  for (const one of schema.anyOf ?? []) {
    const found = innerObject(one)
    if (found) return found
  }
  return undefined
}

/** Returns all properties of an object and of the objects in it, each before its own properties. */
export function describedProperties(schema: JsonSchema, prefix = ''): DescribedProperty[] {
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => name !== '$schema')
    .flatMap(([name, property]) => {
      const path = prefix + name
      const held = innerObject(property)
      return [
        { path, schema: property, isNeeded: schema.required?.includes(name) === true },
        ...(held ? describedProperties(held.schema, path + held.step) : []),
      ]
    })
}

/** Returns the properties of a file, which is an object, a list, or objects by name. */
export function propertiesOfFile(kind: FileKind): DescribedProperty[] {
  const root = schemaOfKind(kind)
  if (root.anyOf) {
    const [first] = root.anyOf.filter(({ properties }) => Object.keys(properties ?? {}).length > 1)
    return describedProperties(first!)
  }
  const innerValue = innerObject({ ...root, properties: undefined })
  return root.additionalProperties && innerValue
    ? describedProperties(innerValue.schema, innerValue.step.slice(1))
    : describedProperties(root)
}

/** Returns the properties of a structure that several files share. */
export function sharedStructure(name: 'field' | 'document'): DescribedProperty[] {
  const policy = schemaOfKind(FILE_KINDS.find(({ kind }) => kind === 'policy')!) as WithReferences
  return describedProperties(policy.definitions![name]!)
}

const WORDS: Readonly<Record<string, string>> = {
  'string number boolean': 'text',
  'string number': 'text',
  'boolean string': 'true or false',
  'number string': 'decimal number',
  'integer string': 'whole number',
  object: 'object',
  array: 'list',
  string: 'text',
}

/** Describes the type of a value in the words of the page. */
function typeWords(schema: JsonSchema): string {
  const { enum: values, type, anyOf, items, additionalProperties, minimum, maximum } = schema
  if (values) {
    return values.includes(true) ? 'true or false' : values.map(value => code(String(value))).join(', ')
  }
  if (anyOf?.some(one => 'const' in one)) return `decimal number or ${code(String(anyOf[0]!.const))}`
  if (anyOf?.some(one => one.type === 'array')) return 'list of texts'
  if (anyOf) return 'text or object'
  if (items) {
    const name = definitionName(items)
    if (name) return `list of ${SECTION_LINKS[name] ?? '[fields](#fields)'}`
    return items.enum ? `list of ${typeWords(items)}` : 'list of objects'
  }
  if (typeof additionalProperties === 'object')
    return additionalProperties.properties || additionalProperties.anyOf?.some(one => one.properties)
      ? 'object of objects by name'
      : `object of ${typeWords(additionalProperties)} by name`
  if (type === undefined) return 'anything'
  const words = WORDS[[type].flat().join(' ')]
  if (!words) throw new Error(`The reference cannot describe ${JSON.stringify(schema)}.`)
  const from = minimum === undefined ? words : `${words} from ${minimum}`
  return maximum === undefined ? from : `${from} to ${maximum.toLocaleString('en-US')}`
}

/** Turns file names of the documentation, which editors show unchanged, into links. */
const linkFileNames = (text: string): string =>
  text.replace(/docs\/([\w-]+)\.md/g, (_, page: string) => `[${page}](${page}.md)`)

function propertyLine({ path, schema, isNeeded }: DescribedProperty): string {
  const { description = '', default: standard, examples = [] } = schema
  const facts = [
    typeWords(schema),
    ...(isNeeded ? ['needed'] : []),
    ...(standard !== undefined ? [`default ${code(String(standard))}`] : []),
  ]
  const example = examples[0] === undefined ? '' : ` Example: ${code(inline(examples[0]))}.`
  return `- **${code(path)}** (${facts.join('; ')}): ${linkFileNames(description)}${example}`
}

/** Formats JSON on one line, with the usual spaces. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${inline(one)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const list = (properties: readonly DescribedProperty[]): string => properties.map(propertyLine).join('\n')

const WIDTH = 110

/** Formats JSON as the formatter of this repository does: short values on one line, several objects on separate lines. */
function pretty(value: unknown, indent = '', before = 0): string {
  const isSeveral =
    Array.isArray(value) &&
    value.length > 1 &&
    value.every(one => typeof one === 'object' && Object.keys(one).length > 1)
  const short = inline(value)
  if (indent !== '' && !isSeveral && indent.length + before + short.length < WIDTH) return short
  const deeper = `${indent}  `
  const members = Array.isArray(value)
    ? value.map(one => deeper + pretty(one, deeper))
    : Object.entries(value as object).map(
        ([key, one]) => `${deeper}${JSON.stringify(key)}: ${pretty(one, deeper, key.length + 4)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${members.join(',\n')}\n${indent}${close}`
}

const fence = (value: unknown): string => ['```json', pretty(value), '```'].join('\n')

function fileSection(kind: FileKind): string {
  return [
    `### ${kind.path.split('/').at(-1)!.replace('<peril>', 'peril')}`,
    `${code(kind.path)}; the name of its schema is ${code(kind.kind)}. ${linkFileNames(kind.about)}`,
    fence(kind.sample),
    list(propertiesOfFile(kind)),
  ].join('\n\n')
}

/** The values of each kind of field in requests. */
const KINDS_OF_FIELDS: Readonly<Record<FieldType, string>> = {
  string: 'text of at most 20,000 characters',
  number: 'a decimal number in plain digits, without separators or exponent',
  date: 'a day such as `2027-01-31`, or milliseconds since 1970; templates and plugins get milliseconds',
  select: 'one of `values`',
  lookup: 'one of the cells of a column of `table`',
  email: 'an e-mail address',
  phone: 'a telephone number of 3 to 20 digits; it can also contain blanks and `+()-`',
  group: 'several fields that belong together, such as a driver or a loan',
  media: 'the locator of a file that was uploaded (`POST /media`)',
}

const kindsOfFields = (): string =>
  (Object.keys(KINDS_OF_FIELDS) as FieldType[])
    .map(type => {
      const own = propertiesByType[type].map(code)
      return `- **${code(type)}**: ${KINDS_OF_FIELDS[type]}. ${own.length > 0 ? `Additional properties: ${own.join(', ')}.` : 'No additional properties.'}`
    })
    .join('\n')

const FIELD_EXAMPLE = { name: 'year_built', title: 'Year of construction', type: 'date', precision: 'year' }

const DOCUMENT_EXAMPLE = {
  displayName: 'Policy schedule',
  fileName: 'schedule.pdf',
  templateName: 'schedule.template.liquid',
  generatingEvent: 'issue',
}

/** Writes the reference: all files, the properties of JSON files, and the structures that several of them share. */
export function configurationReference(): string {
  const files = [...FILE_KINDS, ...OTHER_FILES].map(
    ({ path, about }) => `- ${code(path)}: ${linkFileNames(about)}`,
  )
  return [
    '## All files',
    files.join('\n'),
    '## JSON files',
    ...FILE_KINDS.map(fileSection),
    '## Fields',
    'A field is a question: its name, its valid answers, and the condition under which it is asked.',
    fence(FIELD_EXAMPLE),
    '### Kinds of fields',
    kindsOfFields(),
    'A field ignores all other properties, with a warning, except those that every field has.',
    '### Properties of fields',
    list(sharedStructure('field')),
    '## Documents',
    'A document is created from a template when a transaction reaches a certain step.',
    fence(DOCUMENT_EXAMPLE),
    list(sharedStructure('document')),
  ].join('\n\n')
}

/** Returns the text with the reference of the present schemas between its markers. Throws if the markers are missing. */
export const withConfigurationReference = (page: string): string =>
  betweenMarks(page, CONFIGURATION_BEGIN, CONFIGURATION_END, configurationReference())

export const CONFIGURATION_PAGE = join(import.meta.dirname, '../docs/configuration.md')

if (import.meta.main)
  writeFileSync(CONFIGURATION_PAGE, withConfigurationReference(readFileSync(CONFIGURATION_PAGE, 'utf8')))
