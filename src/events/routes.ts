import { z } from '@hono/zod-openapi'
import { type Route, tenantRoute } from '../platform/http/route.ts'
import { EventPageResponse, EventStreamQuery } from './contract.ts'
import { CreateWebhookRequest, WebhookListQuery, WebhookResponse } from './contract-webhook.ts'
import { readStream } from './stream/service.ts'
import { createWebhook, deleteWebhook, readWebhook, readWebhooks } from './webhooks/service.ts'

const STREAM =
  'Oldest first, in the order of completion. The first call names at least one filter; every answer has a `pagingToken`, and the next call sends that alone. When `events` is empty the reader is up to date, and may ask again with the same token later: it never expires.'

const DELIVERY =
  'Events of the types are posted to the endpoint at least once, in most cases in order. `webhook-id` is the same on every attempt. An answer of 2xx within 15 seconds is success. Any other is a failure: what `triggers` names (no connection counts as `timeout`) is tried again by `retryStrategy`; without one, and for other failures, the first attempt is the last. 410 suspends at once, `suspend` after the last attempt. `divert` and `alertEndpoint` are kept, but not acted on yet: an event that fails for good is not put aside, and no alert is sent. The secret is told in this answer only.'

const stream = { schema: EventPageResponse, description: 'A page of events.' }
const webhook = { schema: WebhookResponse, description: 'The webhook.' }

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
  tenantRoute({
    method: 'post',
    path: '/event/{tenantLocator}/webhooks',
    summary: 'Create a webhook',
    description: DELIVERY,
    tags: ['Webhooks'],
    permission: 'webhooks.write',
    body: { schema: CreateWebhookRequest, required: true },
    answer: webhook,
    handle: ({ body }, context) => createWebhook(body, context),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/webhooks/list',
    summary: 'List webhooks',
    tags: ['Webhooks'],
    permission: ['webhooks.read', 'webhooks.list'],
    query: WebhookListQuery,
    answer: {
      schema: z.array(WebhookResponse),
      description: 'The webhooks, in the order of their creation.',
    },
    handle: ({ query }, context) => readWebhooks(query, context),
  }),
  tenantRoute({
    method: 'get',
    path: '/event/{tenantLocator}/webhooks/{webhookLocator}',
    summary: 'Read a webhook',
    tags: ['Webhooks'],
    permission: 'webhooks.read',
    answer: webhook,
    handle: ({ params }, context) => readWebhook(params.webhookLocator, context),
  }),
  tenantRoute({
    method: 'delete',
    path: '/event/{tenantLocator}/webhooks/{webhookLocator}',
    summary: 'Delete a webhook',
    tags: ['Webhooks'],
    permission: 'webhooks.write',
    answer: { description: 'It is deleted; deliveries that wait are not sent.' },
    handle: ({ params }, context) => deleteWebhook(params.webhookLocator, context),
  }),
]
