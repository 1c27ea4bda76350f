import { type Route, tenantRoute } from '../../platform/http/route.ts'
import { EventPageResponse, EventStreamQuery } from './contract.ts'
import { readStream } from './stream/service.ts'
import { webhookRoutes } from './webhooks/routes.ts'

const STREAM =
  'Oldest first, in the order of completion. The first call names at least one filter; every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.'

const stream = { schema: EventPageResponse, description: 'A page of events.' }

export const eventRoutes: readonly Route[] = [
  tenantRoute({
    method: 'get',
    path: '/eventstream/events',
    summary: 'Read the event stream',
    description: STREAM,
    tags: ['Event stream'],
    permission: 'events.read',
    query: EventStreamQuery,
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
    query: EventStreamQuery,
    answer: stream,
    handle: ({ query }, context) => readStream(query, context, true),
  }),
  ...webhookRoutes,
]
