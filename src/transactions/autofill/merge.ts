// What is filled in, put into what was asked. Nothing here judges: the request's own contract reads the result.
import type { Words } from './words.ts'

/** Lists of changes to what has a locator: changes of the same one are merged. */
const IDENTITIES: Readonly<Record<string, string>> = {
  updateExposures: 'exposureLocator',
  updatePerils: 'perilLocator',
  updateFieldGroups: 'fieldGroupLocator',
}

/** Lists of locators: what is filled in comes on top. */
const UNITED: ReadonlySet<string> = new Set([
  'removeExposures',
  'endExposures',
  'removePerils',
  'endPerils',
  'removeFieldGroups',
])

/**
 * The words after the filling, whose values win: field by field, and change by change where changes have a locator.
 * A list of additions is taken whole, as published plugins answer it: what was asked with what they make of it. Null
 * is nothing filled in, but in field values, where it takes the value away.
 */
export const merged = (asked: Words, filled: Words): Words => {
  const said = Object.entries(filled).filter(([, value]) => value !== null && value !== undefined)
  return {
    ...asked,
    ...Object.fromEntries(said.map(([name, value]) => [name, both(name, asked[name], value)])),
  }
}

const isRecord = (value: unknown): value is Words =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function both(name: string, asked: unknown, filled: unknown): unknown {
  if (name === 'fieldValues') return isRecord(asked) && isRecord(filled) ? { ...asked, ...filled } : filled
  if (!Array.isArray(asked) || !Array.isArray(filled)) return filled
  if (UNITED.has(name)) return [...new Set([...asked, ...filled])]
  const identity = Object.hasOwn(IDENTITIES, name) ? IDENTITIES[name]! : undefined
  return identity === undefined || !filled.every(isRecord) ? filled : byIdentity(identity, asked, filled)
}

/** Of two changes that the request asks of the same record, the later one is merged with. */
function byIdentity(identity: string, asked: readonly Words[], filled: readonly Words[]): Words[] {
  const changes = [...asked]
  const places = new Map(changes.map((change, at) => [change[identity], at]))
  for (const change of filled) {
    const at = places.get(change[identity])
    if (at === undefined) places.set(change[identity], changes.push(change) - 1)
    else changes[at] = merged(changes[at]!, change)
  }
  return changes
}

/** What was filled in, for messages: `fieldValues.make`, `addExposures`. */
export const named = (filled: Words): string[] =>
  Object.entries(filled).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    return name === 'fieldValues' && isRecord(value)
      ? Object.keys(value).map(field => `fieldValues.${field}`)
      : [name]
  })
