// The event stream (contract 2; brief 9).
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES, eventTypes } from '../../../platform/events/catalogue.ts'
import { CUSTOM_EVENT_TYPE, streamTypes } from '../../../platform/events/types.ts'
import {
  DateTime,
  Flag,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  optional,
  PageSize,
  PagingToken,
  RequestDateTime,
  Text,
  Texts,
  Timestamp,
} from '../../../platform/wire.ts'

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

// The events interface (contract 2; resources brief 8.1): the stream's rows as newer clients read them.
export const EventListQuery = z.object({
  startTimestamp: optional(RequestDateTime).openapi({ description: 'Events from this time on.' }),
  endTimestamp: optional(RequestDateTime).openapi({ description: 'Events before this time.' }),
  type: OptionalName.openapi({ description: 'Events of this type only, by its newer name or its older.' }),
  pageSize: optional(PageSize).openapi({
    description: 'Events of one page, at most 1,000; 100 when left out. Not beside a token.',
  }),
  pagingToken: PagingToken,
})
export type EventListQuery = z.infer<typeof EventListQuery>

const EventData = z.record(Text, z.unknown()).openapi({
  description:
    'What the newer type says (`quoteLocator`; `policyLocator` and `transactionLocator`; …), and all that the older does.',
})

export const EventResponse = z
  .object({
    locator: Text.openapi({
      description: 'Also the `id` of the event in the stream, and of its deliveries.',
    }),
    userLocator: Text.openapi({ description: 'The account that caused it; one of its own for the clock.' }),
    requestId: Text.openapi({
      description: 'The same for all events that one call caused: the X-Request-Id of its answer.',
    }),
    timestamp: DateTime,
    type: Text.openapi({ description: 'The newer name where there is one, else the older.' }),
    data: EventData,
  })
  .openapi('EventResponse')
export type EventResponse = z.infer<typeof EventResponse>

export const EventStreamResponse = z
  .object({
    pagingToken: Text.openapi({ description: 'Always sent, on the last page too; it never expires.' }),
    events: z.array(EventResponse),
  })
  .openapi('EventStreamResponse')
export type EventStreamResponse = z.infer<typeof EventStreamResponse>

export const EventTypeResponse = z
  .object({
    type: Text.openapi({ description: 'In the stream.' }),
    newerTypes: Texts.openapi({
      description: 'In the events interface and in webhooks; none: as in the stream.',
    }),
    description: Text,
    dataType: Text.openapi({ description: 'The shape of its data, in the document of the interface.' }),
    emitted: Flag.openapi({
      description: 'Whether the service emits it; if not, it is accepted in subscriptions and filters only.',
    }),
    causes: Texts.openapi({ description: 'What emits it: operations, or `clock` with what is due.' }),
    deprecated: Flag.optional(),
    example: EventStreamData,
  })
  .openapi('EventTypeResponse')
export type EventTypeResponse = z.infer<typeof EventTypeResponse>
