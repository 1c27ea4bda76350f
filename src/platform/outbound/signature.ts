// Signatures (resources brief 7.4): Standard Webhooks, and beside it the header of the contract's platform.
import { createHmac, randomBytes } from 'node:crypto'
import type { Instant } from '../time.ts'

const PREFIX = 'whsec_'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** A new secret: 32 random bytes in the form of Standard Webhooks. */
export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** Whether the secret can sign: any text, but what begins with `whsec_` must go on in base64. */
export const isSecret = (secret: string): boolean =>
  !secret.startsWith(PREFIX) || BASE64.test(secret.slice(PREFIX.length))

const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8')

/** How what is sent to an address is signed. The tag names the secret. */
export type Signing = { readonly hmacEnabled: boolean; readonly secret?: string; readonly tag?: string }

/**
 * Headers that identify and sign one attempt. `webhook-id` is the same on every attempt, and unsigned deliveries
 * have it too: receivers drop repeats by it.
 */
export function signatureHeaders(
  { hmacEnabled, secret, tag }: Signing,
  id: string,
  at: Instant,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const headers: Record<string, string> = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (!hmacEnabled || secret === undefined) return headers
  const key = keyOf(secret)
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  headers['webhook-signature'] = `v1,${signed}`
  headers['socotra-signature'] = createHmac('sha256', key).update(body).digest('hex')
  if (tag !== undefined) headers['socotra-signature-tag'] = tag
  return headers
}
