import { newerTypesOf } from '../../../platform/events/newer-types.ts'
import { EVENT_TYPES, type EventType, eventTypes } from '../../../platform/events/types.ts'
import type { EventTypeResponse } from '../interface/contract.ts'
import { causesOf } from './causes.ts'
import { ENTRIES } from './entries.ts'
import { exampleData } from './example.ts'

const responseOf = (type: EventType): EventTypeResponse => {
  const { shape, isForeign, isLegacy } = ENTRIES[type]
  return {
    type,
    newerTypes: newerTypesOf(type),
    description: EVENT_TYPES[type],
    dataType: shape,
    emitted: !isForeign,
    causes: causesOf(type),
    ...(isLegacy && { deprecated: true }),
    example: exampleData(type),
  }
}

/** Every type that a plugin does not make, in the order of the catalogue. */
export const eventTypeList = (): EventTypeResponse[] => eventTypes.map(responseOf)
