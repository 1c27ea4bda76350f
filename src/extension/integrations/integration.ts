import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { MASK, SHORTEST_SECRET } from '../../platform/outbound/masking.ts'
import { besideReferences } from '../../platform/outbound/secret-references.ts'
import type { Signing } from '../../platform/outbound/signature.ts'

/** Kinds of services (resources brief 6.1). Bindery calls the first two; the others are stored for clients that look them up. */
export const INTEGRATION_TYPES = ['external_rater', 'data_autofill', 'webhook', 'fe-plugins'] as const

export type IntegrationType = (typeof INTEGRATION_TYPES)[number]

/** How calls are secured. `secureSsl` is stored; certificates are always verified. */
export type Security = Signing & { readonly secureSsl: boolean }

/** The address of a service and the headers that it is sent; sealed as a whole in the database. */
export type Connection = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly security?: Security
}

/** An external service that the tenant has registered. */
export type Integration = Connection & {
  readonly locator: Uuid
  /** Unique in the tenant. */
  readonly name: string
  readonly type: IntegrationType
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

// Which parts of a connection are secret, and how answers and logs show them.
const SECRET_NAME =
  /auth|token|secret|passw|pwd|passphrase|credential|cookie|session|signature|sig$|key|^code$/i

/** A scheme with its value, a JWT, or a long run of letters and digits that nobody would type. */
const SECRET_VALUES = [
  /^(basic|bearer|digest|negotiate|token|apikey|hmac|aws4-hmac-sha256)\s+\S/i,
  /^ey[\w-]{8,}\.[\w-]+\.[\w-]*$/,
  /^(?=.*\d)(?=.*[a-z])[\w+/=~-]{20,}$/i,
]

/** Whether a header or query parameter looks secret, by its name or its value. */
export const looksSecret = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) || SECRET_VALUES.some(pattern => pattern.test(value.trim()))

/** A reference to a secret, perhaps after a scheme: everybody may read it. */
const isReferenceAlone = (value: string): boolean => {
  const beside = besideReferences(value)
  return beside !== value && /^[\w-]*\s*$/.test(beside) && beside.length <= LONGEST_SCHEME
}
const LONGEST_SCHEME = 20

export const maskedHeaders = (headers: Connection['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      looksSecret(name, value) && !isReferenceAlone(value) ? MASK : value,
    ]),
  )

/** The address with `********` for what looks secret in its query. */
export function maskedUrl(address: string): string {
  const url = new URL(address)
  const secret = [...url.searchParams].filter(([name, value]) => looksSecret(name, value))
  if (secret.length === 0) return address
  for (const [name] of secret) url.searchParams.set(name, MASK)
  return url.href
}

/**
 * Texts that no log may contain: the signing secret, what looks secret in headers and address, and the values of secrets that
 * headers contained, of the connection as it was sent.
 */
export function secretsOf({ headers, url, security }: Connection, put: readonly string[] = []): string[] {
  const carried = [...Object.entries(headers), ...new URL(url).searchParams]
    .filter(([name, value]) => looksSecret(name, value))
    .flatMap(([, value]) => [value, value.trim().replace(/^[\w-]+\s+/, '')])
  return [...new Set([security?.secret ?? '', ...put, ...carried])].filter(
    text => text.length >= SHORTEST_SECRET,
  )
}
