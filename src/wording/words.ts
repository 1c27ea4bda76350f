// What the OpenAPI document says of properties, parameters and values whose schema has no words of its own. Hundreds of properties
// share the schemas of simple values (src/platform/wire.ts), since each costs start-up time; these words are read on demand.
import { MILLISECONDS, REQUEST_MILLISECONDS, UNITS } from '../platform/wire-units.ts'

/** Words by `property`, `Schema.property`, `parent.property` or `Schema.parent.property`. The longest key that matches is used. */
export type Words = Readonly<Record<string, string>>

/** Words for `locator` of each schema: what it identifies. */
export const identifies = (records: Readonly<Record<string, string>>): Words =>
  Object.fromEntries(
    Object.entries(records).map(([schema, what]) => [
      `${schema}.locator`,
      `Identifies the ${what}. An opaque string that never changes.`,
    ]),
  )

export type Schema = {
  description?: string
  example?: unknown
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  type?: string | string[]
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  'x-enumDescriptions'?: Record<string, string>
}

/** The place of a property: its schema, the properties that contain it there, and its name. */
export type Place = { readonly schema: string; readonly parents: readonly string[]; readonly name: string }

const join = (...names: (string | undefined)[]): string => names.filter(Boolean).join('.')

/** Returns the keys under which words for a place may be, the most specific first. */
export function keysOf({ schema, parents, name }: Place): string[] {
  const parent = parents.at(-1)
  return [
    ...new Set([
      join(schema, ...parents, name),
      join(schema, parent, name),
      ...(parent === undefined ? [join(schema, name)] : [join(parent, name), join(schema, name)]),
      name,
    ]),
  ]
}

/** Calls `see` with each property of the schemas, including nested schemas. */
export function eachProperty(
  schemas: Readonly<Record<string, Schema>>,
  see: (property: Schema, place: Place, siblings: Readonly<Record<string, Schema>>) => void,
): void {
  const walk = (node: Schema, schema: string, parents: readonly string[]): void => {
    for (const one of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])])
      walk(one, schema, parents)
    if (node.items) walk(node.items, schema, parents)
    if (typeof node.additionalProperties === 'object') walk(node.additionalProperties, schema, parents)
    const properties = node.properties ?? {}
    for (const [name, property] of Object.entries(properties)) {
      see(property, { schema, parents, name }, properties)
      walk(property, schema, [...parents, name])
    }
  }
  for (const [name, schema] of Object.entries(schemas)) walk(schema, name, [])
}

/** Calls `see` with each list of values in the document. */
export function eachEnum(node: unknown, see: (schema: Schema) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) eachEnum(one, see)
    return
  }
  if (Array.isArray((node as Schema).enum)) see(node as Schema)
  for (const [name, value] of Object.entries(node))
    if (name !== 'example' && name !== 'examples' && name !== 'enum') eachEnum(value, see)
}

/** Whether a description has no meaning of its own: it states only the unit, or nothing. */
export const isUnitOnly = (description: string | undefined): boolean =>
  description === undefined || UNITS.has(description)

/** Returns the words for the currency of an amount among the same properties. */
function currencyWords(name: string, siblings: Readonly<Record<string, Schema>>): string | undefined {
  const amount = /^(.+)Currency$/.exec(name)?.[1]
  return amount !== undefined && amount in siblings ? `Currency of \`${amount}\`.` : undefined
}

/** Returns the unit of the value, by its schema. */
function unitOf(
  property: Schema,
  name: string,
  siblings: Readonly<Record<string, Schema>>,
): string | undefined {
  const { type, format, pattern, anyOf = [] } = property
  if (format === 'date-time') return 'ISO 8601 with its offset from UTC.'
  if (type === 'number' && `${name}Currency` in siblings) return `In major units of \`${name}Currency\`.`
  if (!name.endsWith('Timestamp')) return undefined
  if (pattern !== undefined) return MILLISECONDS
  return anyOf.some(one => one.type === 'integer') ? REQUEST_MILLISECONDS : undefined
}

const SAYS_UNIT = /major units|Milliseconds since|ISO 8601/

/** Returns the words, followed by the unit unless they already state it. */
function withUnit(words: string, unit: string | undefined): string {
  if (unit === undefined || SAYS_UNIT.test(words)) return words
  return `${words} ${unit}`
}

/** Words next to a reference are in a list together with it. Moves them to the property itself, where readers look for them. */
function liftDescription(property: Schema): void {
  const { allOf } = property
  const [reference, words] = allOf ?? []
  if (allOf?.length !== 2 || reference?.$ref === undefined || words?.description === undefined) return
  if (Object.keys(words).length > 1) return
  property.description ??= words.description
  property.allOf = [reference]
}

/** Gives each property its words. `used` collects the keys that were needed. */
export function describeProperties(
  schemas: Readonly<Record<string, Schema>>,
  words: Words,
  used: Set<string> = new Set(),
): void {
  eachProperty(schemas, (property, place, siblings) => {
    liftDescription(property)
    const own = property.description
    if (!isUnitOnly(own)) {
      property.description = withUnit(own!, unitOf(property, place.name, siblings))
      return
    }
    const key = keysOf(place).find(one => Object.hasOwn(words, one))
    if (key !== undefined) used.add(key)
    const meaning = currencyWords(place.name, siblings) ?? (key === undefined ? undefined : words[key])
    if (meaning !== undefined)
      property.description = withUnit(meaning, own ?? unitOf(property, place.name, siblings))
  })
}
