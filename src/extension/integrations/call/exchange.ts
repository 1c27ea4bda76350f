// One HTTP call of an external service: the POST, its one retry, and the bytes of the answer (resources brief 6.4).

import { Refusal } from '../../../kernel/errors.ts'
import { now, retryAfterMs } from '../../../kernel/time.ts'
import { pieces } from '../../../platform/http/body/bytes.ts'
import { addressProblem, callWithin, mayCallLocalHost } from '../../../platform/outbound/address.ts'
import { signatureHeaders } from '../../../platform/outbound/signature.ts'
import type { Connection } from '../integration.ts'

/** The time limit of a call including its retry. */
export const CALL_TIMEOUT_MS = 20_000

/** The largest request and the largest response of a call, in bytes. */
export const LARGEST_BODY = 10_000_000

/** The wait before the retry. `Retry-After` can make it longer, up to the second value; after a longer one there is no retry. */
const PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

type Ending =
  | { kind: 'answered'; status: number; bytes: Uint8Array; askedMs: number | undefined }
  | { kind: 'timeout' | 'unreachable' | 'cutOff' | 'tooLarge' | 'addressRefused' }
  /** Nothing was sent: a secret that a header refers to is missing. */
  | { kind: 'secretMissing'; reason: string }

/** `outcome` is the HTTP status, or how the attempt ended without one. */
export type AttemptMade = { readonly outcome: string; readonly durationMs: number }

export type Exchanged = {
  readonly ending: Ending
  readonly attempts: readonly AttemptMade[]
  readonly durationMs: number
}

/** Returns the result of a call that was not sent: a secret of its headers is missing, or must not be sent to that host. */
export const notSent = (reason: string): Exchanged => ({
  ending: { kind: 'secretMissing', reason },
  attempts: [],
  durationMs: 0,
})

/**
 * Posts the body. Retries once, with the same `Idempotency-Key`, if there was no connection or the answer is 429, 502, 503 or 504.
 * Does not follow redirects. Never throws.
 */
export async function exchange(
  env: Env,
  connection: Connection,
  key: string,
  body: string,
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<Exchanged> {
  const begun = now()
  const attempts: AttemptMade[] = []
  const attempt = async (): Promise<Ending> => {
    const at = now()
    const ending = await post(env, connection, key, body, timeoutMs - (at - begun))
    const outcome = ending.kind === 'answered' ? String(ending.status) : ending.kind
    attempts.push({ outcome, durationMs: now() - at })
    return ending
  }
  let ending = await attempt()
  const pauseMs = pauseAfter(ending)
  if (pauseMs !== undefined && now() - begun + pauseMs < timeoutMs) {
    await scheduler.wait(pauseMs)
    ending = await attempt()
  }
  return { ending, attempts, durationMs: now() - begun }
}

/** Milliseconds to wait before the retry; undefined if there is none. */
function pauseAfter(ending: Ending): number | undefined {
  if (ending.kind === 'unreachable') return PAUSE_MS
  if (ending.kind !== 'answered' || ![429, 502, 503, 504].includes(ending.status)) return undefined
  const pauseMs = Math.max(PAUSE_MS, ending.askedMs ?? 0)
  return pauseMs <= LONGEST_PAUSE_MS ? pauseMs : undefined
}

/** Whether the service counts as down. Rejecting a request (4xx except 429) does not. */
export const isDown = (ending: Ending): boolean =>
  ending.kind === 'answered'
    ? ending.status >= 500 || ending.status === 429
    : ['timeout', 'unreachable', 'cutOff'].includes(ending.kind)

async function post(
  env: Env,
  connection: Connection,
  key: string,
  body: string,
  timeoutMs: number,
): Promise<Ending> {
  // Checked when the integration was stored, and again here: the service's environment decides which addresses are allowed.
  if (addressProblem(connection.url, mayCallLocalHost(env))) return { kind: 'addressRefused' }
  return await callWithin(Math.max(1, timeoutMs), signal => postOnce(connection, key, body, signal))
}

async function postOnce(
  connection: Connection,
  key: string,
  body: string,
  signal: AbortSignal,
): Promise<Ending> {
  const endingOfError = (problem: unknown, otherwise: 'unreachable' | 'cutOff'): Ending => ({
    kind: problem instanceof Error && problem.name === 'TimeoutError' ? 'timeout' : otherwise,
  })
  let response: Response
  try {
    response = await fetch(connection.url, {
      method: 'POST',
      headers: headersOf(connection, key, body),
      body,
      redirect: 'manual',
      signal,
    })
  } catch (problem) {
    return endingOfError(problem, 'unreachable')
  }
  try {
    const bytes = await bytesOf(response)
    if (!bytes) return { kind: 'tooLarge' }
    const askedMs = retryAfterMs(response.headers.get('retry-after'), now())
    return { kind: 'answered', status: response.status, bytes, askedMs }
  } catch (problem) {
    return endingOfError(problem, 'cutOff')
  }
}

function headersOf({ headers: own, security }: Connection, key: string, body: string): Headers {
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'Bindery',
  })
  for (const [name, value] of Object.entries(own)) headers.set(name, value)
  headers.set('idempotency-key', key)
  if (security?.hmacEnabled)
    for (const [name, value] of Object.entries(signatureHeaders(security, key, now(), body)))
      headers.set(name, value)
  return headers
}

/** Returns undefined if the body is too large, without reading the rest. */
async function bytesOf({ body }: Response): Promise<Uint8Array | undefined> {
  if (!body) return new Uint8Array()
  const read: Uint8Array[] = []
  try {
    for await (const piece of pieces(body, LARGEST_BODY)) read.push(piece)
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    await body.cancel()
    return undefined
  }
  return Buffer.concat(read)
}
