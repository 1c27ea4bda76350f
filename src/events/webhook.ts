import type { Uuid } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'

/** Where a webhook's events go (resources brief 7.1). The secret signs; it is shown once, when it is made. */
export type WebhookEndpoint = {
  url: string
  headers: Record<string, string[]>
  secureSsl: boolean
  hmacEnabled: boolean
  secret?: string
  tag?: string
}

export type RetryStrategy = {
  type: 'linear' | 'exponential'
  /** Seconds. */
  interval: number
  /** Deliveries in all, the first included. */
  attempts: number
}

export type WebhookFailureHandling = {
  /** Exact codes (`503`), `4xx`, `5xx`, or `timeout`. */
  triggers: string[]
  retryStrategy?: RetryStrategy
  divert: boolean
  suspend: boolean
  alertEndpoint?: WebhookEndpoint
}

export type Webhook = {
  locator: Uuid
  name: string
  /** A disabled webhook collects nothing. */
  enabled: boolean
  suspendedAt: Instant | null
  endpoint: WebhookEndpoint
  failureHandling: WebhookFailureHandling
  /** Types, or beginnings of types with `.*`. */
  eventTypes: string[]
  createdAt: Instant
}
