// One call of an external service over HTTP: the post, its one retry, and the answer's bytes (resources brief 6.4).

import { Refusal } from '../../../kernel/errors.ts'
import { now, retryAfterMs } from '../../../kernel/time.ts'
import { pieces } from '../../../platform/http/body/bytes.ts'
import { addressProblem, mayCallThisMachine } from '../../../platform/outbound/address.ts'
import { signatureHeaders } from '../../../platform/outbound/signature.ts'
import type { Connection } from '../integration.ts'

/** The time limit of a call with its retry. */
export const CALL_TIMEOUT_MS = 20_000

export const LARGEST_BODY = 10_000_000

/** The wait before the retry, unless the answer asks for another one up to the second value. */
const PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

type Ending =
  | { kind: 'answered'; status: number; bytes: Uint8Array; askedMs: number | undefined }
  | { kind: 'timeout' | 'unreachable' | 'cutOff' | 'tooLarge' | 'addressRefused' }
  /** Nothing was sent: a secret that a header refers to is missing. */
  | { kind: 'secretMissing'; reason: string }

/** The HTTP status, or the word for another end. */
export type AttemptMade = { readonly outcome: string; readonly durationMs: number }

export type Exchanged = {
  readonly ending: Ending
  readonly attempts: readonly AttemptMade[]
  readonly durationMs: number
}

export const notSent = (reason: string): Exchanged => ({
  ending: { kind: 'secretMissing', reason },
  attempts: [],
  durationMs: 0,
})

/**
 * Posts the body. Retries once, under the same `Idempotency-Key`, after no connection, 429, 502, 503 or 504. Does not follow redirects.
 * Never throws.
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

/** Undefined for no retry. */
function pauseAfter(ending: Ending): number | undefined {
  if (ending.kind === 'unreachable') return PAUSE_MS
  if (ending.kind !== 'answered' || ![429, 502, 503, 504].includes(ending.status)) return undefined
  const pauseMs = Math.max(PAUSE_MS, ending.askedMs ?? 0)
  return pauseMs <= LONGEST_PAUSE_MS ? pauseMs : undefined
}

/** A rejected request does not count as down. */
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
  // Checked again: the environment of the service decides which addresses are allowed.
  if (addressProblem(connection.url, mayCallThisMachine(env))) return { kind: 'addressRefused' }
  const signal = AbortSignal.timeout(Math.max(1, timeoutMs))
  const broken = (problem: unknown, otherwise: 'unreachable' | 'cutOff'): Ending => ({
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
    return broken(problem, 'unreachable')
  }
  try {
    const bytes = await bytesOf(response)
    if (!bytes) return { kind: 'tooLarge' }
    const askedMs = retryAfterMs(response.headers.get('retry-after'), now())
    return { kind: 'answered', status: response.status, bytes, askedMs }
  } catch (problem) {
    return broken(problem, 'cutOff')
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

/** Undefined when the body is too large; the rest is not read. */
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
