// The properties of requests that may be filled in, under the names that an update uses for them. Fillers of a new policy receive
// and return its exposures and field groups as additions of an update, so that one filler serves both. Nothing here validates:
// the request's own contract reads the result.
import { asPluginInput } from '../../extension/plugins/translation.ts'
import { isJsonObject } from '../../kernel/json.ts'
import type { TimeZone } from '../../kernel/time.ts'
import { pathText } from '../../platform/wire-problem.ts'
import type { FieldDefinition } from '../../product/configuration.ts'
import { applicability } from '../../product/fields/validate.ts'
import { readFieldValues } from '../../product/fields/values.ts'

export type Words = Readonly<Record<string, unknown>>

const CONTENT = [
  'fieldValues',
  'addFieldGroups',
  'updateFieldGroups',
  'removeFieldGroups',
  'addExposures',
  'updateExposures',
] as const

/** Properties that may be filled in. Each kind of request accepts fewer or more of them. */
const FILLED_WORDS = {
  newPolicy: [
    'fieldValues',
    'addFieldGroups',
    'addExposures',
    'policyStartTimestamp',
    'policyEndTimestamp',
    'paymentScheduleName',
  ],
  policy: [
    ...CONTENT,
    'removeExposures',
    'policyStartTimestamp',
    'policyEndTimestamp',
    'paymentScheduleName',
  ],
  endorsement: [
    ...CONTENT,
    'endExposures',
    'startTimestamp',
    'newPolicyEndTimestamp',
    'newPaymentScheduleName',
    'reprice',
  ],
  renewal: [...CONTENT, 'endExposures', 'renewalEndTimestamp', 'newPaymentScheduleName'],
} as const satisfies Record<string, readonly string[]>

export type FilledKind = keyof typeof FILLED_WORDS

/** Properties of a creation request, and the name that an update uses for each. */
const CREATION_NAMES = new Map([
  ['exposures', 'addExposures'],
  ['fieldGroups', 'addFieldGroups'],
])

/** Whether a value leaves a property alone. A time that a plugin computes from a missing property is NaN, which is null in JSON. */
const fillsNothing = (name: string, value: unknown): boolean =>
  value === undefined || value === null || value === '' || (name.endsWith('Timestamp') && value === 'NaN')

/**
 * Returns the properties of a request or an answer that may be filled in, under the names of an update and without empty values.
 */
export function wordsOf(kind: FilledKind, record: object): Words {
  const entries = Object.entries(record).map(([name, value]): [string, unknown] => [
    (kind === 'newPolicy' && CREATION_NAMES.get(name)) || name,
    value,
  ])
  const known: readonly string[] = FILLED_WORDS[kind]
  return Object.fromEntries(
    entries.filter(([name, value]) => known.includes(name) && !fillsNothing(name, value)),
  )
}

/** Returns the request with these properties. `words` of a new policy must have its exposures and field groups. */
export function withWords(kind: FilledKind, request: object, words: Words): Words {
  if (kind !== 'newPolicy') return { ...request, ...words }
  const { addExposures, addFieldGroups, ...rest } = words
  return { ...request, ...rest, exposures: addExposures, fieldGroups: addFieldGroups }
}

/** Describes a problem of the filled request under the names of an update, which the filler used. */
export function problemInWords(kind: FilledKind, message: string): string {
  const problem = message.replace(/\.$/, '')
  if (kind !== 'newPolicy') return problem
  return problem.replace(/^'(\w+)/, (whole, name) => {
    const word = CREATION_NAMES.get(name)
    return word === undefined ? whole : `'${word}`
  })
}

/** Returns field values as lists of text (brief 0.4), and numbers as text. */
export const shownWords = (words: Words): Words => asPluginInput(withValueLists(words)) as Words

function withValueLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withValueLists)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name === 'fieldValues' ? readFieldValues(part).values : withValueLists(part),
    ]),
  )
}

/** Changes with the same locator are merged. */
const IDENTITIES = new Map([
  ['updateExposures', 'exposureLocator'],
  ['updatePerils', 'perilLocator'],
  ['updateFieldGroups', 'fieldGroupLocator'],
])

/** Lists of locators, to which filled locators are added. */
const UNITED: ReadonlySet<string> = new Set([
  'removeExposures',
  'endExposures',
  'removePerils',
  'endPerils',
  'removeFieldGroups',
])

/**
 * Merges the filled values into the request. Filled values win, field by field, and change by change if changes have a locator. A
 * list of additions replaces the request's list, because published plugins return the requested additions with their own changes.
 * Null and empty text fill nothing in: services in typed languages send them for properties that they do not set. In field
 * values, null removes the value.
 */
export const mergeFilled = (asked: Words, filled: Words): Words => {
  const given = Object.entries(filled).filter(([name, value]) => !fillsNothing(name, value))
  return {
    ...asked,
    ...Object.fromEntries(given.map(([name, value]) => [name, mergeProperty(name, asked[name], value)])),
  }
}

function mergeProperty(name: string, asked: unknown, filled: unknown): unknown {
  if (name === 'fieldValues')
    return isJsonObject(asked) && isJsonObject(filled) ? { ...asked, ...filled } : filled
  if (!Array.isArray(asked) || !Array.isArray(filled)) return filled
  if (UNITED.has(name)) return [...new Set([...asked, ...filled])]
  const identity = IDENTITIES.get(name)
  return identity === undefined || !filled.every(isJsonObject)
    ? filled
    : mergeByIdentity(identity, asked, filled)
}

/** Merges changes with the same locator. If the request changes a record twice, the filled change joins the later one. */
function mergeByIdentity(identity: string, asked: readonly Words[], filled: readonly Words[]): Words[] {
  const changes = [...asked]
  const places = new Map(changes.map((change, at) => [change[identity], at]))
  for (const change of filled) {
    const at = places.get(change[identity])
    if (at === undefined) places.set(change[identity], changes.push(change) - 1)
    else changes[at] = mergeFilled(changes[at]!, change)
  }
  return changes
}

type Filled = { readonly before: Words; readonly answer: Words; readonly after: Words }

/**
 * Returns the filled values without the request's values of fields whose conditions held before the answer and no longer do,
 * since the request could not know that. Values that the answer itself sets remain and are rejected.
 */
export function withoutEnded(
  fields: readonly FieldDefinition[],
  { before, answer, after }: Filled,
  zone: TimeZone,
): Words {
  const answered = answer.fieldValues
  if (typeof answered !== 'object' || answered === null) return after
  const definitions = new Map(fields.map(field => [field.name, field]))
  const [was, is] = [before, after].map(({ fieldValues }) =>
    applicability(definitions, readFieldValues(fieldValues ?? {}).values, zone),
  )
  const ended = fields.filter(
    field =>
      field.conditions.length > 0 &&
      !Object.hasOwn(answered, field.name) &&
      was!.applies(field) &&
      !is!.applies(field),
  )
  const names = new Set(ended.map(({ name }) => name))
  const kept = Object.entries(after.fieldValues as object).filter(([name]) => !names.has(name))
  return names.size === 0 ? after : { ...after, fieldValues: Object.fromEntries(kept) }
}

const MOST_NAMED = 20

/**
 * Lists the names for messages: `fieldValues.make, addExposures`. The filler chose the names, so long ones are cut off, and
 * beyond the limit they are only counted.
 */
export function listNames(filled: Words): string {
  const names = Object.entries(filled).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    return name === 'fieldValues' && isJsonObject(value)
      ? Object.keys(value).map(field => pathText(['fieldValues', field]))
      : [name]
  })
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`
}
