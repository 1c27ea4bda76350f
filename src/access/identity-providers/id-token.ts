// Verifies ID tokens (OpenID Connect Core 1.0, 3.1.3.7).
import { createHash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { unauthenticated } from '../../kernel/errors.ts'
import { isStorable } from '../../kernel/text.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { providerKeys } from './discovery.ts'

/** Accepted algorithms. None uses a secret that the provider shares with its clients. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

/** Allowed difference between the clocks of provider and service. */
const TOLERANCE_SECONDS = 60

/** Older tokens are rejected regardless of their expiry, so used tokens need not be remembered for longer. */
const LONGEST_LIFE_SECONDS = 24 * 60 * 60

export type Verified = {
  readonly issuer: string
  readonly subject: string
  readonly claims: JWTPayload
  /** SHA-256 of the signed part. The signature itself may have several spellings. */
  readonly hash: string
  /** From then on, the token would be rejected as expired. */
  readonly expiresAt: Instant
}

const invalidIdToken = (why: string) => unauthenticated(`The ID token is rejected: ${why}.`)

/** Returns the issuer that the token claims, unverified. Throws 401 if it is not a JWT. */
export function claimedIssuer(idToken: string): string {
  try {
    return String(decodeJwt(idToken).iss ?? '')
  } catch {
    throw invalidIdToken('it is not a JSON Web Token')
  }
}

type Expected = {
  readonly issuer: string
  readonly clientId: string
  readonly audience: string
}

/** Whether the type is absent or JWT (RFC 7519). An access token (`at+jwt`) or logout token does not sign anyone in. */
const isIdTokenType = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ))

/** Throws 401 with the reason for a token that the provider did not create for this client or that is not valid now. */
export async function verifyIdToken(
  env: Env,
  { issuer, clientId, audience }: Expected,
  idToken: string,
  nonce: string | undefined,
): Promise<Verified> {
  const header = headerOf(idToken)
  if (!ALGORITHMS.includes(String(header.alg)))
    throw invalidIdToken(`it must be signed with one of ${ALGORITHMS.join(', ')}`)
  if (!isIdTokenType(header.typ)) throw invalidIdToken('it is not an ID token')
  const keys = await providerKeys(env, issuer, typeof header.kid === 'string' ? header.kid : undefined)
  const at = now()
  const { payload } = await jwtVerify(idToken, keys, {
    algorithms: ALGORITHMS,
    issuer,
    audience,
    requiredClaims: ['sub', 'exp', 'iat'],
    clockTolerance: TOLERANCE_SECONDS,
    maxTokenAge: LONGEST_LIFE_SECONDS,
    currentDate: new Date(at),
  }).catch(problem => {
    throw invalidIdToken(reasonOf(problem))
  })
  const { sub, aud, azp } = payload
  // Two texts that a database stores as one would be one account.
  if (typeof sub !== 'string' || sub === '' || sub.length > 255 || !isStorable(sub))
    throw invalidIdToken("'sub' must be 1 to 255 characters, without NUL and half of a surrogate pair")
  if (azp !== undefined && azp !== clientId) throw invalidIdToken("'azp' names another client")
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined)
    throw invalidIdToken("it has several audiences and no 'azp'")
  if (payload.events !== undefined) throw invalidIdToken('it is not an ID token')
  if (payload.nonce !== nonce)
    throw invalidIdToken(
      payload.nonce === undefined ? "it has no 'nonce'" : "'nonce' differs from the one that the client sent",
    )
  const end = Math.min(payload.exp!, payload.iat! + LONGEST_LIFE_SECONDS) + TOLERANCE_SECONDS
  const signed = idToken.slice(0, idToken.lastIndexOf('.'))
  return {
    issuer,
    subject: sub,
    claims: payload,
    hash: createHash('sha256').update(signed).digest('hex'),
    // Seconds are rounded down when they are compared.
    expiresAt: ((end + 1) * 1000) as Instant,
  }
}

function headerOf(idToken: string): Record<string, unknown> {
  try {
    return decodeProtectedHeader(idToken)
  } catch {
    throw invalidIdToken('it is not a JSON Web Token')
  }
}

function reasonOf(problem: unknown): string {
  if (problem instanceof errors.JWTExpired) return 'it has expired'
  if (problem instanceof errors.JWTClaimValidationFailed)
    return `'${problem.claim}' is missing or has a wrong value`
  if (problem instanceof errors.JWKSNoMatchingKey) return 'the provider does not have its key'
  if (problem instanceof errors.JWKSMultipleMatchingKeys)
    return "it does not say which of the provider's keys signed it"
  if (problem instanceof errors.JOSEError) return 'its signature or form is wrong'
  return 'the key of the provider cannot be used'
}
