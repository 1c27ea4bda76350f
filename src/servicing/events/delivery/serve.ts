// Posts the deliveries of one line (tables.ts), in their order.

import { newUuid } from '../../../kernel/locators.ts'
import { type Instant, now } from '../../../kernel/time.ts'
import { resolvedHeaders } from '../../../reference/secrets/sending.ts'
import { webhookEvent } from '../stream/response.ts'
import { type Attempted, attempt, type SentHeaders } from './attempt.ts'
import { failureMessage, judge, outcomeText, triggerOf, type Verdict } from './judge.ts'
import type { ClaimedDelivery, ClaimedLine, DeliveryResult } from './store.ts'
import type { Place } from './wake.ts'
import { handlingOf, type Webhook } from './webhook.ts'

/** What of a webhook is needed to post to it, as it was when the lines were claimed. */
export type Sender = {
  readonly place: Place
  readonly webhook: Webhook
  readonly headers: SentHeaders
  /** No attempt begins later. */
  readonly sendBefore: Instant
}

/** What became of a line. */
export type Served = {
  readonly results: readonly DeliveryResult[]
  readonly alerts: readonly Alert[]
  /** The webhook is to be suspended, as of then. */
  readonly suspendAt: Instant | undefined
}

/** Posts the deliveries of the line in order, up to one that is to be tried again; none once `isOver` says so. */
export async function serveLine(sender: Sender, line: ClaimedLine, isOver: () => boolean): Promise<Served> {
  const head = line[0].event.sequence
  const results: DeliveryResult[] = []
  const alerts: Alert[] = []
  for (const delivery of line) {
    if (isOver() || now() >= sender.sendBefore) {
      // What follows the head was not claimed, and needs not to be given back.
      if (delivery === line[0]) results.push(givenBack(delivery))
      break
    }
    const { result, alert, suspendAt } = await served(sender, delivery, head)
    results.push(result)
    if (alert) alerts.push(alert)
    if (suspendAt !== undefined) return { results, alerts, suspendAt }
    if (result.state === 'pending') break
  }
  return { results, alerts, suspendAt: undefined }
}

const givenBack = ({ event, asked, attempts }: ClaimedDelivery): DeliveryResult => ({
  head: event.sequence,
  event,
  asked,
  state: 'pending',
  attempts,
  dueAt: now(),
  made: undefined,
})

type One = { result: DeliveryResult; alert: Alert | undefined; suspendAt: Instant | undefined }

async function served(sender: Sender, delivery: ClaimedDelivery, head: number): Promise<One> {
  const { place, webhook, headers } = sender
  const { event, asked } = delivery
  const body = JSON.stringify(webhookEvent(event, webhook.eventTypes))
  const attempted = await attempt(place.env, webhook.endpoint, headers, { id: event.locator, body })
  const attempts = delivery.attempts + 1
  const handling = handlingOf(webhook)
  const verdict = judge(attempted.outcome, attempts, handling, Math.random())
  const at = now()
  if (verdict.state !== 'sent') warn(webhook, delivery, attempted, verdict)
  const result: DeliveryResult = {
    head,
    event,
    asked,
    state: stateAfter(verdict, handling.divert),
    attempts,
    dueAt: (verdict.state === 'pending' ? at + verdict.delayMs : at) as Instant,
    made: attempted.made,
  }
  if (verdict.state !== 'failed') return { result, alert: undefined, suspendAt: undefined }
  const { suspend, handled } = verdict
  const told = {
    eventLocator: event.locator,
    outcome: outcomeText(attempted.outcome),
    suspended: suspend,
    at,
  }
  return { result, alert: handled ? told : undefined, suspendAt: suspend ? at : undefined }
}

/** What is given up is diverted; or skipped where it suspends, so that it is sent with what is missed after it. */
function stateAfter(verdict: Verdict, divert: boolean): DeliveryResult['state'] {
  if (verdict.state !== 'failed' || !verdict.handled) return verdict.state
  if (divert) return 'diverted'
  return verdict.suspend ? 'skipped' : 'failed'
}

const warn = (
  webhook: Webhook,
  { event, attempts }: ClaimedDelivery,
  { made }: Attempted,
  { state }: Verdict,
): void =>
  console.warn(
    JSON.stringify({
      at: 'delivery',
      webhook: webhook.locator,
      event: event.locator,
      attempts: attempts + 1,
      outcome: made.outcome,
      next: state,
    }),
  )

// The alert that a webhook's `alertEndpoint` gets of an event that was given up (resources brief 7.3): once, best effort.
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
