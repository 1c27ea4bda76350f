// What becomes of a delivery after an attempt (resources brief 7.3).

/**
 * How an attempt ended: with an answer, with none in time, with no connection, or not begun because the address
 * may not be called, or the headers cannot be made.
 */
import type { RetryStrategy, WebhookFailureHandling } from '../../../platform/events/tables.ts'

export type Outcome =
  | { kind: 'answered'; status: number; retryAfterMs?: number }
  | { kind: 'timeout' }
  | { kind: 'unreachable' }
  | { kind: 'addressRefused' }
  /** Not begun either: a secret that a header refers to is not to be had. It may be again by the next attempt. */
  | { kind: 'secretMissing' }

export type Verdict =
  | { state: 'sent' }
  | { state: 'pending'; delayMs: number }
  /** Given up. `handled`: it is one that the webhook's handling names, so it is diverted or told of, as that says. */
  | { state: 'failed'; handled: boolean; suspend: boolean }

export const LONGEST_DELAY_MS = 24 * 60 * 60 * 1000

const GONE = 410

/** The outcome in one word: the HTTP status or the kind. */
export const outcomeText = (outcome: Outcome): string =>
  outcome.kind === 'answered' ? String(outcome.status) : outcome.kind

/** What triggers name of an outcome in one word (brief 7.1): the HTTP status, or `timeout` where no answer came. */
export const triggerOf = (outcome: string): string =>
  ['unreachable', 'secretMissing'].includes(outcome) ? 'timeout' : outcome

const MESSAGES: Readonly<Record<string, string>> = {
  timeout: 'The endpoint did not answer within 15 seconds.',
  unreachable: 'The endpoint could not be reached.',
  addressRefused: 'The address of the endpoint may not be called: it is not one of the public internet.',
  secretMissing: 'A header refers to a secret that is not in force, or that no header can have.',
  suspended: 'The webhook was suspended.',
}

/** An outcome that is no success, as a sentence. */
export const failureMessage = (outcome: string): string =>
  MESSAGES[outcome] ?? `The endpoint answered ${outcome}.`

/**
 * Whether the failure is one that the webhook's handling names. No connection counts as `timeout`, and so does nothing
 * sent for want of a secret: either way no answer came.
 */
function isTriggered(outcome: Outcome, triggers: readonly string[]): boolean {
  if (outcome.kind === 'answered')
    return (
      triggers.includes(String(outcome.status)) || triggers.includes(`${Math.floor(outcome.status / 100)}xx`)
    )
  return outcome.kind !== 'addressRefused' && triggers.includes('timeout')
}

/** Milliseconds to the next attempt after the `attempts`-th; `chance` from 0 to 1 spreads it by ±10 %. */
function delayMs({ type, interval }: RetryStrategy, attempts: number, chance: number): number {
  const factor = type === 'linear' ? attempts : 2 ** (attempts - 1)
  return Math.round(interval * 1000 * factor * (0.9 + 0.2 * chance))
}

/**
 * Judges the `attempts`-th attempt, the first being 1. A failure that is not triggered is final. Without a retry
 * strategy the first attempt is the last. 410 says that the endpoint is gone for good: it suspends at once.
 */
export function judge(
  outcome: Outcome,
  attempts: number,
  { triggers, retryStrategy, suspend }: WebhookFailureHandling,
  chance: number,
): Verdict {
  if (outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300) return { state: 'sent' }
  if (outcome.kind === 'answered' && outcome.status === GONE)
    return { state: 'failed', handled: true, suspend: true }
  if (!isTriggered(outcome, triggers)) return { state: 'failed', handled: false, suspend: false }
  if (!retryStrategy || attempts >= retryStrategy.attempts) return { state: 'failed', handled: true, suspend }
  const asked = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0
  const wait = Math.max(asked, delayMs(retryStrategy, attempts, chance))
  return { state: 'pending', delayMs: Math.min(wait, LONGEST_DELAY_MS) }
}
