// The section `webhooks` of the OpenAPI document: what a webhook receives under each name. Made with the document.

import { z } from '@hono/zod-openapi'
import { addTo } from '../../../kernel/maps.ts'
import { EVENT_TYPES, type EventType, eventTypes } from '../../../platform/events/catalogue.ts'
import { KEYS, type Key, type KeyEntry, PATTERNS } from '../../../platform/events/data-keys.ts'
import { newerTypesOf } from '../../../platform/events/types.ts'
import type { Notification } from '../../../platform/http/openapi.ts'
import { rule } from '../../../platform/wire-problem.ts'
import { causesOf } from './causes.ts'
import type { EventTypeResponse } from './contract.ts'
import { WebhookEvent, WebhookEventResponse } from './contract-delivered.ts'
import { interfaceData, type NewerFamily, newerFamily } from './response.ts'

/** The moment of examples, as that of their data (data-keys.ts). */
const EXAMPLE_AT = 1_772_323_200_000

const code = (names: readonly string[], between: string): string =>
  names.map(name => `\`${name}\``).join(between)

const causedBy = (types: readonly EventType[]): string =>
  `Caused by ${code([...new Set(types.flatMap(causesOf))], ', ')}.`

function ofStream(type: EventType): Notification {
  const newer = newerTypesOf(type)
  return {
    name: type,
    summary: EVENT_TYPES[type].about,
    description: [newer.length > 0 && `Newer name: ${code(newer, ' or ')}.`, causedBy([type])]
      .filter(Boolean)
      .join('\n\n'),
    deprecated: EVENT_TYPES[type].isLegacy ?? false,
    schema: WebhookEvent.extend({
      type: z.literal(type),
      data: dataContract(type).openapi({ example: exampleData(type) }),
    }),
  }
}

/** Types of one name may say the same. */
const isFirstOfItsShape = (type: EventType, at: number, types: readonly EventType[]): boolean => {
  const keys = (one: EventType): string => {
    const { data, optional = [] } = EVENT_TYPES[one]
    return JSON.stringify([[...data].sort(), [...optional].sort()])
  }
  return types.findIndex(one => keys(one) === keys(type)) === at
}

function ofInterface([newer, types]: readonly [string, readonly EventType[]]): Notification {
  const data = types.filter(isFirstOfItsShape).map(type =>
    newerDataContract(newer, type).openapi({
      example: interfaceData({ type, newerType: newer, at: EXAMPLE_AT, data: exampleData(type) }),
    }),
  )
  return {
    name: newer,
    summary: types.map(type => EVENT_TYPES[type].about).join(' Or: '),
    description: [
      `What the event stream calls ${code(types, ' or ')}, for webhooks whose types match this name and not that.`,
      causedBy(types),
    ].join('\n\n'),
    deprecated: types.every(type => EVENT_TYPES[type].isLegacy ?? false),
    schema: WebhookEventResponse.extend({
      type: z.literal(newer),
      data: data.length === 1 ? data[0]! : z.union(data),
    }),
  }
}

/** Under a name that both have, each for its own events (`policy.reinstatement.issue`), comes the one or the other. */
function either(one: Notification, other: Notification | undefined): Notification {
  if (!other) return one
  return {
    name: one.name,
    summary: `${one.summary} Or: ${other.summary}`,
    description: `${one.description}\n\nOr: ${other.description}`,
    deprecated: one.deprecated && other.deprecated,
    schema: z.union([one.schema, other.schema]),
  }
}

/** Every name under which the service tells of something, and what a plugin makes. */
export function eventNotifications(): Notification[] {
  const older = eventTypes.filter(type => !EVENT_TYPES[type].isForeign).map(ofStream)
  const newer = new Map([...emittedNewerTypes()].map(one => [one[0], ofInterface(one)]))
  const names = new Set(older.map(({ name }) => name))
  return [
    ...older.map(one => either(one, newer.get(one.name))),
    ...[...newer.values()].filter(({ name }) => !names.has(name)),
    {
      name: 'custom.*',
      summary: 'An event of a plugin’s own making.',
      description: 'Also told when the operation failed: then its data has `operationFailed` `true`.',
      deprecated: false,
      schema: WebhookEvent,
    },
  ]
}

