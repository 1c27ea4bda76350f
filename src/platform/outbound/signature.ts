// Signatures (resources brief 7.4): Standard Webhooks, and the header of the contract's platform.
import { createHmac, randomBytes } from 'node:crypto'
import type { Instant } from '../../kernel/time.ts'
import { SHORTEST_SECRET } from './masking.ts'

const PREFIX = 'whsec_'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Returns 32 random bytes in the form of Standard Webhooks. */
export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** Whether a secret is valid: long enough to be masked, and base64 after `whsec_`. */
export const isSecret = (secret: string): boolean =>
  secret.length >= SHORTEST_SECRET && (!secret.startsWith(PREFIX) || BASE64.test(secret.slice(PREFIX.length)))

const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8')

const hmacOf = (secret: string, text: string) => createHmac('sha256', keyOf(secret)).update(text)

/**
 * How calls to an address are signed. The tag names the secret. `earlierSecrets` were replaced recently: `webhook-signature` has
 * one signature with each, so that a receiver may switch to the new secret later.
 */
export type Signing = {
  readonly hmacEnabled: boolean
  readonly secret?: string
  readonly earlierSecrets?: readonly { readonly secret: string; readonly until: Instant }[]
  readonly tag?: string
}

/**
 * Returns the headers that identify and sign one attempt. `webhook-id` is the same on every attempt, also of unsigned deliveries:
 * receivers use it to drop repeats.
 */
export function signatureHeaders(
  { hmacEnabled, secret, earlierSecrets = [], tag }: Signing,
  id: string,
  at: Instant,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const headers: Record<string, string> = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (!hmacEnabled || secret === undefined) return headers
  const valid = [secret, ...earlierSecrets.filter(({ until }) => at < until).map(earlier => earlier.secret)]
  headers['webhook-signature'] = valid
    .map(key => `v1,${hmacOf(key, `${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ')
  headers['socotra-signature'] = hmacOf(secret, body).digest('hex')
  if (tag !== undefined) headers['socotra-signature-tag'] = tag
  return headers
}
