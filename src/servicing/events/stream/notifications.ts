// The section `webhooks` of the OpenAPI document: what a webhook receives under each name. Made with the document.
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES, type EventType, eventTypes } from '../../../platform/events/catalogue.ts'
import { newerTypesOf } from '../../../platform/events/types.ts'
import type { Notification } from '../../../platform/http/openapi.ts'
import { causesOf } from './causes.ts'
import type { EventTypeResponse } from './contract.ts'
import { WebhookEvent, WebhookEventResponse } from './contract-delivered.ts'
import { dataContract, emittedNewerTypes, exampleData, newerDataContract } from './data-contracts.ts'
import { interfaceData } from './response.ts'

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
