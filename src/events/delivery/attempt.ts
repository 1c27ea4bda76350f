import { addressProblem, mayCallThisMachine } from '../../platform/outbound/address.ts'
import { retryAfterMs } from '../../platform/outbound/retry-after.ts'
import { signatureHeaders } from '../../platform/outbound/signature.ts'
import { now } from '../../platform/time.ts'
import type { WebhookEvent } from '../contract.ts'
import type { WebhookEndpoint } from '../webhook.ts'
import type { Outcome } from './judge.ts'

/** An endpoint that has not begun to answer after this time has failed (resources brief 7.3). */
export const ATTEMPT_TIMEOUT_MS = 15_000

function headersOf(endpoint: WebhookEndpoint, event: WebhookEvent, body: string): Headers {
  const headers = new Headers({ 'content-type': 'application/json', 'user-agent': 'Bindery' })
  for (const [name, values] of Object.entries(endpoint.headers)) {
    headers.delete(name)
    for (const value of values) headers.append(name, value)
  }
  for (const [name, value] of Object.entries(signatureHeaders(endpoint, event.id, now(), body)))
    headers.set(name, value)
  return headers
}

/** Posts the event to the endpoint once. Never throws: whatever happens is the outcome. */
export async function attempt(
  env: Env,
  endpoint: WebhookEndpoint,
  event: WebhookEvent,
  timeoutMs: number,
): Promise<Outcome> {
  // Looked at again, since what an address may be is decided by where the service runs today.
  if (addressProblem(endpoint.url, mayCallThisMachine(env))) return { kind: 'addressRefused' }
  const body = JSON.stringify(event)
  try {
    const response = await fetch(endpoint.url, {
      method: 'POST',
      headers: headersOf(endpoint, event, body),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    // Unread bodies hold one of the six connections.
    await response.body?.cancel()
    const askedMs = retryAfterMs(response.headers.get('retry-after'), now())
    return { kind: 'answered', status: response.status, retryAfterMs: askedMs }
  } catch (problem) {
    return problem instanceof Error && problem.name === 'TimeoutError'
      ? { kind: 'timeout' }
      : { kind: 'unreachable' }
  }
}
