// From the Authorization header to who may go on. No round trip but the tenant, read at most every 5 s; of a long-lived
// token the token itself too.

import type { SignedIn } from '../platform/http/access-check.ts'
import type { Exchange } from '../platform/http/exchange.ts'
import { findAdministrationAccess, findTenantAccess } from '../platform/tenancy.ts'
import { holderOfAuthToken } from './auth-tokens/holder.ts'
import { isAuthToken } from './auth-tokens/text.ts'
import { readToken, revoked, tokenOf } from './tokens.ts'

/** Who is signed in: else 401. Whether they may is asked by access-check.ts. */
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

/** 401 when the token is of a tenant that is gone, recreated or revoked since, or of an account that was revoked. */
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
