// Sign-in by a provider: with an ID token, or with a code at the end of the console's sign-in.
import { invalidRequest } from '../../kernel/errors.ts'
import type { PublicContext } from '../../platform/http/route.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { AuthenticateAdminQuery, AuthenticateResponse } from '../contract.ts'
import { countNames, mergeTenantNames } from '../service.ts'
import { readNamedTenant } from '../store.ts'
import type { ProviderAuthenticateRequest } from './contract.ts'
import { exchangeIdToken } from './exchange.ts'

/** Throws like `exchangeIdToken`, and 400 unless exactly one property names the tenant. */
export async function authenticateByProvider(
  { idToken, nonce, code, ...request }: ProviderAuthenticateRequest,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  if (idToken === undefined) return (await import('./code-flow.ts')).exchangeCode(code!, context)
  return exchangeIdToken(await tenantOf(request, context), idToken, nonce, context)
}

/** Reads the tenant that the query names; undefined if there is none. Throws 400 unless exactly one property names it. */
export async function tenantOf(
  query: AuthenticateAdminQuery,
  { env, calls }: PublicContext,
): Promise<Tenant | undefined> {
  const named = mergeTenantNames(query, {})
  if (countNames(named) !== 1)
    throw invalidRequest("Name the tenant by exactly one of 'tenantName', 'hostName' and 'tenantLocator'.")
  return await readNamedTenant(env, named, calls)
}
