// The events interface (contract 2; resources brief 8.1): the stream's rows as newer clients read them.
import { z } from '@hono/zod-openapi'
import { type Instant, instant } from '../../platform/time.ts'
import {
  DateTime,
  Flag,
  OptionalName,
  optional,
  PageSize,
  PagingToken,
  Text,
  Texts,
} from '../../platform/wire.ts'
import { breaks } from '../../platform/wire-problem.ts'
import { EventStreamData } from '../contract.ts'

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|([+ -])([01]\d|2[0-3]):?([0-5]\d))?)?$/i

const DATE_TIME = 'must be a time as 2026-03-01T09:30:00Z, or milliseconds since 1970-01-01T00:00Z'

/**
 * The time that an ISO 8601 text names: a date alone is its beginning in UTC, and so is a time without an offset. The
 * plus of an offset may have become a space, as it does in an address. Undefined for what is no time.
 */
export function readDateTime(text: string): Instant | undefined {
  if (/^-?\d{1,15}$/.test(text)) return instant(Number(text))
  const parts = ISO.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', sign, hours = '00', minutes = '00'] =
    parts
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // A day that the month lacks would be one of the next.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day)) return undefined
  // To the millisecond; what is finer is left out.
  const milliseconds = Math.round(Number(`0${/\.\d+/.exec(text)?.[0] ?? ''}`.slice(0, 5)) * 1000)
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  return instant(local + milliseconds - (sign === '-' ? -offset : offset))
}

const RequestDateTime = z
  .string()
  .max(64)
  .transform((wire, ctx): Instant => {
    const at = readDateTime(wire)
    if (at !== undefined) return at
    breaks(ctx, DATE_TIME)
    return z.NEVER
  })
  .openapi({ format: 'date-time', example: '2026-03-01T09:30:00Z' })

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
