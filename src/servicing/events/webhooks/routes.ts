import { z } from '@hono/zod-openapi'
import { withWorkIndexes } from '../../../platform/database/work-indexes.ts'
import { forTenant, type Route } from '../../../platform/http/route.ts'
import * as contract from './contract.ts'
import * as deliveries from './deliveries.ts'
import { readFailedDeliveries } from './failed.ts'
import * as webhooks from './service.ts'

const DELIVERY = `Events of the types (by either of their names, which determines their form: see the section \`webhooks\`) are posted
to the endpoint at least once; \`docs/webhooks.md\` has all details. \`webhook-id\` is the same for every attempt. Events of one policy arrive in order, each after the previous one was received
or given up, and \`sequence\` increases. A response of 2xx within 15 seconds is a success; redirects are not followed.
The failures in \`triggers\` (no connection counts as \`timeout\`) are retried according to \`retryStrategy\`. With \`failureHandling\` but without a strategy, the first attempt
is the last; without \`failureHandling\`, attempts continue for most of a day. After the last attempt, the event is kept with \`divert\`, the webhook is suspended
with \`suspend\`, and \`alertEndpoint\` is notified once. 410 suspends immediately. Only this response shows the secret.`

const MASKED = 'Headers and parts of the address that look secret are shown as `********`.'

const webhook = { schema: contract.WebhookResponse, description: `The webhook. ${MASKED}` }

const WEBHOOK = '/event/{tenantLocator}/webhooks/{webhookLocator}'

const { delete: remove, get, patch, post } = forTenant('Webhooks')
const divertedEvents = forTenant('Diverted events')

