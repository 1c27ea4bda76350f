// The event stream and the events interface: two views of the same rows.
import { z } from '@hono/zod-openapi'
import { forEverybody, forTenant, type Route } from '../../../platform/http/route.ts'
import * as contract from './contract.ts'
import { eventTypeList } from './notifications.ts'
import { listEvents, readEvent, readEventsOfRequest, readStream } from './service.ts'

const STREAM =
  'Oldest first, in the order of completion. The first call names at least one filter; every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.'

const { get } = forTenant('Events')
const eventStream = forTenant('Event stream')
const everybody = forEverybody('Events')

const streamRoute = (path: string, summary: string, attributed: boolean): Route =>
  eventStream.get(path, {
    summary,
    description: STREAM,
    permission: 'events.read',
    query: contract.EventStreamQuery,
    answer: { schema: contract.EventPageResponse, description: 'A page of events.' },
    handle: ({ query }, context) => readStream(query, context, attributed),
  })

export const streamRoutes: readonly Route[] = [
  streamRoute('/eventstream/events', 'Read the event stream', false),
  streamRoute(
    '/eventstream/attributedEvents',
    'Read the event stream with the user who caused each event',
    true,
  ),
]

export const eventInterfaceRoutes: readonly Route[] = [
  everybody.get('/event/events', {
    summary: 'List the types of events',
    description: 'Each with its names, what emits it, and an example of its data.',
    answer: { schema: z.array(contract.EventTypeResponse), description: 'The types.' },
    handle: async () => eventTypeList(),
  }),
  get('/event/{tenantLocator}/events/list', {
    summary: 'List events',
    description:
      'Oldest first, in the order of completion; without parameters from the first event on. Every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.',
    permission: ['events.read', 'events.list'],
    query: contract.EventListQuery,
    answer: { schema: contract.EventStreamResponse, description: 'A page of events.' },
    handle: ({ query }, context) => listEvents(query, context),
  }),
  get('/event/{tenantLocator}/events/request/{locator}', {
    summary: 'List the events that one call caused',
    description:
      'The locator is the `X-Request-Id` of the call’s answer. 404 when the call caused none, as one that only reads.',
    permission: 'events.read',
    answer: { schema: z.array(contract.EventResponse), description: 'The events, in their order.' },
    handle: ({ params }, context) => readEventsOfRequest(params.locator, context),
  }),
  get('/event/{tenantLocator}/events/{locator}', {
    summary: 'Read an event',
    permission: 'events.read',
    answer: { schema: contract.EventResponse, description: 'The event.' },
    handle: ({ params }, context) => readEvent(params.locator, context),
  }),
]
