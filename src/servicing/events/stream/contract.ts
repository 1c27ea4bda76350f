// The event stream (contract 2; brief 9).
import { z } from '@hono/zod-openapi'
import { eventTypes } from '../../../platform/events/catalogue.ts'
import { CUSTOM_EVENT_TYPE, streamTypes } from '../../../platform/events/types.ts'
import {
  component,
  DateTime,
  Flag,
  Integer,
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
  startTimestamp: OptionalTimestamp.describe('Only events at or after this time.'),
  endTimestamp: OptionalTimestamp.describe('Only events before this time.'),
  eventType: OptionalName.describe('Only events of this type.'),
  pageSize: optional(PageSize).describe(
    'Events per page, at most 1,000. Default: 100; with a `pagingToken`, as in the first call.',
  ),
  pagingToken: PagingToken,
})
export type EventStreamQuery = z.infer<typeof EventStreamQuery>

const CustomType = z
  .string()
  .regex(CUSTOM_EVENT_TYPE)
  .openapi('CustomEventType', { description: 'A custom type of a plugin.' })

/** Older names. The stream shows most of them. */
const OlderType = z.union([z.enum(eventTypes).openapi('EventType'), CustomType])

const StreamedType = z.union([z.enum(streamTypes).openapi('StreamEventType'), CustomType])

/** Flat: the locators that exist, and the properties of the type. */
export const EventStreamData = z.record(Text, Text).openapi('EventStreamData')

export const Event = component('Event', {
  id: Text,
  timestamp: Timestamp.describe('When the call that caused the event completed: milliseconds, as text.'),
  type: StreamedType,
  data: EventStreamData,
  username: OptionalText.describe('The user who caused the event. Only in attributedEvents.'),
})

/** Oldest first. `pagingToken` is optional in the contract, but always sent. */
export const EventPageResponse = component('EventPageResponse', {
  events: z.array(Event),
  pagingToken: OptionalText.describe('Always present. It never expires.'),
})
export type EventPageResponse = z.infer<typeof EventPageResponse>

// The events interface (contract 2; resources brief 8.1): the rows of the stream in the form for newer clients.
export const EventListQuery = z.object({
  startTimestamp: optional(RequestDateTime).describe('Only events at or after this time.'),
  endTimestamp: optional(RequestDateTime).describe('Only events before this time.'),
  type: OptionalName.describe('Only events of this type, by its newer or its older name.'),
  pageSize: optional(PageSize).describe(
    'Events per page, at most 1,000. Default: 100. Not allowed with a token.',
  ),
  pagingToken: PagingToken,
})
export type EventListQuery = z.infer<typeof EventListQuery>

const EventData = z
  .record(Text, z.unknown())
  .describe(
    'The properties of the newer type (`quoteLocator`; `policyLocator` and `transactionLocator`; …), and all of the older type.',
  )

export const EventResponse = component('EventResponse', {
  locator: Text.describe('Also the `id` of the event in the stream, and in its deliveries.'),
  userLocator: Text.describe('The account that caused the event. The clock has its own account.'),
  requestId: Text.describe('The same for all events of one call: the X-Request-Id of its response.'),
  timestamp: DateTime,
  type: Text.describe('The newer name if there is one, otherwise the older name.'),
  data: EventData,
})
export type EventResponse = z.infer<typeof EventResponse>

export const EventStreamResponse = component('EventStreamResponse', {
  pagingToken: Text.describe('Always present, also on the last page. It never expires.'),
  events: z.array(EventResponse),
})
export type EventStreamResponse = z.infer<typeof EventStreamResponse>

export const EventTypeResponse = component('EventTypeResponse', {
  type: Text.describe('Name of the type in the stream.'),
  newerTypes: Texts.describe(
    'Names of the type in the events interface and in webhooks. Empty: as in the stream.',
  ),
  description: Text,
  dataType: Text.describe('The schema of its data in the OpenAPI document.'),
  emitted: Flag.describe(
    'Whether the service emits it. If not, it is only accepted in subscriptions and filters.',
  ),
  causes: Texts.describe('What emits it: operations, or `clock` with the timer.'),
  deprecated: Flag.optional(),
  example: EventStreamData,
})
export type EventTypeResponse = z.infer<typeof EventTypeResponse>

// What a webhook receives (contract 2; brief 9; resources brief 7.3). The name that its types match decides between two forms.
// Each form also has the properties of the other that do not clash, and `sequence`.
const Sequence = Integer.describe('Increases with each event of a policy, with gaps.')

/** The form for types of the stream, if the older name matches, alone or together with the newer name. */
export const WebhookEvent = component('WebhookEvent', {
  id: Text.describe('Also the `webhook-id` of every attempt.'),
  locator: Text.describe('The same as `id`.'),
  type: z.union([OlderType, z.literal('webhook.test')]),
  timestamp: Timestamp.describe('Milliseconds, as text.'),
  sequence: Sequence,
  transactionId: Text.describe('The same for all events of one request.'),
  requestId: Text.describe('The same as `transactionId`.'),
  username: Text,
  userLocator: Text,
  data: EventStreamData,
})
export type WebhookEvent = z.infer<typeof WebhookEvent>

/** The form if only the newer name matches, and for types that the stream does not have. */
export const WebhookEventResponse = component('WebhookEventResponse', {
  ...EventResponse.shape,
  id: Text.describe('The same as `locator`; also the `webhook-id` of every attempt.'),
  sequence: Sequence,
  transactionId: Text.describe('The same as `requestId`.'),
  username: Text,
})
export type WebhookEventResponse = z.infer<typeof WebhookEventResponse>
