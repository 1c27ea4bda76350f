// From the Authorization header to who may go on. No round trip but the tenant, read at most every 5 s.
import { requirePermission } from '../../accounts/permissions.ts'
import { readToken, type TokenClaims, tokenOf, unauthenticated } from '../../accounts/tokens.ts'
import type { Caller } from '../context.ts'
import { Refusal } from '../errors.ts'
import { findTenant, type Tenant } from '../tenancy.ts'
import type { Instant } from '../time.ts'
import type { Exchange } from './exchange.ts'
import type { Access } from './route.ts'

export type SignedIn = {
  readonly caller: Caller
  /** Undefined for an administration account. */
  readonly tenant: Tenant | undefined
  readonly signedInAt: Instant
}

/** Who is signed in, if they may call a route of this access: else 401 or 403. */
export async function signedIn(
  exchange: Exchange,
  env: Env,
  access: Exclude<Access, { kind: 'public' }>,
): Promise<SignedIn> {
  const claims = await readToken(env.TOKEN_SECRET, tokenOf(exchange.request), exchange.now)
  const tenant = await tenantOf(exchange, env, claims)
  if (access.kind === 'tenant') {
    if (!tenant)
      throw new Refusal(
        'forbidden',
        'This path serves accounts of a tenant; sign in with tenantName or hostName, or with authenticateAdmin.',
      )
    requirePermission(claims.caller, access.permissions)
  }
  if (access.kind === 'administration' && tenant)
    throw new Refusal(
      'forbidden',
      'This path serves administration accounts; sign in with user name and password only, without a tenant.',
    )
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
