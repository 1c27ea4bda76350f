// Posts the deliveries of one line (tables.ts), in order.

import { newUuid } from '../../../kernel/locators.ts'
import { removeUnstorable } from '../../../kernel/text.ts'
import { type Instant, now, retryAfterMs } from '../../../kernel/time.ts'
import type {
  AttemptMade,
  RetryStrategy,
  WebhookEndpoint,
  WebhookFailureHandling,
} from '../../../platform/events/tables.ts'
import type { ShardPlace } from '../../../platform/events/timers.ts'
import { addressProblem, callWithin, mayCallLocalHost } from '../../../platform/outbound/address.ts'
import { secretsOf, withoutSecrets } from '../../../platform/outbound/masking.ts'
import { signatureHeaders } from '../../../platform/outbound/signature.ts'
import { type Resolved, resolveHeaders } from '../../../reference/secrets/sending.ts'
import { webhookEvent } from '../stream/response.ts'
import { type ClaimedLine, type DeliveryResult, headOf } from './store.ts'
import { handlingOf, type Webhook } from './webhook.ts'

/** Everything needed to post to the webhook, as it was when the lines were claimed. A later change applies from the next claim. */
export type Sender = {
  readonly place: ShardPlace
  readonly webhook: Webhook
  readonly headers: SentHeaders
  readonly sendBefore: Instant
}

type Served = {
  readonly results: readonly DeliveryResult[]
  readonly alerts: readonly Alert[]
  readonly suspendAt: Instant | undefined
}

/**
 * Posts the line's deliveries in order, up to the first that must be tried again. Begins no attempt after `sendBefore` or once
 * `isOver` returns true. If the result has `suspendAt`, the webhook must be suspended as of that time.
 */
export async function deliverLine(sender: Sender, line: ClaimedLine, isOver: () => boolean): Promise<Served> {
  const { place, webhook, headers } = sender
  const handling = handlingOf(webhook)
  const head = headOf(line)
  const results: DeliveryResult[] = []
  const alerts: Alert[] = []
  for (const delivery of line) {
    const { event } = delivery
    if (isOver() || now() >= sender.sendBefore) {
      // Only the head was claimed, so only the head is given back.
      if (delivery === line[0])
        results.push({ ...delivery, head, state: 'pending', dueAt: now(), made: undefined })
      break
    }
    const body = JSON.stringify(webhookEvent(event, webhook.eventTypes))
    countPost(place)
    const { outcome, made } = await attemptDelivery(place.env, webhook.endpoint, headers, {
      id: event.locator,
      body,
    })
    const attempts = delivery.attempts + 1
    const verdict = decideVerdict(outcome, attempts, handling, Math.random())
    const at = now()
    if (verdict.state !== 'sent') warn(webhook, event.locator, attempts, made.outcome, verdict.state)
    results.push({
      ...delivery,
      head,
      attempts,
      state: stateAfter(verdict, handling.divert),
      dueAt: (verdict.state === 'pending' ? at + verdict.delayMs : at) as Instant,
      made,
    })
    if (verdict.state === 'pending') break
    if (verdict.state === 'sent') continue
    const { handled, suspend } = verdict
    if (handled) alerts.push({ eventLocator: event.locator, outcome: made.outcome, suspended: suspend, at })
    if (suspend) return { results, alerts, suspendAt: at }
  }
  return { results, alerts, suspendAt: undefined }
}

function countPost({ calls }: ShardPlace): void {
  calls.external = (calls.external ?? 0) + 1
}

/**
 * Returns the state of a delivery after the verdict. A failure that suspends without diverting is skipped: it is sent later with
 * the events that were missed after it.
 */
function stateAfter(verdict: Verdict, divert: boolean): DeliveryResult['state'] {
  if (verdict.state !== 'failed' || !verdict.handled) return verdict.state
  if (divert) return 'diverted'
  return verdict.suspend ? 'skipped' : 'failed'
}

function warn({ locator }: Webhook, event: string, attempts: number, outcome: string, next: string): void {
  console.warn(JSON.stringify({ at: 'delivery', webhook: locator, event, attempts, outcome, next }))
}

/** Shorter than the timeout of a delivery, because nothing depends on the response to an alert. */
const ALERT_TIMEOUT_MS = 5_000

/** An event that was given up, for the webhook's `alertEndpoint` (resources brief 7.3). */
type Alert = {
  readonly eventLocator: string
  readonly outcome: string
  readonly suspended: boolean
  /** Epoch milliseconds. */
  readonly at: number
}

