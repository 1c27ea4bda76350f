import type { WebhookEndpoint, WebhookFailureHandling } from '../../../platform/events/tables.ts'
import { MASK, maskedHeaders, maskedUrl } from '../../../platform/outbound/masking.ts'
import { handlingOf, type Webhook } from '../delivery/webhook.ts'
import type { EndpointResponse, FailureHandlingResponse, WebhookResponse } from './contract.ts'

/** Endpoints whose secrets the answer tells: those that came with it, and that nobody may know yet. */
export type Told = (endpoint: WebhookEndpoint) => boolean

export const TELL_NOTHING: Told = () => false

/** Of the webhook as its latest change made it: at its creation all, later those that the service made for that change. */
export const tellNew =
  ({ version }: Pick<Webhook, 'version'>): Told =>
  ({ secretMadeIn }) =>
    version === 1 || secretMadeIn === version

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
  ...(endpoint.secret !== undefined && { secret: told(endpoint) ? endpoint.secret : MASK }),
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
