import { z } from '@hono/zod-openapi'
import { publicRoute, type Route, tenantRoute } from '../../../platform/http/route.ts'
import { eventTypeList } from '../catalogue/webhooks.ts'
import { EventListQuery, EventResponse, EventStreamResponse, EventTypeResponse } from './contract.ts'
import { listEvents, readEvent, readEventsOfRequest } from './service.ts'

const TAGS = ['Events']

export const eventInterfaceRoutes: readonly Route[] = [
  publicRoute({
    method: 'get',
    path: '/event/events',
    summary: 'List the types of events',
    description: 'Each with its names, what emits it, and an example of its data.',
    tags: TAGS,
    answer: { schema: z.array(EventTypeResponse), description: 'The types.' },
    handle: async () => eventTypeList(),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/events/list',
    summary: 'List events',
    description:
      'Oldest first, in the order of completion; without parameters from the first event on. Every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.',
    tags: TAGS,
    permission: ['events.read', 'events.list'],
    query: EventListQuery,
    answer: { schema: EventStreamResponse, description: 'A page of events.' },
    handle: ({ query }, context) => listEvents(query, context),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/events/request/{locator}',
    summary: 'List the events that one call caused',
    description:
      'The locator is the `X-Request-Id` of the call’s answer. 404 when the call caused none, as one that only reads.',
    tags: TAGS,
    permission: 'events.read',
    answer: { schema: z.array(EventResponse), description: 'The events, in their order.' },
    handle: ({ params }, context) => readEventsOfRequest(params.locator, context),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/events/{locator}',
    summary: 'Read an event',
    tags: TAGS,
    permission: 'events.read',
    answer: { schema: EventResponse, description: 'The event.' },
    handle: ({ params }, context) => readEvent(params.locator, context),
  }),
]
