import { secretsOf } from '../../../extension/integrations/integration.ts'
import { storable } from '../../../kernel/text.ts'
import { type Instant, now, retryAfterMs } from '../../../kernel/time.ts'
import type { AttemptMade, WebhookEndpoint } from '../../../platform/events/tables.ts'
import { addressProblem, mayCallThisMachine } from '../../../platform/outbound/address.ts'
import { withoutSecrets } from '../../../platform/outbound/masking.ts'
import { signatureHeaders } from '../../../platform/outbound/signature.ts'
import type { Resolved } from '../../../reference/secrets/sending.ts'
import { type Outcome, outcomeText } from './serve.ts'

/** An endpoint that has not answered after this time has failed (resources brief 7.3). */
export const ATTEMPT_TIMEOUT_MS = 15_000

/** Bytes that are kept of what an endpoint answers. */
export const MOST_EXCERPT_BYTES = 4_096

/** What is posted: a JSON text under the id that every repeat has too. */
export type Post = { readonly id: string; readonly body: string }

/** The endpoint's headers as they are to be sent now, or why they cannot be. */
export type SentHeaders = Resolved<WebhookEndpoint['headers']>

export type Attempted = { readonly outcome: Outcome; readonly made: AttemptMade }

/** Posts to the endpoint once. Never throws: whatever happens is the outcome. */
export async function attempt(
  env: Env,
  endpoint: WebhookEndpoint,
  headers: SentHeaders,
  post: Post,
  timeoutMs = ATTEMPT_TIMEOUT_MS,
): Promise<Attempted> {
  const at = now()
  const { outcome, excerpt } = await posted(env, endpoint, headers, post, timeoutMs)
  const made = { at, outcome: outcomeText(outcome), durationMs: now() - at }
  if (excerpt === undefined || 'problem' in headers) return { outcome, made }
  const shown = withoutSecrets(storable(excerpt), secretsIn(endpoint, headers))
  return { outcome, made: { ...made, excerpt: shown } }
}

type Answered = { readonly outcome: Outcome; readonly excerpt?: string | undefined }

async function posted(
  env: Env,
  endpoint: WebhookEndpoint,
  headers: SentHeaders,
  { id, body }: Post,
  timeoutMs: number,
): Promise<Answered> {
  // Looked at again, since what an address may be is decided by where the service runs today.
  if (addressProblem(endpoint.url, mayCallThisMachine(env))) return { outcome: { kind: 'addressRefused' } }
  if ('problem' in headers) return { outcome: { kind: 'secretMissing' } }
  try {
    const response = await fetch(endpoint.url, {
      method: 'POST',
      headers: headersOf(endpoint, headers.headers, id, now(), body),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const askedMs = retryAfterMs(response.headers.get('retry-after'), now())
    return {
      outcome: { kind: 'answered', status: response.status, retryAfterMs: askedMs },
      excerpt: await excerptOf(response),
    }
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

/**
 * The beginning of the answer; undefined for none. The rest stays unread, and one that breaks off or does not come in
 * time is as long as it is: the status has come.
 */
async function excerptOf({ body }: Response): Promise<string | undefined> {
  if (!body) return undefined
  const reader = body.getReader()
  const read: Uint8Array[] = []
  let bytes = 0
  try {
    while (bytes < MOST_EXCERPT_BYTES) {
      const { done, value } = await reader.read()
      if (done) break
      read.push(value)
      bytes += value.length
    }
  } catch {
    // What came before is kept.
  }
  // Unread bodies hold one of the connections.
  await reader.cancel().catch(() => undefined)
  const whole = Buffer.concat(read)
  return bytes === 0 ? undefined : new TextDecoder().decode(whole.subarray(0, MOST_EXCERPT_BYTES))
}

/** What must not be kept, should the endpoint send it back. */
function secretsIn(endpoint: WebhookEndpoint, headers: Exclude<SentHeaders, { problem: string }>): string[] {
  const { url, hmacEnabled, secret, secureSsl } = endpoint
  const flat = Object.entries(headers.headers).map(([name, values]) => [name, values.join(', ')])
  return secretsOf(
    {
      url,
      headers: Object.fromEntries(flat) as Record<string, string>,
      ...(secret !== undefined && { security: { hmacEnabled, secret, secureSsl } }),
    },
    headers.values,
  )
}
