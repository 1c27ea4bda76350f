// Checks tokens. Round trips: one for the tenant, at most every 5 s, and for a long-lived token one for the token.

import { tokenExpired, tokenRevoked, unauthenticated, unavailable } from '../kernel/errors.ts'
import { Memo } from '../kernel/maps.ts'
import type { Instant } from '../kernel/time.ts'
import type { Exchange } from '../platform/http/exchange.ts'
import type { SignedIn } from '../platform/http/permissions.ts'
import { grants, permissionsHeld } from '../platform/http/permissions.ts'
import { requireNotLimited } from '../platform/http/rate-limits.ts'
import { isAuthToken } from '../platform/outbound/masking.ts'
import {
  ADMINISTRATION,
  controlDatabase,
  findTenant,
  findTenantAccess,
  homeDatabase,
  requireServed,
} from '../platform/tenancy.ts'
import type { TokenKeys } from '../platform/token-keys.ts'
import type { TokenClaims, VerifiedToken } from './access-tokens.ts'
import { findAdministrationToken, findToken } from './auth-tokens/store.ts'
import { knownAuthToken, wasTokenFound } from './revocation.ts'
import { NO_TENANT, tenantOfAuthToken } from './tokens.ts'

const AUTHORIZATION = /^(?:(?:bearer|jwt)\s+)?([\w-]+\.[\w-]+\.[\w-]+|bdy_[0-9A-Za-z]+)$/i

/** Returns the token of the header. Accepts a bare token, or one after `Bearer` or `JWT` in any case (brief 0.7). */
export function tokenOf(request: Request): string {
  const header = request.headers.get('authorization')?.trim() ?? ''
  if (header === '')
    throw unauthenticated(
      'The Authorization header is missing; send the token of POST /account/authenticate.',
    )
  const match = header.length > 8_192 ? null : AUTHORIZATION.exec(header)
  if (!match?.[1])
    throw unauthenticated(
      'The Authorization header contains no token of Bindery; send `Bearer <token>`, or the token alone, with the token of POST /account/authenticate.',
    )
  return match[1]
}

/** Throws 401 without a valid token. `requireAccess` decides what the caller may do. */
export async function signedIn(exchange: Exchange, env: Env): Promise<SignedIn> {
  const token = tokenOf(exchange.request)
  return isAuthToken(token)
    ? await withAuthToken(exchange, env, token)
    : await withAccessToken(exchange, env, token)
}

/** Number of verified tokens that an isolate remembers. The least recently used is dropped first. */
const MOST_VERIFIED = 1_000

const verified = new Memo<string, VerifiedToken>(MOST_VERIFIED)
let verifiedWith: string | undefined

/** Returns what an access token says. Throws 401 for a token that has expired or that this service did not sign. */
export async function readToken(env: TokenKeys, token: string, now: Instant): Promise<TokenClaims> {
  if (verifiedWith !== env.TOKEN_KEYS) verified.clear()
  verifiedWith = env.TOKEN_KEYS
  const known = verified.get(token)
  if (known && known.expiresAt <= now) throw tokenExpired()
  const read = known ?? (await (await import('./access-tokens.ts')).verifyToken(env, token, now))
  verified.set(token, read)
  return read.claims
}

/**
 * Throws 401 when the token's account was revoked, or its tenant was deleted, recreated or revoked. This isolate may not know of
 * it yet, so the tenant's databases check the token, too (platform/tenancy/fence.ts). They do not know administration accounts,
 * whose tokens therefore get 503 while the control database does not respond (`isStale`).
 */
async function withAccessToken({ calls, now }: Exchange, env: Env, token: string): Promise<SignedIn> {
  const { tenant: claimed, isAdministration, ...claims } = await readToken(env, token, now)
  const locator = claimed?.locator ?? ADMINISTRATION
  const { tenant, revocations, isStale } = await findTenantAccess(env, { locator }, calls)
  if (tenant?.generation !== claimed?.generation || tenant?.tokenEpoch !== claimed?.tokenEpoch)
    throw tokenRevoked()
  if (tenant) requireServed(tenant)
  const { accountLocator } = claims.caller
  if (claims.accountEpoch < (revocations.get(accountLocator) ?? 0)) throw tokenRevoked()
  if (isAdministration && isStale)
    throw unavailable('Administration accounts cannot be checked at the moment; try again in a minute.')
  calls.token = { accountLocator, epoch: claims.accountEpoch }
  return { ...claims, tenant, isStale }
}

const unknownTokenRefusal = () =>
  unauthenticated('The token is not valid: it was deleted, has expired, or never existed. Create another.')

/**
 * Finds the account of a long-lived token, with the permissions that both the token and the account have now. Throws 401 for a
 * token that is unknown or has expired, or whose account was deleted or disabled. This isolate may not know of it for 5 s, so the
 * home shard checks the token with each batch, too. Tokens of a locked account work: otherwise
 * guessing passwords could stop a program that uses a token.
 */
async function withAuthToken({ calls, now, request }: Exchange, env: Env, token: string): Promise<SignedIn> {
  const locator = tenantOfAuthToken(token)
  if (locator === undefined) throw unknownTokenRefusal()
  if (!wasTokenFound(token)) requireNotLimited(env, request)
  const isAdministration = locator === NO_TENANT
  const tenant = isAdministration ? undefined : await findTenant(env, { locator }, calls)
  if (!isAdministration && !tenant) throw unknownTokenRefusal()
  if (tenant) requireServed(tenant)
  const found = await knownAuthToken(String(tenant?.generation ?? ''), token, () =>
    tenant
      ? findToken(homeDatabase({ env, tenant, calls }), token, tenant)
      : findAdministrationToken(controlDatabase(env, calls), token),
  )
  if (!found || found.expiresAt <= now) throw unknownTokenRefusal()
  const { permissions, accountPermissions, expiresAt, tokenLocator, ...account } = found
  if (tokenLocator) calls.token = { tokenLocator }
  const ofAccount = permissionsHeld({
    accountType: account.accountType,
    ...(accountPermissions && { permissions: accountPermissions }),
  })
  const held = ofAccount.filter(permission => grants(permissions, permission))
  const caller = { ...account, permissions: held, tokenExpiresAt: expiresAt as Instant }
  return { caller, tenant, signedInAt: undefined, accountEpoch: 0, isPasswordExpired: false }
}
