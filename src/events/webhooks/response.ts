import { MASK, maskedHeaders, maskedUrl } from '../../integrations/secrecy.ts'
import type { EndpointResponse, FailureHandlingResponse, WebhookResponse } from '../contract-webhook.ts'
import { handlingOf, type Webhook, type WebhookEndpoint, type WebhookFailureHandling } from '../webhook.ts'

/** Secrets that the answer tells: those that were made for it, and that nobody knows yet. */
export type Told = (secret: string) => boolean

export const TELL_NOTHING: Told = () => false

const endpointResponse = (endpoint: WebhookEndpoint, told: Told): EndpointResponse => ({
  url: maskedUrl(endpoint.url),
  headers: Object.fromEntries(
    Object.entries(endpoint.headers).map(([name, values]) => [
      name,
      values.map(value => maskedHeaders({ [name]: value })[name]!),
    ]),
  ),
  secureSsl: endpoint.secureSsl,
  hmacEnabled: endpoint.hmacEnabled,
  ...(endpoint.secret !== undefined && { secret: told(endpoint.secret) ? endpoint.secret : MASK }),
  ...(endpoint.tag !== undefined && { tag: endpoint.tag }),
})

const failureHandlingResponse = (
  { triggers, retryStrategy, divert, suspend, alertEndpoint }: WebhookFailureHandling,
  told: Told,
): FailureHandlingResponse => ({
  triggers,
  ...(retryStrategy && { retryStrategy }),
  divert,
  suspend,
  ...(alertEndpoint && { alertEndpoint: endpointResponse(alertEndpoint, told) }),
})

/** The webhook for the wire. What looks secret in headers and address is masked, as of integrations. */
export const webhookResponse = (webhook: Webhook, told: Told): WebhookResponse => ({
  locator: webhook.locator,
  name: webhook.name,
  enabled: webhook.enabled,
  endpoint: endpointResponse(webhook.endpoint, told),
  failureHandling: failureHandlingResponse(handlingOf(webhook), told),
  suspended: webhook.suspendedAt !== null,
  suspendedAt: webhook.suspendedAt === null ? null : new Date(webhook.suspendedAt).toISOString(),
  eventTypes: webhook.eventTypes,
})
