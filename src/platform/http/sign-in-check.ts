// From the Authorization header to who may go on. No round trip but the tenant, read at most every 5 s.
import { readToken, type TokenClaims, tokenOf, unauthenticated } from '../../accounts/tokens.ts'
import type { Caller } from '../context.ts'
import { findTenant, type Tenant } from '../tenancy.ts'
import type { Instant } from '../time.ts'
import type { Exchange } from './exchange.ts'

export type SignedIn = {
  readonly caller: Caller
  /** Undefined for an administration account. */
  readonly tenant: Tenant | undefined
  readonly signedInAt: Instant
}

/** Who is signed in: else 401. Whether they may is asked by access-check.ts. */
export async function signedIn(exchange: Exchange, env: Env): Promise<SignedIn> {
  const claims = await readToken(env, tokenOf(exchange.request), exchange.now)
  const tenant = await tenantOf(exchange, env, claims)
  return { caller: claims.caller, tenant, signedInAt: claims.signedInAt }
}

/** The tenant as it is today; 401 when the token is of one that is gone, recreated or revoked since. */
async function tenantOf(
  { calls }: Exchange,
  env: Env,
  { tenant: claimed }: TokenClaims,
): Promise<Tenant | undefined> {
  if (!claimed) return undefined
  const tenant = await findTenant(env, { locator: claimed.locator }, calls)
  if (tenant?.generation !== claimed.generation || tenant.tokenEpoch !== claimed.tokenEpoch)
    throw unauthenticated('The token has been revoked; sign in again.')
  return tenant
}
