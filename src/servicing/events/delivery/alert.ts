// The alert that a webhook's `alertEndpoint` gets of an event that was given up (resources brief 7.3): once, best effort.
import { newUuid } from '../../../kernel/locators.ts'
import { resolvedHeaders } from '../../../reference/secrets/sending.ts'
import type { Webhook } from '../webhook.ts'
import { attempt } from './attempt.ts'
import { failureMessage, outcomeText, triggerOf } from './judge.ts'
import type { Place } from './place.ts'

/** Shorter than a delivery's: nobody waits for what an alert answers. */
const ALERT_TIMEOUT_MS = 5_000

export type Alert = {
  readonly eventLocator: string
  /** How the last attempt ended (judge.ts). */
  readonly outcome: string
  readonly suspended: boolean
  /** Epoch milliseconds. */
  readonly at: number
}

/** Posts the alert, signed as the endpoint says; nothing where there is none. Never throws. */
export async function sendAlert(
  place: Place,
  { locator, name, failureHandling }: Webhook,
  { eventLocator, outcome, suspended, at }: Alert,
): Promise<void> {
  const endpoint = failureHandling?.alertEndpoint
  if (!endpoint) return
  const body = JSON.stringify({
    webhookLocator: locator,
    name,
    eventLocator,
    failureTrigger: triggerOf(outcome),
    failureMessage: failureMessage(outcome),
    suspended,
    timestamp: new Date(at).toISOString(),
  })
  try {
    const headers = await resolvedHeaders(place, endpoint.headers, endpoint.url)
    const sent = await attempt(
      place.env,
      endpoint,
      headers,
      { id: newUuid(place.shard), body },
      ALERT_TIMEOUT_MS,
    )
    if (sent.outcome.kind === 'answered') return
    console.warn(JSON.stringify({ at: 'alert', webhook: locator, outcome: outcomeText(sent.outcome) }))
  } catch (problem) {
    console.warn(JSON.stringify({ at: 'alert', webhook: locator, problem: String(problem) }))
  }
}
