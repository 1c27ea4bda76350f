// Checks emitted events against the catalogue: which cause emits which types, and what their data contains.

import { type EventType, entryOf } from '../../../src/platform/events/catalogue.ts'
import { KEYS, type Key, type KeyEntry, PATTERNS } from '../../../src/platform/events/data-keys.ts'
import { isCustomEventType, newerTypesOf } from '../../../src/platform/events/types.ts'
import { CAUSES, type Cause } from '../../../src/servicing/events/stream/causes.ts'
import { newerDataContract } from '../../../src/servicing/events/stream/notifications.ts'
import { interfaceData } from '../../../src/servicing/events/stream/response.ts'

export type Emitted = {
  readonly type: string
  readonly newerType: string | null
  readonly data: Record<string, unknown>
}

const templates = Object.keys(CAUSES)
  .filter(cause => !cause.startsWith('clock '))
  .map(cause => ({ cause, pattern: new RegExp(`^${cause.replace(/\{\w+\}/g, '[^/]+')}/?$`) }))

/** The catalogue's cause for a call (`POST /policy/123/issue`). Undefined for calls that emit nothing. */
export const causeOfCall = (call: string): string | undefined =>
  templates.find(({ pattern }) => pattern.test(call))?.cause

/** Whether the cause may emit the type. For `clock`, whether any cause of the clock may. */
export function mayEmit(cause: string | 'clock', type: EventType): boolean {
  const causes: readonly Cause[] =
    cause === 'clock'
      ? Object.entries(CAUSES).flatMap(([name, one]) => (name.startsWith('clock ') ? [one] : []))
      : [CAUSES[cause]!]
  return causes.some(({ does, mayFollow = [] }) => [...does, ...mayFollow].includes(type))
}

/** Returns what is wrong with the event, irrespective of its cause. */
export function eventProblems({ type, newerType, data }: Emitted): string[] {
  const texts = Object.entries(data).filter(([, value]) => typeof value !== 'string')
  const flat = texts.map(([key]) => `${type} has '${key}', which is no text.`)
  if (isCustomEventType(type)) return flat
  const entry = entryOf(type)
  if (!entry) return [`${type} is not in the catalogue.`]
  if (entry.isForeign) return [`${type} is said never to be emitted.`]
  const { data: required, optional = [] } = entry
  const known: readonly string[] = [...required, ...optional]
  const newer = newerTypesOf(type as EventType)
  return [
    ...flat,
    ...required.filter(key => data[key] === undefined).map(key => `${type} lacks '${key}'.`),
    ...Object.keys(data)
      .filter(key => !known.includes(key))
      .map(key => `${type} has '${key}', which the catalogue does not know.`),
    ...Object.entries(data)
      .filter(([key, value]) => known.includes(key) && !fits(KEYS[key as Key], String(value)))
      .map(([key, value]) => `${type} has '${key}' of '${value}', which is not as the catalogue says.`),
    ...((newerType === null ? entry.newer !== undefined : !newer.includes(newerType))
      ? [`${type} has the newer name ${newerType}.`]
      : newerProblems(type as EventType, newerType, data)),
  ]
}

const newerContracts = new Map<string, ReturnType<typeof newerDataContract>>()

/** Returns what is wrong with the event in the form that the events interface and webhooks show. */
function newerProblems(type: EventType, newerType: string | null, data: Emitted['data']): string[] {
  if (newerType === null) return []
  const key = `${type} ${newerType}`
  const contract = newerContracts.get(key) ?? newerDataContract(newerType, type)
  newerContracts.set(key, contract)
  const shown = interfaceData({ type, newerType, at: 0, data: data as Record<string, string> })
  const issues = contract.safeParse(shown).error?.issues ?? []
  return issues.map(({ path, message }) => `${type} as ${newerType}: ${path.join('.')} ${message}`)
}

const fits = ({ kind, values }: KeyEntry, text: string): boolean =>
  values ? values.includes(text) : (PATTERNS[kind]?.test(text) ?? true)
