// The event stream, and the events interface: two views of the same rows.
import { z } from '@hono/zod-openapi'
import { publicRoute, type Route, tenantRoute } from '../../../platform/http/route.ts'
import * as contract from './contract.ts'
import { eventTypeList } from './notifications.ts'
import { listEvents, readEvent, readEventsOfRequest, readStream } from './service.ts'

const STREAM =
  'Oldest first, in the order of completion. The first call names at least one filter; every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.'

const stream = { schema: contract.EventPageResponse, description: 'A page of events.' }

export const streamRoutes: readonly Route[] = [
  tenantRoute({
    method: 'get',
    path: '/eventstream/events',
    summary: 'Read the event stream',
    description: STREAM,
    tags: ['Event stream'],
    permission: 'events.read',
    query: contract.EventStreamQuery,
    answer: stream,
    handle: ({ query }, context) => readStream(query, context, false),
  }),
  tenantRoute({
    method: 'get',
    path: '/eventstream/attributedEvents',
    summary: 'Read the event stream with the user who caused each event',
    description: STREAM,
    tags: ['Event stream'],
    permission: 'events.read',
    query: contract.EventStreamQuery,
    answer: stream,
    handle: ({ query }, context) => readStream(query, context, true),
  }),
]

const INTERFACE_TAGS = ['Events']

export const eventInterfaceRoutes: readonly Route[] = [
  publicRoute({
    method: 'get',
    path: '/event/events',
    summary: 'List the types of events',
    description: 'Each with its names, what emits it, and an example of its data.',
    tags: INTERFACE_TAGS,
    answer: { schema: z.array(contract.EventTypeResponse), description: 'The types.' },
    handle: async () => eventTypeList(),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/events/list',
    summary: 'List events',
    description:
      'Oldest first, in the order of completion; without parameters from the first event on. Every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.',
    tags: INTERFACE_TAGS,
    permission: ['events.read', 'events.list'],
    query: contract.EventListQuery,
    answer: { schema: contract.EventStreamResponse, description: 'A page of events.' },
    handle: ({ query }, context) => listEvents(query, context),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/events/request/{locator}',
    summary: 'List the events that one call caused',
    description:
      'The locator is the `X-Request-Id` of the call’s answer. 404 when the call caused none, as one that only reads.',
    tags: INTERFACE_TAGS,
    permission: 'events.read',
    answer: { schema: z.array(contract.EventResponse), description: 'The events, in their order.' },
    handle: ({ params }, context) => readEventsOfRequest(params.locator, context),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/events/{locator}',
    summary: 'Read an event',
    tags: INTERFACE_TAGS,
    permission: 'events.read',
    answer: { schema: contract.EventResponse, description: 'The event.' },
    handle: ({ params }, context) => readEvent(params.locator, context),
  }),
]
