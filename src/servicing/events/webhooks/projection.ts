// A webhook as responses show it.
import type { WebhookEndpoint } from '../../../platform/events/tables.ts'
import { MASK, maskedHeaders, maskedUrl } from '../../../platform/outbound/masking.ts'
import { handlingOf, type Webhook } from '../delivery/webhook.ts'
import type * as contract from './contract.ts'

/** Whether a response shows the endpoint's secret: only while no one else may have seen it. */
export type ShowsSecret = (endpoint: WebhookEndpoint) => boolean

/** Shows secrets that came with the latest change: all at creation, later those that Bindery made. */
export const isNew =
  ({ version }: Webhook): ShowsSecret =>
  ({ secretMadeIn }) =>
    version === 1 || secretMadeIn === version

const endpointResponse = (endpoint: WebhookEndpoint, isShown: ShowsSecret): contract.EndpointResponse => ({
  url: maskedUrl(endpoint.url),
  headers: Object.fromEntries(
    Object.entries(endpoint.headers).map(([name, values]) => [
      name,
      values.map(value => maskedHeaders({ [name]: value })[name]!),
    ]),
  ),
  secureSsl: endpoint.secureSsl,
  hmacEnabled: endpoint.hmacEnabled,
  ...(endpoint.secret !== undefined && { secret: isShown(endpoint) ? endpoint.secret : MASK }),
  ...(endpoint.tag !== undefined && { tag: endpoint.tag }),
})

/** Returns the response. It masks headers and addresses that look secret, as integrations do. */
export function webhookResponse(
  webhook: Webhook,
  isShown: ShowsSecret = () => false,
): contract.WebhookResponse {
  const { locator, name, enabled, endpoint, suspendedAt, eventTypes } = webhook
  const { triggers, retryStrategy, divert, suspend, alertEndpoint } = handlingOf(webhook)
  return {
    locator,
    name,
    enabled,
    endpoint: endpointResponse(endpoint, isShown),
    failureHandling: {
      triggers,
      ...(retryStrategy && { retryStrategy }),
      divert,
      suspend,
      ...(alertEndpoint && { alertEndpoint: endpointResponse(alertEndpoint, isShown) }),
    },
    suspended: suspendedAt !== null,
    suspendedAt: suspendedAt === null ? null : new Date(suspendedAt).toISOString(),
    eventTypes,
  }
}
