// Access tokens are JWTs, so a request needs no look-up. Clients read claims with dots in their names (brief 0.13). An isolate
// imports this file for the first access token: public routes and long-lived tokens do not need it.
import { jwtVerify, SignJWT } from 'jose'
import { type Refusal, tokenExpired, unauthenticated } from '../kernel/errors.ts'
import { readUuid, type Uuid } from '../kernel/locators.ts'
import { type Instant, instant } from '../kernel/time.ts'
import type { Caller } from '../platform/context.ts'
import type { Tenant } from '../platform/tenancy.ts'
import { TOKEN_ALGORITHM, type TokenKeys, tokenKeys } from '../platform/token-keys.ts'
import { TOKEN_LIFE_MS } from './tokens.ts'

/** The holder of a token. Without a tenant, it is an administration account. */
export type TokenHolder = {
  readonly caller: Caller
  readonly accountName: string
  /** Number of revocations of the account. Default 0. */
  readonly accountEpoch?: number
  /** Whether the token can only be used to set a new password. */
  readonly isPasswordExpired?: boolean
  readonly isAdministration?: boolean
  /** `timeZone` is that of the newest configuration and is used only for the claim. */
  readonly tenant:
    | (Pick<Tenant, 'locator' | 'name' | 'type' | 'generation' | 'tokenEpoch'> & { timeZone: string })
    | undefined
  readonly signedInAt: Instant
}

/** The claims of a token. The tenant or account may have been deleted, recreated or revoked since. */
export type TokenClaims = {
  readonly caller: Caller
  readonly accountEpoch: number
  readonly isPasswordExpired: boolean
  /** Whether the account is an administration account, which may be signed in to a tenant. */
  readonly isAdministration: boolean
  readonly tenant: { locator: Uuid; generation: number; tokenEpoch: number } | undefined
  readonly signedInAt: Instant
}

const seconds = (at: number): number => Math.floor(at / 1000)

/** Signs an access token. It expires at the whole second that is at most an hour after `now`. */
export async function issueToken(
  env: TokenKeys,
  holder: TokenHolder,
  now: Instant,
): Promise<{ token: string; expiresAt: Instant }> {
  const { caller, accountName, accountEpoch = 0, tenant, signedInAt } = holder
  const { signing } = await tokenKeys(env)
  const expiresAt = (seconds(now + TOKEN_LIFE_MS) * 1000) as Instant
  const token = await new SignJWT({
    'account.name': accountName,
    'account.type': caller.accountType,
    'account.uuid': caller.accountLocator,
    ...(accountEpoch > 0 && { 'account.epoch': accountEpoch }),
    ...(holder.isPasswordExpired && { 'password.expired': true }),
    ...(holder.isAdministration && { 'account.administration': true }),
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
    .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: 'JWT', kid: signing.kid })
    .setSubject(caller.username)
    .setIssuedAt(seconds(now))
    .setExpirationTime(seconds(expiresAt))
    .sign(signing.key)
  return { token, expiresAt }
}

/** What a token says, and when it expires (epoch milliseconds). */
export type VerifiedToken = { readonly claims: TokenClaims; readonly expiresAt: number }

/** Verifies a token. Throws 401 for a token that has expired or that this service did not sign. */
export async function verifyToken(env: TokenKeys, token: string, now: Instant): Promise<VerifiedToken> {
  const { verifying } = await tokenKeys(env)
  const keyOf = ({ kid = '' }: { kid?: string }): CryptoKey => {
    const key = verifying.get(kid)
    if (!key) throw invalidTokenRefusal()
    return key
  }
  const { payload } = await jwtVerify(token, keyOf, {
    algorithms: [TOKEN_ALGORITHM],
    requiredClaims: ['sub', 'exp', 'auth_time'],
    currentDate: new Date(now),
  }).catch((problem: { code?: string }) => {
    throw problem.code === 'ERR_JWT_EXPIRED' ? tokenExpired() : invalidTokenRefusal()
  })
  const accountLocator = readUuid(String(payload['account.uuid']))
  const signedInAt = instant(Number(payload.auth_time) * 1000)
  if (accountLocator === undefined || signedInAt === undefined || payload.sub === undefined)
    throw unauthenticated('The token is of another kind. Sign in with POST /account/authenticate.')
  const tenantLocator = readUuid(String(payload['tenant.uuid']))
  const claims: TokenClaims = {
    caller: {
      accountLocator,
      username: payload.sub,
      accountType: String(payload['account.type']),
      ...(Array.isArray(payload.permissions) && { permissions: payload.permissions.map(String) }),
    },
    accountEpoch: Number(payload['account.epoch'] ?? 0),
    isPasswordExpired: payload['password.expired'] === true,
    isAdministration: tenantLocator === undefined || payload['account.administration'] === true,
    tenant: tenantLocator && {
      locator: tenantLocator,
      generation: Number(payload['tenant.generation']),
      tokenEpoch: Number(payload['tenant.epoch']),
    },
    signedInAt,
  }
  return { claims, expiresAt: payload.exp! * 1000 }
}

const invalidTokenRefusal = (): Refusal =>
  unauthenticated('The token is not valid; sign in with POST /account/authenticate.')
