// The event stream and the events interface: two views of the same rows.
import { z } from '@hono/zod-openapi'
import { forTenant, publicRoutes, type Route } from '../../../platform/http/route.ts'
import * as contract from './contract.ts'
import { eventTypeList } from './notifications.ts'
import { listEvents, readEvent, readEventsOfRequest, readStream } from './service.ts'

const STREAM =
  'Oldest first, in the order of completion. The first call has at least one filter. Every response has a `pagingToken`, and the next call sends only that. If `events` is empty, you have read everything; send the same token again later. A token never expires.'

const { get } = forTenant('Events')
const eventStream = forTenant('Event stream')
const everybody = publicRoutes('Events')

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
    description: 'Each with its names, its causes, and an example of its data.',
    answer: { schema: z.array(contract.EventTypeResponse), description: 'The types.' },
    handle: async () => eventTypeList(),
  }),
  get('/event/{tenantLocator}/events/list', {
    summary: 'List events',
    description:
      'Oldest first, in the order of completion; without parameters from the first event. Every response has a `pagingToken`, and the next call sends only that. If `events` is empty, you have read everything; send the same token again later. A token never expires.',
    permission: ['events.read', 'events.list'],
    query: contract.EventListQuery,
    answer: { schema: contract.EventStreamResponse, description: 'A page of events.' },
    handle: ({ query }, context) => listEvents(query, context),
  }),
  get('/event/{tenantLocator}/events/request/{locator}', {
    summary: 'List the events of one call',
    description:
      'The locator is the `X-Request-Id` of the response to the call. 404 if the call caused no events, such as a call that only reads.',
    permission: 'events.read',
    answer: { schema: z.array(contract.EventResponse), description: 'The events, in order.' },
    handle: ({ params }, context) => readEventsOfRequest(params.locator, context),
  }),
  get('/event/{tenantLocator}/events/{locator}', {
    summary: 'Read an event',
    permission: 'events.read',
    answer: { schema: contract.EventResponse, description: 'The event.' },
    handle: ({ params }, context) => readEvent(params.locator, context),
  }),
]