export const webhookRoutes: readonly Route[] = [
  post('/event/{tenantLocator}/webhooks', {
    summary: 'Create a webhook',
    description: DELIVERY,
    permission: 'webhooks.write',
    body: { schema: contract.CreateWebhookRequest, required: true },
    answer: webhook,
    handle: ({ body }, context) => webhooks.createWebhook(body, context),
  }),
  get('/event/{tenantLocator}/webhooks/list', {
    summary: 'List webhooks',
    permission: ['webhooks.read', 'webhooks.list'],
    query: contract.WebhookListQuery,
    answer: {
      schema: z.union([z.array(contract.WebhookResponse), contract.WebhookListResponse]),
      description: 'The webhooks, in order of creation; with `extended=true` in `items`.',
    },
    handle: ({ query }, context) => webhooks.readWebhooks(query, context),
  }),
  get(WEBHOOK, {
    summary: 'Read a webhook',
    permission: 'webhooks.read',
    answer: webhook,
    handle: ({ params }, context) => webhooks.readWebhook(params.webhookLocator, context),
  }),
  patch(WEBHOOK, {
    summary: 'Change a webhook',
    description:
      'Properties that are left out stay unchanged. Removals are applied first, then additions; removals of entries that do not exist are ignored. With a new secret, the old one also signs for 24 hours. If an endpoint signs and has no secret, the service creates one and shows it only in this response. Deliveries of a webhook that is not enabled keep waiting.',
    permission: 'webhooks.write',
    body: { schema: contract.UpdateWebhookRequest, required: true },
    answer: webhook,
    handle: ({ params, body }, context) => webhooks.updateWebhook(params.webhookLocator, body, context),
  }),
  patch(`${WEBHOOK}/unsuspend`, {
    summary: 'Resume a suspended webhook',
    description:
      'With `replay=true`, all events are sent in order: the one that suspended the webhook, those that followed, and the diverted ones. Without it, skipped events are given up (redeliver can still send them), and diverted events stay diverted.',
    permission: 'webhooks.write',
    query: contract.UnsuspendQuery,
    answer: { description: 'The webhook is no longer suspended.' },
    handle: ({ params, query }, context) => webhooks.unsuspendWebhook(params.webhookLocator, query, context),
  }),
  remove(WEBHOOK, {
    summary: 'Delete a webhook',
    permission: 'webhooks.write',
    answer: {
      description: 'The webhook is deleted with its diverted events. Waiting deliveries are not sent.',
    },
    handle: ({ params }, context) => webhooks.deleteWebhook(params.webhookLocator, context),
  }),
  get(`${WEBHOOK}/deliveries/list`, {
    summary: 'List deliveries of a webhook, with their attempts',
    description:
      'In the order of the events, or reversed with `order`. Deliveries that were sent or failed are kept for 30 days.',
    permission: ['webhooks.read', 'webhooks.list'],
    query: contract.DeliveryListQuery,
    answer: { schema: contract.DeliveryListResponse, description: 'A page of deliveries.' },
    handle: ({ params, query }, context) => deliveries.readDeliveries(params.webhookLocator, query, context),
  }),
  get('/event/{tenantLocator}/deliveries/list', {
    summary: 'List failed deliveries of all webhooks',
    description:
      'Bindery only. Deliveries that failed in the last 30 days, and diverted ones, in the order of the events of each database. `redeliver` and `diverted/resend` of the webhook send them again. 503 until the database is migrated for this list.',
    permission: ['webhooks.read', 'webhooks.list'],
    query: contract.FailedDeliveryQuery,
    answer: { schema: contract.FailedDeliveryListResponse, description: 'A page of deliveries.' },
    handle: ({ query }, context) => withWorkIndexes(() => readFailedDeliveries(query, context)),
  }),
  post(`${WEBHOOK}/redeliver`, {
    summary: 'Send events to a webhook again',
    description:
      'Sends the named events, or those from `from` until before `to`, at most 10,000. Only events of the webhook’s types, including events from before it was created. 409 if the webhook is suspended or not enabled.',
    permission: 'webhooks.write',
    body: { schema: contract.RedeliverRequest, required: true },
    answer: { schema: contract.ResendResponse, description: 'The events are being sent.' },
    handle: ({ params, body }, context) => deliveries.redeliver(params.webhookLocator, body, context),
  }),
  post(`${WEBHOOK}/test`, {
    summary: 'Send a test event to a webhook',
    description:
      'Sends an event of type `webhook.test` once and immediately, signed like any other. It is not in any stream.',
    permission: 'webhooks.write',
    answer: { schema: contract.TestDeliveryResponse, description: 'The result of the attempt.' },
    handle: ({ params }, context) => deliveries.testWebhook(params.webhookLocator, context),
  }),
  divertedEvents.get(`${WEBHOOK}/diverted`, {
    summary: 'List diverted events of a webhook',
    description:
      'Events that were diverted after their last attempt, or while the webhook was suspended. They are never purged.',
    permission: ['diverted-events.read', 'diverted-events.list'],
    query: contract.DivertedListQuery,
    answer: { schema: z.array(contract.DivertedEventResponse), description: 'In the order of the events.' },
    handle: ({ params, query }, context) =>
      deliveries.readDivertedEvents(params.webhookLocator, query, context),
  }),
  divertedEvents.post(`${WEBHOOK}/diverted/resend`, {
    summary: 'Send diverted events again',
    description:
      'Sends the named events, `all`, or those from `from` until before `to`. Each is removed from the list when the endpoint responds with 2xx.',
    permission: 'diverted-events.resend',
    body: { schema: contract.DivertedResendRequest, required: true },
    answer: { schema: contract.ResendResponse, description: 'The events are being sent.' },
    handle: ({ params, body }, context) =>
      deliveries.resendDivertedEvents(params.webhookLocator, body, context),
  }),
  divertedEvents.get(`${WEBHOOK}/diverted/{eventLocator}`, {
    summary: 'Read a diverted event',
    permission: 'diverted-events.read',
    answer: { schema: contract.DivertedEventResponse, description: 'The reason why it was diverted.' },
    handle: ({ params }, context) =>
      deliveries.readDivertedEvent(params.webhookLocator, params.eventLocator, context),
  }),
  divertedEvents.post(`${WEBHOOK}/diverted/{eventLocator}/resend`, {
    summary: 'Send a diverted event again',
    permission: 'diverted-events.resend',
    answer: {
      description:
        'The event is being sent, and is removed from the list when the endpoint responds with 2xx.',
    },
    handle: ({ params }, context) =>
      deliveries.resendDivertedEvent(params.webhookLocator, params.eventLocator, context),
  }),
  divertedEvents.delete(`${WEBHOOK}/diverted/{eventLocator}`, {
    summary: 'Give up a diverted event',
    permission: 'diverted-events.delete',
    answer: { description: 'The event is removed from the list and will not be sent.' },
    handle: ({ params }, context) =>
      deliveries.discardDivertedEvent(params.webhookLocator, params.eventLocator, context),
  }),
]