/** Posts the alert once, signed as the endpoint requires. Does nothing without an endpoint. Never throws. */
export async function sendAlert(
  place: ShardPlace,
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
  const logAlertFailure = (why: object): void =>
    console.warn(JSON.stringify({ at: 'alert', webhook: locator, ...why }))
  try {
    const headers = await resolveHeaders(place, endpoint.headers, endpoint.url)
    const post = { id: newUuid(place.shard), body }
    countPost(place)
    const sent = await attemptDelivery(place.env, endpoint, headers, post, ALERT_TIMEOUT_MS)
    if (sent.outcome.kind !== 'answered') logAlertFailure({ outcome: sent.made.outcome })
  } catch (problem) {
    logAlertFailure({ problem: String(problem) })
  }
}

/**
 * How an attempt ended: with a response, with a timeout, without a connection, or not begun because the address or a header was
 * rejected. `secretMissing`: a secret that a header refers to is not in force; it may be by the next attempt.
 */
export type Outcome =
  | { kind: 'answered'; status: number; retryAfterMs?: number }
  | { kind: 'timeout' | 'unreachable' | 'addressRefused' | 'secretMissing' }

type Verdict =
  | { state: 'sent' }
  | { state: 'pending'; delayMs: number }
  /** `handled`: the webhook's triggers name the failure, so it may divert, alert and suspend. */
  | { state: 'failed'; handled: boolean; suspend: boolean }

/** The longest wait for the next attempt, also if `Retry-After` asks for more. */
export const LONGEST_DELAY_MS = 24 * 60 * 60 * 1000

const GONE = 410

/** Only 2xx is a success; redirects are not followed. */
export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300

const outcomeText = (outcome: Outcome): string =>
  outcome.kind === 'answered' ? String(outcome.status) : outcome.kind

/** Returns the trigger that an outcome matches (brief 7.1): the HTTP status, or `timeout` when no response came. */
export const triggerOf = (outcome: string): string =>
  ['unreachable', 'addressRefused', 'secretMissing'].includes(outcome) ? 'timeout' : outcome

const MESSAGES: Readonly<Record<string, string>> = {
  timeout: 'The endpoint did not respond within 15 seconds.',
  unreachable: 'The endpoint could not be reached.',
  addressRefused: 'The address of the endpoint must not be called, because it is not on the public internet.',
  secretMissing: 'A header refers to a secret that is not in force or cannot be used in a header.',
  suspended: 'The webhook was suspended.',
}

/** Explains an outcome other than a 2xx: an HTTP status or a key of `MESSAGES`. */
export const failureMessage = (outcome: string): string =>
  MESSAGES[outcome] ?? `The endpoint responded with ${outcome}.`

/**
 * Whether the webhook's triggers name the failure. A missing connection and a missing secret count as `timeout`, because no
 * response came. A rejected address matches no trigger, because a retry would not help.
 */
function isTriggered(outcome: Outcome, triggers: readonly string[]): boolean {
  if (outcome.kind === 'answered')
    return (
      triggers.includes(String(outcome.status)) || triggers.includes(`${Math.floor(outcome.status / 100)}xx`)
    )
  return outcome.kind !== 'addressRefused' && triggers.includes('timeout')
}

/** Returns the delay after attempt number `attempts`. `chance`, from 0 to 1, varies it by ±10 %. */
function delayMs({ type, interval }: RetryStrategy, attempts: number, chance: number): number {
  const factor = type === 'linear' ? attempts : 2 ** (attempts - 1)
  return Math.round(interval * 1000 * factor * (0.9 + 0.2 * chance))
}

/**
 * Decides what follows from an attempt (resources brief 7.3); `attempts` includes this one, from 1. A failure that no trigger
 * names is final; without a retry strategy so is the first. 410 means that the endpoint is gone for good and suspends immediately.
 */
export function decideVerdict(
  outcome: Outcome,
  attempts: number,
  { triggers, retryStrategy, suspend }: WebhookFailureHandling,
  chance: number,
): Verdict {
  if (isSuccess(outcome)) return { state: 'sent' }
  if (outcome.kind === 'answered' && outcome.status === GONE)
    return { state: 'failed', handled: true, suspend: true }
  if (!isTriggered(outcome, triggers)) return { state: 'failed', handled: false, suspend: false }
  if (!retryStrategy || attempts >= retryStrategy.attempts) return { state: 'failed', handled: true, suspend }
  const asked = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0
  const wait = Math.max(asked, delayMs(retryStrategy, attempts, chance))
  return { state: 'pending', delayMs: Math.min(wait, LONGEST_DELAY_MS) }
}

