import type { EndpointResponse, FailureHandlingResponse, WebhookResponse } from '../contract-webhook.ts'
import type { Webhook, WebhookEndpoint, WebhookFailureHandling } from '../webhook.ts'

/** What answers show in place of a secret, but for the one that tells it. */
const HIDDEN = '********'

const secretIn = (endpoint: WebhookEndpoint, tell: boolean): Pick<EndpointResponse, 'secret'> =>
  endpoint.secret === undefined ? {} : { secret: tell ? endpoint.secret : HIDDEN }

const endpointResponse = (endpoint: WebhookEndpoint, tell: boolean): EndpointResponse => ({
  url: endpoint.url,
  headers: endpoint.headers,
  secureSsl: endpoint.secureSsl,
  hmacEnabled: endpoint.hmacEnabled,
  ...secretIn(endpoint, tell),
  ...(endpoint.tag !== undefined && { tag: endpoint.tag }),
})

const failureHandlingResponse = (
  { triggers, retryStrategy, divert, suspend, alertEndpoint }: WebhookFailureHandling,
  tell: boolean,
): FailureHandlingResponse => ({
  triggers,
  ...(retryStrategy && { retryStrategy }),
  divert,
  suspend,
  ...(alertEndpoint && { alertEndpoint: endpointResponse(alertEndpoint, tell) }),
})

/** The webhook for the wire; `tell`: with its secrets, once, in the answer that creates it. */
export const webhookResponse = (webhook: Webhook, tell: boolean): WebhookResponse => ({
  locator: webhook.locator,
  name: webhook.name,
  enabled: webhook.enabled,
  endpoint: endpointResponse(webhook.endpoint, tell),
  failureHandling: failureHandlingResponse(webhook.failureHandling, tell),
  suspended: webhook.suspendedAt !== null,
  suspendedAt: webhook.suspendedAt === null ? null : new Date(webhook.suspendedAt).toISOString(),
  eventTypes: webhook.eventTypes,
})
