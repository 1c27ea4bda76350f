// Access tokens: JWTs, so that a request needs no look-up. Clients read the claims with dots (brief 0.13).
import { jwtVerify, SignJWT } from 'jose'
import type { Caller } from '../platform/context.ts'
import { Refusal } from '../platform/errors.ts'
import { readUuid, type Uuid } from '../platform/locators.ts'
import type { Tenant } from '../platform/tenancy.ts'
import { type Instant, instant } from '../platform/time.ts'

export const TOKEN_LIFE_MS = 60 * 60 * 1000

/** How long after the sign-in a token may be renewed (brief 7). */
export const RENEWABLE_MS = 12 * 60 * 60 * 1000

const SHORTEST_SECRET = 32

/** Who a token is for. Without a tenant it is an administration account's. */
export type TokenHolder = {
  readonly caller: Caller
  /** The person's name. */
  readonly accountName: string
  /** With the zone of its newest configuration, which is for the claim only. */
  readonly tenant:
    | (Pick<Tenant, 'locator' | 'name' | 'type' | 'generation' | 'tokenEpoch'> & { timeZone: string })
    | undefined
  readonly signedInAt: Instant
}

/** What a valid token says. The tenant may be gone, recreated or revoked since. */
export type TokenClaims = {
  readonly caller: Caller
  readonly tenant: { locator: Uuid; generation: number; tokenEpoch: number } | undefined
  readonly signedInAt: Instant
}

let imported: { secret: string; key: Promise<CryptoKey> } | undefined

/** The secret as a key, imported once for an isolate. */
function signingKey(secret: string | undefined): Promise<CryptoKey> {
  if (secret === undefined || secret.length < SHORTEST_SECRET)
    throw new Error(`TOKEN_SECRET must be set, with at least ${SHORTEST_SECRET} characters.`)
  if (imported?.secret !== secret)
    imported = {
      secret,
      key: crypto.subtle.importKey(
        'raw',
        new TextEncoder().encode(secret),
        { name: 'HMAC', hash: 'SHA-256' },
        false,
        ['sign', 'verify'],
      ),
    }
  return imported.key
}

const seconds = (at: number): number => Math.floor(at / 1000)

export async function issueToken(
  secret: string,
  holder: TokenHolder,
  now: Instant,
): Promise<{ token: string; expiresAt: Instant }> {
  const { caller, accountName, tenant, signedInAt } = holder
  const expiresAt = (seconds(now + TOKEN_LIFE_MS) * 1000) as Instant
  const token = await new SignJWT({
    'account.name': accountName,
    'account.type': caller.accountType,
    'account.uuid': caller.accountLocator,
    ...(tenant && {
      'tenant.name': tenant.name,
      'tenant.timezone': tenant.timeZone,
      'tenant.type': tenant.type,
      'tenant.uuid': tenant.locator,
      'tenant.generation': tenant.generation,
      'tenant.epoch': tenant.tokenEpoch,
    }),
    ...(caller.permissions && { permissions: caller.permissions }),
    auth_time: seconds(signedInAt),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(caller.username)
    .setIssuedAt(seconds(now))
    .setExpirationTime(seconds(expiresAt))
    .sign(await signingKey(secret))
  return { token, expiresAt }
}

/** The claims of a token that this service signed and that has not expired; else a 401. */
export async function readToken(secret: string, token: string, now: Instant): Promise<TokenClaims> {
  const key = await signingKey(secret)
  const { payload } = await jwtVerify(token, key, {
    algorithms: ['HS256'],
    requiredClaims: ['sub', 'exp', 'auth_time'],
    currentDate: new Date(now),
  }).catch((problem: { code?: string }) => {
    throw problem.code === 'ERR_JWT_EXPIRED'
      ? unauthenticated('The token has expired; sign in again.')
      : unauthenticated('The token is not valid; sign in with POST /account/authenticate.')
  })
  const accountLocator = readUuid(String(payload['account.uuid']))
  const signedInAt = instant(Number(payload.auth_time) * 1000)
  if (accountLocator === undefined || signedInAt === undefined || payload.sub === undefined)
    throw unauthenticated('The token is of another kind; sign in with POST /account/authenticate.')
  const tenantLocator = readUuid(String(payload['tenant.uuid']))
  return {
    caller: {
      accountLocator,
      username: payload.sub,
      accountType: String(payload['account.type']),
      ...(Array.isArray(payload.permissions) && { permissions: payload.permissions.map(String) }),
    },
    tenant: tenantLocator && {
      locator: tenantLocator,
      generation: Number(payload['tenant.generation']),
      tokenEpoch: Number(payload['tenant.epoch']),
    },
    signedInAt,
  }
}

export const unauthenticated = (message: string): Refusal => new Refusal('unauthenticated', message)

/** The token of an Authorization header: bare, or after `Bearer` or `JWT` in any case (brief 0.7). */
export function tokenOf(request: Request): string {
  const header = request.headers.get('authorization')?.trim() ?? ''
  if (header === '')
    throw unauthenticated(
      'The Authorization header is missing; send the token of POST /account/authenticate.',
    )
  const match = /^(?:(?:bearer|jwt)\s+)?([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header)
  if (!match?.[1] || header.length > 8_192)
    throw unauthenticated('The Authorization header has no token; send `Bearer <token>` or the token alone.')
  return match[1]
}
