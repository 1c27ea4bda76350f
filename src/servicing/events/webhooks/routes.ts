import { z } from '@hono/zod-openapi'
import { withWorkIndexes } from '../../../platform/database/work-indexes.ts'
import { forTenant, type Route } from '../../../platform/http/route.ts'
import * as contract from './contract.ts'
import * as deliveries from './deliveries.ts'
import { readFailedDeliveries } from './failed.ts'
import * as webhooks from './service.ts'

const DELIVERY = `Events of the types (by either of their names, which decides how they read: see the section \`webhooks\`) are posted
to the endpoint at least once; \`docs/webhooks.md\` has all of it. \`webhook-id\` is the same on every attempt. Events of one policy come in order, each after the one before it was taken
or given up, and \`sequence\` rises from one to the next. An answer of 2xx within 15 seconds is success; redirects are not followed.
What \`triggers\` names (no connection counts as \`timeout\`) is tried again by \`retryStrategy\`; given without one, the first attempt
is the last; without \`failureHandling\` it is tried for most of a day. What is given up is put aside with \`divert\`, suspends the
webhook with \`suspend\`, and is reported to \`alertEndpoint\`, once. 410 suspends at once. Only this answer shows the secret.`

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
      description: 'The webhooks, in the order of their creation; with `extended=true` in `items`.',
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
      'What is left out stays as it is. Removals are applied first, then additions; a removal of what is not there is passed over. A new secret lets the old one sign beside it for 24 hours. A secret that the service makes, for an endpoint that signs and has none, is shown in this answer only. What waits for a webhook that is not enabled waits on.',
    permission: 'webhooks.write',
    body: { schema: contract.UpdateWebhookRequest, required: true },
    answer: webhook,
    handle: ({ params, body }, context) => webhooks.updateWebhook(params.webhookLocator, body, context),
  }),
  patch(`${WEBHOOK}/unsuspend`, {
    summary: 'Let a suspended webhook go on',
    description:
      'With `replay=true` everything that was put aside is sent, in order: the event that suspended it, what came since, and what is diverted. Without, what was skipped is given up (redeliver can still send it), and what was diverted stays so.',
    permission: 'webhooks.write',
    query: contract.UnsuspendQuery,
    answer: { description: 'It is not suspended.' },
    handle: ({ params, query }, context) => webhooks.unsuspendWebhook(params.webhookLocator, query, context),
  }),
  remove(WEBHOOK, {
    summary: 'Delete a webhook',
    permission: 'webhooks.write',
    answer: { description: 'It is deleted; deliveries that wait are not sent, diverted events are gone.' },
    handle: ({ params }, context) => webhooks.deleteWebhook(params.webhookLocator, context),
  }),
  get(`${WEBHOOK}/deliveries/list`, {
    summary: 'List deliveries of a webhook, with their attempts',
    description:
      'In the order of the events, or with `order` the other way round. What was sent or given up is kept for 30 days.',
    permission: ['webhooks.read', 'webhooks.list'],
    query: contract.DeliveryListQuery,
    answer: { schema: contract.DeliveryListResponse, description: 'A page of deliveries.' },
    handle: ({ params, query }, context) => deliveries.readDeliveries(params.webhookLocator, query, context),
  }),
  get('/event/{tenantLocator}/deliveries/list', {
    summary: 'List failed deliveries of all webhooks',
    description:
      'Bindery only. What was given up in the last 30 days, and what is put aside, in the order of the events of each database; `redeliver` and `diverted/resend` of the webhook send them again. 503 while the database waits for the migration that brings the index of these.',
    permission: ['webhooks.read', 'webhooks.list'],
    query: contract.FailedDeliveryQuery,
    answer: { schema: contract.FailedDeliveryListResponse, description: 'A page of deliveries.' },
    handle: ({ query }, context) => withWorkIndexes(() => readFailedDeliveries(query, context)),
  }),
  post(`${WEBHOOK}/redeliver`, {
    summary: 'Send events to a webhook again',
    description:
      'Those named, or those from `from` until before `to`, at most 10,000: of the webhook’s types, also from before it was made. 409 for a webhook that is suspended or not enabled.',
    permission: 'webhooks.write',
    body: { schema: contract.RedeliverRequest, required: true },
    answer: { schema: contract.ResendResponse, description: 'They are on their way.' },
    handle: ({ params, body }, context) => deliveries.redeliver(params.webhookLocator, body, context),
  }),
  post(`${WEBHOOK}/test`, {
    summary: 'Send a test event to a webhook',
    description: 'An event of type `webhook.test`, signed as any other, once and at once. No stream has it.',
    permission: 'webhooks.write',
    answer: { schema: contract.TestDeliveryResponse, description: 'How the attempt went.' },
    handle: ({ params }, context) => deliveries.testWebhook(params.webhookLocator, context),
  }),
  divertedEvents.get(`${WEBHOOK}/diverted`, {
    summary: 'List diverted events of a webhook',
    description:
      'Events put aside after their last attempt, or while the webhook was suspended. They are never purged.',
    permission: ['diverted-events.read', 'diverted-events.list'],
    query: contract.DivertedListQuery,
    answer: { schema: z.array(contract.DivertedEventResponse), description: 'In the order of the events.' },
    handle: ({ params, query }, context) =>
      deliveries.readDivertedEvents(params.webhookLocator, query, context),
  }),
  divertedEvents.post(`${WEBHOOK}/diverted/resend`, {
    summary: 'Send diverted events again',
    description:
      'Those named, `all`, or those from `from` until before `to`. Each is taken off the list when a 2xx came for it.',
    permission: 'diverted-events.resend',
    body: { schema: contract.DivertedResendRequest, required: true },
    answer: { schema: contract.ResendResponse, description: 'They are on their way.' },
    handle: ({ params, body }, context) =>
      deliveries.resendDivertedEvents(params.webhookLocator, body, context),
  }),
  divertedEvents.get(`${WEBHOOK}/diverted/{eventLocator}`, {
    summary: 'Read a diverted event',
    permission: 'diverted-events.read',
    answer: { schema: contract.DivertedEventResponse, description: 'Why it was diverted.' },
    handle: ({ params }, context) =>
      deliveries.readDivertedEvent(params.webhookLocator, params.eventLocator, context),
  }),
  divertedEvents.post(`${WEBHOOK}/diverted/{eventLocator}/resend`, {
    summary: 'Send a diverted event again',
    permission: 'diverted-events.resend',
    answer: { description: 'It is on its way, and taken off the list when a 2xx came.' },
    handle: ({ params }, context) =>
      deliveries.resendDivertedEvent(params.webhookLocator, params.eventLocator, context),
  }),
  divertedEvents.delete(`${WEBHOOK}/diverted/{eventLocator}`, {
    summary: 'Give a diverted event up',
    permission: 'diverted-events.delete',
    answer: { description: 'It is off the list, and not sent any more.' },
    handle: ({ params }, context) =>
      deliveries.discardDivertedEvent(params.webhookLocator, params.eventLocator, context),
  }),
]