/** An endpoint that has not responded after this time has failed (resources brief 7.3). */
export const ATTEMPT_TIMEOUT_MS = 15_000

/** The number of bytes of a response that the log keeps. */
const MOST_EXCERPT_BYTES = 4_096

/** Repeated posts have the same `id`. */
type Post = { readonly id: string; readonly body: string }

/** Headers with their secrets filled in, or the reason why they cannot be sent. */
type SentHeaders = Resolved<WebhookEndpoint['headers']>

/** Posts once. Never throws: failures are outcomes. */
export async function attemptDelivery(
  env: Env,
  endpoint: WebhookEndpoint,
  headers: SentHeaders,
  post: Post,
  timeoutMs = ATTEMPT_TIMEOUT_MS,
): Promise<{ readonly outcome: Outcome; readonly made: AttemptMade }> {
  const at = now()
  const { outcome, excerpt } = await postOnce(env, endpoint, headers, post, timeoutMs)
  const made = { at, outcome: outcomeText(outcome), durationMs: now() - at }
  if (excerpt === undefined || 'problem' in headers) return { outcome, made }
  const shown = withoutSecrets(removeUnstorable(excerpt.text), secretsIn(endpoint, headers), excerpt.isCut)
  return { outcome, made: { ...made, excerpt: shown } }
}

async function postOnce(
  env: Env,
  endpoint: WebhookEndpoint,
  headers: SentHeaders,
  { id, body }: Post,
  timeoutMs: number,
): Promise<{ readonly outcome: Outcome; readonly excerpt?: Excerpt | undefined }> {
  // Checked again, because the allowed addresses depend on where Bindery runs now.
  if (addressProblem(endpoint.url, mayCallLocalHost(env))) return { outcome: { kind: 'addressRefused' } }
  if ('problem' in headers) return { outcome: { kind: 'secretMissing' } }
  try {
    return await callWithin(timeoutMs, async signal => {
      const response = await fetch(endpoint.url, {
        method: 'POST',
        headers: headersOf(endpoint, headers.headers, id, now(), body),
        body,
        redirect: 'manual',
        signal,
      })
      const askedMs = retryAfterMs(response.headers.get('retry-after'), now())
      return {
        outcome: { kind: 'answered', status: response.status, retryAfterMs: askedMs },
        excerpt: await excerptOf(response),
      }
    })
  } catch (problem) {
    const timedOut = problem instanceof Error && problem.name === 'TimeoutError'
    return { outcome: { kind: timedOut ? 'timeout' : 'unreachable' } }
  }
}

function headersOf(
  endpoint: WebhookEndpoint,
  own: WebhookEndpoint['headers'],
  id: string,
  at: Instant,
  body: string,
): Headers {
  const headers = new Headers({ 'content-type': 'application/json', 'user-agent': 'Bindery' })
  for (const [name, values] of Object.entries(own)) {
    headers.delete(name)
    for (const value of values) headers.append(name, value)
  }
  for (const [name, value] of Object.entries(signatureHeaders(endpoint, id, at, body)))
    headers.set(name, value)
  return headers
}

type Excerpt = { readonly text: string; readonly isCut: boolean }

/** Returns the beginning of the body. If the body breaks off, the part that arrived is kept, because the status counts. */
async function excerptOf({ body }: Response): Promise<Excerpt | undefined> {
  const read: Uint8Array[] = []
  let bytes = 0
  let isCut = true
  try {
    // Leaving the loop cancels the rest. An unread body would keep a connection busy.
    for await (const chunk of body ?? []) {
      read.push(chunk)
      bytes += chunk.length
      if (bytes > MOST_EXCERPT_BYTES) break
    }
    isCut = bytes > MOST_EXCERPT_BYTES
  } catch {
    // What came before is kept.
  }
  if (bytes === 0) return undefined
  const kept = Buffer.concat(read).subarray(0, MOST_EXCERPT_BYTES)
  // If the body is cut, `stream` drops an incomplete character at the end.
  return { text: new TextDecoder().decode(kept, { stream: isCut }), isCut }
}

/** Returns the secrets that the endpoint may send back and that must not be stored. */
function secretsIn(endpoint: WebhookEndpoint, headers: Exclude<SentHeaders, { problem: string }>): string[] {
  const { url, hmacEnabled, secret, secureSsl, earlierSecrets = [] } = endpoint
  return secretsOf(
    {
      url,
      headers: headers.headers,
      ...(secret !== undefined && { security: { hmacEnabled, secret, secureSsl } }),
    },
    [...headers.values, ...earlierSecrets.map(earlier => earlier.secret)],
  )
}
