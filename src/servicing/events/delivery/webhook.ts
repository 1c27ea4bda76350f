// A webhook, and how failures of its deliveries are handled (resources brief 7).

import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { WebhookEndpoint, WebhookFailureHandling } from '../../../platform/events/tables.ts'

/** Triggers of a handling that names none (resources brief 7.1). */
export const DEFAULT_TRIGGERS: readonly string[] = ['4xx', '5xx', 'timeout']

/**
 * What holds where the client gave no failure handling. The contract's platform does not try again then, and an event
 * is lost with the first hiccup; here it is tried for most of a day, after 5 s, 10 s, 20 s and so on: 81,915 s in all,
 * each wait ±10 %.
 */
export const OWN_FAILURE_HANDLING: WebhookFailureHandling = {
  triggers: [...DEFAULT_TRIGGERS],
  retryStrategy: { type: 'exponential', interval: 5, attempts: 15 },
  divert: false,
  suspend: false,
}

export type Webhook = {
  locator: Uuid
  name: string
  /** A disabled webhook collects nothing; what waited for it waits on. */
  enabled: boolean
  /** In real time. */
  suspendedAt: Instant | null
  endpoint: WebhookEndpoint
  /** Undefined: the client gave none, and `OWN_FAILURE_HANDLING` holds. */
  failureHandling: WebhookFailureHandling | undefined
  /** Types, or beginnings of types with `.*`. */
  eventTypes: string[]
  createdAt: Instant
  /** 1, and one more with every change. */
  version: number
  /** The version that came with the wish to send what was missed; 0 when none ever did. */
  replayVersion: number
}

export const handlingOf = ({ failureHandling }: Pick<Webhook, 'failureHandling'>): WebhookFailureHandling =>
  failureHandling ?? OWN_FAILURE_HANDLING
