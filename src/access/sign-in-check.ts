// Round trips: the tenant, at most every 5 s; for a long-lived token, the token too.

import type { Instant } from '../kernel/time.ts'
import type { Exchange } from '../platform/http/exchange.ts'
import type { SignedIn } from '../platform/http/permissions.ts'
import { grants, permissionsHeld } from '../platform/http/permissions.ts'
import {
  controlDatabase,
  findAdministrationAccess,
  findTenant,
  findTenantAccess,
  homeDatabase,
  requireServed,
} from '../platform/tenancy.ts'
import { findAdministrationToken, findToken } from './auth-tokens/store.ts'
import { knownAuthToken } from './revocation.ts'
import { accountEpoch } from './store.ts'
import {
  isAuthToken,
  NO_TENANT,
  readToken,
  revoked,
  tenantOfAuthToken,
  tokenOf,
  unauthenticated,
} from './tokens.ts'

/** 401 without a valid token. `requireAccess` decides what the caller may do. */
export async function signedIn(exchange: Exchange, env: Env): Promise<SignedIn> {
  const token = tokenOf(exchange.request)
  return isAuthToken(token)
    ? await withAuthToken(exchange, env, token)
    : await withAccessToken(exchange, env, token)
}

/**
 * 401 when the token's account was revoked, or its tenant was deleted, recreated or revoked. While the control database does not
 * answer (`isStale`), the epoch is read from the account itself: one more round trip.
 */
async function withAccessToken({ calls, now }: Exchange, env: Env, token: string): Promise<SignedIn> {
  const { tenant: claimed, ...claims } = await readToken(env, token, now)
  const { tenant, revocations, isStale } = claimed
    ? await findTenantAccess(env, { locator: claimed.locator }, calls)
    : { tenant: undefined, revocations: await findAdministrationAccess(env, calls), isStale: false }
  if (tenant?.generation !== claimed?.generation || tenant?.tokenEpoch !== claimed?.tokenEpoch)
    throw revoked()
  if (tenant) requireServed(tenant)
  const { accountLocator } = claims.caller
  const epoch =
    tenant && isStale
      ? await accountEpoch(homeDatabase({ env, tenant, calls }), accountLocator)
      : revocations.get(accountLocator)
  if (claims.accountEpoch < (epoch ?? 0)) throw revoked()
  return { ...claims, tenant }
}

const unknown = () =>
  unauthenticated('The token is not valid: it was deleted, has expired, or never was one. Make another.')

/**
 * Finds the account of a long-lived token, with the permissions that both the token and the account have now. 401 for a token
 * that is unknown or has expired, or whose account was deleted or disabled. A locked account's tokens work: otherwise guessing
 * passwords could stop a program that uses a token.
 */
async function withAuthToken({ calls, now }: Exchange, env: Env, token: string): Promise<SignedIn> {
  const locator = tenantOfAuthToken(token)
  if (locator === undefined) throw unknown()
  const isAdministration = locator === NO_TENANT
  const tenant = isAdministration ? undefined : await findTenant(env, { locator }, calls)
  if (!isAdministration && !tenant) throw unknown()
  if (tenant) requireServed(tenant)
  const found = await knownAuthToken(`${tenant?.generation ?? ''} ${token}`, () =>
    tenant
      ? findToken(homeDatabase({ env, tenant, calls }), token)
      : findAdministrationToken(controlDatabase(env, calls), token),
  )
  if (!found || found.expiresAt <= now) throw unknown()
  const { permissions, accountPermissions, expiresAt, ...account } = found
  const ofAccount = permissionsHeld({
    accountType: account.accountType,
    ...(accountPermissions && { permissions: accountPermissions }),
  })
  const held = ofAccount.filter(permission => grants(permissions, permission))
  const caller = { ...account, permissions: held, tokenExpiresAt: expiresAt as Instant }
  return { caller, tenant, signedInAt: undefined, accountEpoch: 0, isPasswordExpired: false }
}
