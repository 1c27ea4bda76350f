// The section `webhooks` of the OpenAPI document: what a webhook receives under each name.

import { z } from '@hono/zod-openapi'
import { addTo } from '../../../kernel/maps.ts'
import { EVENT_TYPES, type EventType, eventTypes } from '../../../platform/events/catalogue.ts'
import { KEYS, type Key, type KeyEntry, PATTERNS } from '../../../platform/events/data-keys.ts'
import { isStreamed, newerTypesOf } from '../../../platform/events/types.ts'
import type { Notification } from '../../../platform/http/openapi.ts'
import { rule } from '../../../platform/wire-problem.ts'
import { causesOf } from './causes.ts'
import { type EventTypeResponse, WebhookEvent, WebhookEventResponse } from './contract.ts'
import { interfaceData, type NewerFamily, newerFamily } from './response.ts'

/** Also the time in the example data (data-keys.ts). */
const EXAMPLE_AT = 1_772_323_200_000

const joinAsCode = (names: readonly string[], between: string): string =>
  names.map(name => `\`${name}\``).join(between)

const causesText = (types: readonly EventType[]): string =>
  `Caused by ${joinAsCode([...new Set(types.flatMap(causesOf))], ', ')}.`

const isLegacy = (type: EventType): boolean => EVENT_TYPES[type].isLegacy ?? false

function typeNotification(type: EventType): Notification {
  const newer = newerTypesOf(type)
  const names = newer.length > 0 ? [`Newer name: ${joinAsCode(newer, ' or ')}.`] : []
  const shape = {
    type: z.literal(type),
    data: dataContract(type).openapi({ example: exampleData(type) }),
  }
  return {
    name: type,
    summary: EVENT_TYPES[type].about,
    description: [...names, causesText([type])].join('\n\n'),
    deprecated: isLegacy(type),
    schema: isStreamed(type) ? WebhookEvent.extend(shape) : WebhookEventResponse.extend(shape),
  }
}

/** Returns a key of the properties of a type. Several types with one newer name may have the same properties. */
function shapeOf(type: EventType): string {
  const { data, optional = [] } = EVENT_TYPES[type]
  return JSON.stringify([[...data].sort(), [...optional].sort()])
}

function interfaceNotification(newer: string, types: readonly EventType[]): Notification {
  const byShape = Map.groupBy(types, shapeOf)
  const data = [...byShape.values()].map(([first]) => {
    const type = first!
    const example = interfaceData({ type, newerType: newer, at: EXAMPLE_AT, data: exampleData(type) })
    return newerDataContract(newer, type).openapi({ example })
  })
  return {
    name: newer,
    summary: types.map(type => EVENT_TYPES[type].about).join(' Or: '),
    description: [
      `The newer name of ${joinAsCode(types, ' or ')}. Sent to webhooks whose types match this name and not the older one.`,
      causesText(types),
    ].join('\n\n'),
    deprecated: types.every(isLegacy),
    schema: WebhookEventResponse.extend({
      type: z.literal(newer),
      data: data.length === 1 ? data[0]! : z.union(data),
    }),
  }
}

/** Merges the notifications of a name that is both older and newer, for different events (`policy.reinstatement.issue`). */
const mergeNotifications = (older: Notification, newer: Notification): Notification => ({
  name: older.name,
  summary: `${older.summary} Or: ${newer.summary}`,
  description: `${older.description}\n\nOr: ${newer.description}`,
  deprecated: older.deprecated && newer.deprecated,
  schema: z.union([older.schema, newer.schema]),
})

/** Returns a notification for every name of emitted events, and `custom.*` for the events of plugins. */
export function eventNotifications(): Notification[] {
  const notifications = new Map(emittedTypes.map(type => [type as string, typeNotification(type)]))
  for (const [name, types] of emittedNewerTypes()) {
    const newer = interfaceNotification(name, types)
    const older = notifications.get(name)
    notifications.set(name, older ? mergeNotifications(older, newer) : newer)
  }
  return [
    ...notifications.values(),
    {
      name: 'custom.*',
      summary: 'A custom event of a plugin.',
      description: 'Also sent if the operation failed: then its data has `operationFailed` `true`.',
      deprecated: false,
      schema: WebhookEvent,
    },
  ]
}

/** Lists the types in the order of the catalogue, without custom types. */
export const eventTypeList = (): EventTypeResponse[] =>
  eventTypes.map(type => ({
    type,
    newerTypes: newerTypesOf(type),
    description: EVENT_TYPES[type].about,
    dataType: EVENT_TYPES[type].shape,
    emitted: !EVENT_TYPES[type].isForeign,
    causes: causesOf(type),
    ...(isLegacy(type) && { deprecated: true }),
    example: exampleData(type),
  }))

// Contracts are built on demand, not at start-up: for the OpenAPI document, and for tests of emitted events.
function contractOfKey(key: Key): z.ZodType {
  const entry: KeyEntry = KEYS[key]
  return textContract(entry).openapi({ description: entry.about, example: entry.example })
}

function textContract({ kind, values }: KeyEntry): z.ZodType {
  if (values) return z.enum(values as readonly [string, ...string[]])
  const pattern = PATTERNS[kind]
  return pattern ? z.string().regex(pattern, rule(`must be ${kind} as text`)) : z.string()
}

function keyContracts(type: EventType): z.ZodRawShape {
  const { data, optional = [] } = EVENT_TYPES[type]
  return {
    ...Object.fromEntries(data.map(key => [key, contractOfKey(key)])),
    ...Object.fromEntries(optional.map(key => [key, contractOfKey(key).optional()])),
  }
}

/** Exactly the properties of the type. A type that is not emitted accepts any. */
export function dataContract(type: EventType): z.ZodType {
  const { shape, isForeign } = EVENT_TYPES[type]
  if (isForeign) return z.record(z.string(), z.string()).openapi(shape)
  return z.strictObject(keyContracts(type)).openapi(shape)
}

const transaction = () => ({ policyLocator: z.string(), transactionLocator: z.string() })
const policyLocators = () => ({
  policyLocators: z.object({ listCompleted: z.boolean(), items: z.array(z.string()) }),
})

/** The properties that newer names add (`SHAPES` in response.ts) to the data of the older name. */
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

const emittedTypes = eventTypes.filter(type => !EVENT_TYPES[type].isForeign)

/** Newer names of emitted events, each with its older types. */
function emittedNewerTypes(): ReadonlyMap<string, readonly EventType[]> {
  const found = new Map<string, EventType[]>()
  for (const type of emittedTypes) for (const newer of newerTypesOf(type)) addTo(found, newer, type)
  return found
}

/** Returns a contract with the properties of `type` and those that the family of the newer name adds, and no others. */
export function newerDataContract(newer: string, type: EventType): z.ZodType {
  const family = newerFamily(newer)
  return z.strictObject({ ...keyContracts(type), ...(family && ADDED[family]()) })
}

/** Without optional properties. */
export const exampleData = (type: EventType): Record<string, string> =>
  Object.fromEntries(EVENT_TYPES[type].data.map(key => [key, KEYS[key].example]))