const responseOf = (type: EventType): EventTypeResponse => {
  const { shape, isForeign, isLegacy } = EVENT_TYPES[type]
  return {
    type,
    newerTypes: newerTypesOf(type),
    description: EVENT_TYPES[type].about,
    dataType: shape,
    emitted: !isForeign,
    causes: causesOf(type),
    ...(isLegacy && { deprecated: true }),
    example: exampleData(type),
  }
}

/** Every type that a plugin does not make, in the order of the catalogue. */
export const eventTypeList = (): EventTypeResponse[] => eventTypes.map(responseOf)

// The data of each type as a zod contract. Made when it is asked for, and never at the start of the service: the document
// of the interface is, and tests hold what was emitted against it.
function contractOfKey(key: Key): z.ZodType {
  const { about: description, example, kind, values }: KeyEntry = KEYS[key]
  const pattern = PATTERNS[kind]
  const text = values
    ? z.enum(values as readonly [string, ...string[]])
    : pattern
      ? z.string().regex(pattern, rule(`must be ${kind} as text`))
      : z.string()
  return text.openapi({ description, example })
}

/** The properties of the type's data. */
export function keyContracts(type: EventType): z.ZodRawShape {
  const { data, optional = [] } = EVENT_TYPES[type]
  return {
    ...Object.fromEntries(data.map(key => [key, contractOfKey(key)])),
    ...Object.fromEntries(optional.map(key => [key, contractOfKey(key).optional()])),
  }
}

/** A flat map of texts with these properties and no others; that of a type that is not emitted has any. */
export function dataContract(type: EventType): z.ZodType {
  const { shape, isForeign } = EVENT_TYPES[type]
  if (isForeign) return z.record(z.string(), z.string()).openapi(shape)
  return z.strictObject(keyContracts(type)).openapi(shape)
}

// The data of newer names as zod contracts, for the document: what they say (interface/newer-data.ts), beside all that the
// older types say. Made when it is asked for, as contracts.ts.
const transaction = () => ({ policyLocator: z.string(), transactionLocator: z.string() })
const policyLocators = () => ({
  policyLocators: z.object({ listCompleted: z.boolean(), items: z.array(z.string()) }),
})

const ADDED: Readonly<Record<NewerFamily, () => z.ZodRawShape>> = {
  'policy.account.': () => ({ accountLocator: z.string() }),
  'policy.quote.': () => ({ quoteLocator: z.string(), underwritingStatus: z.string().optional() }),
  'policy.change.': transaction,
  'policy.renewal.': transaction,
  'policy.cancellation.': transaction,
  'policy.reinstatement.': transaction,
  'policy.status.': () => ({
    policyLocator: z.string(),
    newStatuses: z.array(z.enum(['expired', 'cancelled'])),
    removedStatuses: z.array(z.enum(['onRisk'])),
  }),
  'billing.invoice.': () => ({
    invoiceLocator: z.string(),
    accountLocator: z.string(),
    invoiceType: z.enum(['normal']),
    ...policyLocators(),
    generateTime: z.iso.datetime(),
  }),
  'billing.payment.': () => ({ paymentLocator: z.string(), ...policyLocators() }),
  'billing.delinquency.': () => ({ delinquencyLocator: z.string(), ...policyLocators() }),
}

/** Newer names that events of the service have, each with the older types that have it. */
export function emittedNewerTypes(): ReadonlyMap<string, readonly EventType[]> {
  const found = new Map<string, EventType[]>()
  for (const type of eventTypes.filter(one => !EVENT_TYPES[one].isForeign))
    for (const newer of newerTypesOf(type)) addTo(found, newer, type)
  return found
}

/** The data of an event of the older type under the newer name: these properties and no others. */
export function newerDataContract(newer: string, type: EventType): z.ZodType {
  const family = newerFamily(newer)
  return z.strictObject({ ...keyContracts(type), ...(family && ADDED[family]()) })
}

/** Data as an event of the type may have it: all that it always has. */
export const exampleData = (type: EventType): Record<string, string> =>
  Object.fromEntries(EVENT_TYPES[type].data.map(key => [key, KEYS[key].example]))
