// The events interface (contract 2; resources brief 8.1): the stream's rows as newer clients read them.
import { z } from '@hono/zod-openapi'
import {
  DateTime,
  Flag,
  OptionalName,
  optional,
  PageSize,
  PagingToken,
  RequestDateTime,
  Text,
  Texts,
} from '../../../platform/wire.ts'
import { EventStreamData } from '../contract.ts'

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
