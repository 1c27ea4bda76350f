// The event stream (contract 2; brief 9).
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES, eventTypes } from '../../platform/events/catalogue.ts'
import { CUSTOM_EVENT_TYPE, streamTypes } from '../../platform/events/types.ts'
import {
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  optional,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
} from '../../platform/wire.ts'

export const EventStreamQuery = z.object({
  startTimestamp: OptionalTimestamp.openapi({ description: 'Events from this time on.' }),
  endTimestamp: OptionalTimestamp.openapi({ description: 'Events before this time.' }),
  eventType: OptionalName.openapi({ description: 'Events of this type only.' }),
  pageSize: optional(PageSize).openapi({
    description:
      'Events of one page, at most 1,000: when left out 100, or as in the call that began the paging.',
  }),
  pagingToken: PagingToken,
})
export type EventStreamQuery = z.infer<typeof EventStreamQuery>

const CustomType = z
  .string()
  .regex(CUSTOM_EVENT_TYPE)
  .openapi('CustomEventType', { description: 'A type of a plugin’s own making.' })

/** A type by its older name, as webhooks have it. */
export const OlderType = z.union([
  z
    .enum(eventTypes)
    .openapi('EventType', { 'x-enum-descriptions': Object.values(EVENT_TYPES).map(({ about }) => about) }),
  CustomType,
])

const StreamedType = z.union([
  z
    .enum(streamTypes)
    .openapi('StreamEventType', { 'x-enum-descriptions': streamTypes.map(type => EVENT_TYPES[type].about) }),
  CustomType,
])

/** Flat: policyholderLocator, policyLocator and productName where they exist, and what the type adds. */
export const EventStreamData = z.record(Text, Text).openapi('EventStreamData')
export type EventStreamData = z.infer<typeof EventStreamData>

export const Event = z
  .object({
    id: Text,
    timestamp: Timestamp.openapi({ description: 'When the causing call completed: milliseconds, as text.' }),
    type: StreamedType,
    data: EventStreamData,
    username: OptionalText.openapi({ description: 'Who caused it; in attributedEvents only.' }),
  })
  .openapi('Event')

/** Oldest first. `pagingToken` is optional in the contract, and always sent: the last page has it too. */
export const EventPageResponse = z
  .object({
    events: z.array(Event),
    pagingToken: OptionalText.openapi({ description: 'Always sent; it never expires.' }),
  })
  .openapi('EventPageResponse')
