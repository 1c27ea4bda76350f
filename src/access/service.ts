import { forbidden, invalidRequest, tokenRevoked, unauthenticated } from '../kernel/errors.ts'
import type { PublicContext, SignedInContext } from '../platform/http/route.ts'
import { homeDatabase, type Tenant } from '../platform/tenancy.ts'
import * as contract from './contract.ts'
import { PLAIN_RULES } from './password-rules/rules.ts'
import { authentication, refuseUnknownTenant, signInAdministrator, signInToTenant } from './sign-in.ts'
import {
  readAccount,
  readAdministrator,
  readNamedTenant,
  type TenantNamed,
  ZONE_WITHOUT_CONFIGURATION,
} from './store.ts'

/** Time after the sign-in in which a token can be renewed (brief 7). */
const RENEWABLE_MS = 12 * 60 * 60 * 1000

/** Signs in a user of the named tenant. Without a named tenant, signs in an administration account. */
export async function authenticate(
  query: contract.AuthenticateQuery,
  body: contract.AuthenticateRequest | undefined,
  context: PublicContext,
): Promise<contract.AuthenticateResponse> {
  const credentials = requireCredentials(body, context)
  const named = mergeTenantNames(query, credentials)
  const key = { username: credentials.username }
  const { env, calls } = context
  if (countNames(named) === 0)
    return signInAdministrator(await readAdministrator(env, key, calls), credentials, context)
  const tenant = await readNamedTenant(env, named, calls)
  if (!tenant) return refuseUnknownTenant(credentials, 1, context)
  const { account, ...more } = await readForPassword(tenant, key, context)
  return signInToTenant({ ...tenant, ...more }, [account], credentials, context)
}

/**
 * Reads an account for a sign-in by password. Where a provider replaces passwords, accounts of the tenant have none;
 * administration accounts keep theirs.
 */
async function readForPassword(tenant: Tenant, key: { username: string }, { env, calls }: PublicContext) {
  const { account, ...more } = await readAccount(homeDatabase({ env, tenant, calls }), key, tenant)
  return { ...more, account: account && more.isPasswordOff ? { ...account, passwordHash: null } : account }
}

const ADMINISTRATOR_TYPES: ReadonlySet<string> = new Set([
  'account.tenant.admin',
  'account.test.tenant.admin',
])

/**
 * Signs in an administrator of the tenant that exactly one property names: an account of the tenant, or an administration account,
 * which then has the rights of that tenant's administrator and no more.
 */
export async function authenticateAdmin(
  query: contract.AuthenticateAdminQuery,
  body: contract.AuthenticateRequest | undefined,
  context: PublicContext,
): Promise<contract.AuthenticateResponse> {
  const credentials = requireCredentials(body, context)
  const named = mergeTenantNames(query, credentials)
  if (countNames(named) !== 1)
    throw invalidRequest("Name the tenant by exactly one of 'tenantName', 'hostName' and 'tenantLocator'.")
  const { env, calls } = context
  const tenant = await readNamedTenant(env, named, calls)
  if (!tenant) return refuseUnknownTenant(credentials, 2, context)
  const key = { username: credentials.username }
  const [{ account, ...more }, administrator] = await Promise.all([
    readForPassword(tenant, key, context),
    readAdministrator(env, key, calls),
  ])
  const own = account && ADMINISTRATOR_TYPES.has(account.accountType) ? account : undefined
  // The tenant's account first. A password that is its own is then never tried on the administration account of the same name:
  // otherwise a tenant's administrator could guess the password of the administration account without a failure being counted.
  return signInToTenant({ ...tenant, ...more }, [own, administrator], credentials, context)
}

/** Issues a new token with the current rights of the account. Possible until 12 hours after the sign-in. */
export async function renewAuthentication(context: SignedInContext): Promise<contract.AuthenticateResponse> {
  const { env, calls, tenant, caller, signedInAt, accountEpoch, now } = context
  if (signedInAt === undefined)
    throw forbidden(
      'A long-lived token cannot be renewed: it is valid until it expires. Create another with POST /auth/users/tokens.',
    )
  if (now - signedInAt >= RENEWABLE_MS)
    throw unauthenticated('The sign-in was more than 12 hours ago; sign in again.')
  const key = { locator: caller.accountLocator }
  const { account: own, ...more } = tenant
    ? await readAccount(homeDatabase({ env, tenant, calls }), key, tenant)
    : { account: undefined, timeZone: ZONE_WITHOUT_CONFIGURATION, rules: PLAIN_RULES }
  const account = own ?? (await readAdministrator(env, key, calls))
  if (!account || account.disabledAt !== null)
    throw unauthenticated('The account no longer exists; sign in with another one.')
  // Compares with the row, because the data of isolates may be 5 s old and the new token outlives that.
  if (accountEpoch < account.tokenEpoch) throw tokenRevoked()
  return authentication(context, account, tenant && { ...tenant, ...more }, signedInAt)
}

/** Returns the credentials. The body is optional: without one, the header may contain the user name and password (RFC 7617). */
function requireCredentials(
  body: contract.AuthenticateRequest | undefined,
  { requestHeaders }: PublicContext,
): contract.AuthenticateRequest {
  if (body) return body
  const basic = basicCredentialsOf(requestHeaders)
  if (!basic)
    throw invalidRequest(
      'The body is empty; send {"username": …, "password": …} as JSON, and tenantName or hostName for a tenant.',
    )
  const { success, data } = contract.AuthenticateRequest.safeParse(basic)
  if (success) return data
  throw invalidRequest(
    'The Authorization header has no valid user name and password. Send `Basic` and the base64 of `username:password` in UTF-8.',
  )
}

const BASIC = /^basic\s+([\w+/-]+=*)$/i

/** Returns the user name and password of the header (RFC 7617), or undefined without them. Only a sign-in accepts them. */
function basicCredentialsOf(headers: Headers): { username: string; password: string } | undefined {
  const header = headers.get('authorization')?.trim() ?? ''
  const encoded = header.length > 8_192 ? undefined : BASIC.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const [username = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return { username, password: rest.join(':') }
}

const PROPERTIES = ['tenantName', 'hostName', 'tenantLocator'] as const

/** Merges query and body. Throws 400 when they give one property two values. */
export function mergeTenantNames(
  query: contract.AuthenticateAdminQuery,
  body: contract.AuthenticateAdminQuery,
): TenantNamed {
  const value = (property: (typeof PROPERTIES)[number]): string | undefined => {
    const [a, b] = [query[property], body[property]]
    if (a !== undefined && b !== undefined && a !== b)
      throw invalidRequest(
        `The query and the body give different values for '${property}'; send one of them.`,
      )
    return a ?? b
  }
  return {
    tenantName: value('tenantName'),
    hostName: value('hostName')?.toLowerCase(),
    tenantLocator: value('tenantLocator')?.toLowerCase(),
  }
}

/** Counts the given properties. */
export const countNames = (named: TenantNamed): number =>
  PROPERTIES.filter(property => named[property] !== undefined).length
