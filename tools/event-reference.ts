// Writes the reference in docs/events.md from the catalogue. npm run docs:events
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVENT_TYPES, type EventType, eventTypes } from '../src/platform/events/catalogue.ts'
import { KEYS, type Key, type KeyEntry } from '../src/platform/events/data-keys.ts'
import { isStreamed, newerTypesOf } from '../src/platform/events/types.ts'
import { causesOf } from '../src/servicing/events/stream/causes.ts'
import { exampleData } from '../src/servicing/events/stream/notifications.ts'
import { betweenMarks } from './marks.ts'

export const EVENTS_BEGIN = '<!-- events:begin -->'
export const EVENTS_END = '<!-- events:end -->'

/** Words for kinds of text that do not look like text. */
const KIND_WORDS: Readonly<Record<string, string>> = {
  digits: 'digits',
  uuid: 'UUID',
  timestamp: 'milliseconds',
  amount: 'decimal',
  integer: 'number',
  text: 'text',
}

const code = (text: string): string => `\`${text}\``

function typeSection(type: EventType): string {
  const { shape, data, optional = [], isLegacy } = EVENT_TYPES[type]
  const newer = newerTypesOf(type)
  return [
    `### ${type}`,
    `${EVENT_TYPES[type].about}${isLegacy ? ' Kept for older clients, in addition to the current type.' : ''}`,
    [
      `- Newer name: ${newer.length > 0 ? newer.map(code).join(' or ') : 'the same'}`,
      `- Data (${code(shape)}): ${[...data.map(code), ...optional.map(key => `${code(key)} (if any)`)].join(
        ', ',
      )}`,
      ...(isStreamed(type) ? [] : ['- Available in: the events API and webhooks, not the stream']),
      `- Caused by: ${causesOf(type).map(code).join(', ')}`,
    ].join('\n'),
    ['```json', JSON.stringify(exampleData(type), null, 2), '```'].join('\n'),
  ].join('\n\n')
}

function keyList(): string {
  const lines = (Object.keys(KEYS) as Key[]).map(key => {
    const { about, example, kind, values }: KeyEntry = KEYS[key]
    return `- ${code(key)} (${values ? values.map(code).join(', ') : KIND_WORDS[kind]}): ${about} Example: ${code(example)}`
  })
  return lines.join('\n')
}

/** Writes the reference: every emitted type, the properties of the data, and the types that are only accepted. */
export function eventReference(): string {
  const emitted = eventTypes.filter(type => !EVENT_TYPES[type].isForeign)
  const foreign = eventTypes.filter(type => EVENT_TYPES[type].isForeign)
  return [
    '## Types',
    ...emitted.map(typeSection),
    '## Properties of data',
    'Every value is a string.',
    keyList(),
    '## Accepted but never emitted',
    `Bindery has no claims and no premium reports. Subscriptions and filters can still name their event types: ${foreign.map(code).join(', ')}.`,
  ].join('\n\n')
}

/** Returns the text with the reference of the present catalogue between its markers. Throws if the markers are missing. */
export const withEventReference = (page: string): string =>
  betweenMarks(page, EVENTS_BEGIN, EVENTS_END, eventReference())

export const EVENTS_PAGE = join(import.meta.dirname, '../docs/events.md')

if (import.meta.main) writeFileSync(EVENTS_PAGE, withEventReference(readFileSync(EVENTS_PAGE, 'utf8')))
