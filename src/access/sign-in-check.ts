// Finds the caller by the Authorization header. The only round trip is the tenant, at most every 5 s; for a long-lived token,
// the token too.

import type { SignedIn } from '../platform/http/access-check.ts'
import type { Exchange } from '../platform/http/exchange.ts'
import { findAdministrationAccess, findTenantAccess } from '../platform/tenancy.ts'
import { holderOfAuthToken } from './auth-tokens/holder.ts'
import { isAuthToken } from './auth-tokens/text.ts'
import { readToken, revoked, tokenOf } from './tokens.ts'

/** The caller; 401 without a valid token. access-check.ts decides what they may do. */
export async function signedIn(exchange: Exchange, env: Env): Promise<SignedIn> {
  const token = tokenOf(exchange.request)
  return isAuthToken(token)
    ? await withAuthToken(exchange, env, token)
    : await withAccessToken(exchange, env, token)
}

async function withAuthToken({ calls, now }: Exchange, env: Env, token: string): Promise<SignedIn> {
  const { caller, tenant } = await holderOfAuthToken(env, token, now, calls)
  return { caller, tenant, signedInAt: undefined, accountEpoch: 0, isPasswordExpired: false }
}

/** 401 when the token's tenant was deleted, recreated or revoked, or its account was revoked. */
async function withAccessToken({ calls, now }: Exchange, env: Env, token: string): Promise<SignedIn> {
  const { tenant: claimed, ...claims } = await readToken(env, token, now)
  const { tenant, revocations } = claimed
    ? await findTenantAccess(env, { locator: claimed.locator }, calls)
    : { tenant: undefined, revocations: await findAdministrationAccess(env, calls) }
  if (tenant?.generation !== claimed?.generation || tenant?.tokenEpoch !== claimed?.tokenEpoch)
    throw revoked()
  if (claims.accountEpoch < (revocations.get(claims.caller.accountLocator) ?? 0)) throw revoked()
  return { ...claims, tenant }
}
