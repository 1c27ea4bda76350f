// Signing in: as a user of a tenant, as an administration account, as an administrator of one tenant; and
// renewing a token. Whoever fails hears the same, whatever was wrong, after the same work.
import type { NewEvent } from '../events/outbox.ts'
import { commit } from '../platform/commit.ts'
import type { Caller } from '../platform/context.ts'
import type { Query } from '../platform/database.ts'
import { Refusal } from '../platform/errors.ts'
import type { PublicContext, SignedInContext } from '../platform/http/route.ts'
import type { Uuid } from '../platform/locators.ts'
import { HOME_SHARD, shardDatabase, type Tenant, tenantNow } from '../platform/tenancy.ts'
import type { Instant } from '../platform/time.ts'
import type {
  AuthenticateAdminQuery,
  AuthenticateQuery,
  AuthenticateRequest,
  AuthenticateResponse,
} from './contract.ts'
import { hashPassword, needsRehash, verifyPassword } from './passwords.ts'
import {
  ADMINISTRATION_ACCOUNT,
  readAccount,
  readAdministrator,
  readNamedTenant,
  replaceAdministratorHash,
  replaceHash,
  type StoredAccount,
} from './store.ts'
import { namings, tenantNamed } from './tenant-named.ts'
import { issueToken, RENEWABLE_MS, type TokenHolder, unauthenticated } from './tokens.ts'

const TENANT_ADMINISTRATOR = 'account.tenant.admin'

/** Whom the stream names when nobody of that name exists. */
const NOBODY = '00000000-0000-4000-8000-000000000000' as Uuid

/** A user of the tenant that query or body name; with neither, an administration account. */
export async function authenticate(
  query: AuthenticateQuery,
  body: AuthenticateRequest | undefined,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const credentials = neededCredentials(body)
  const named = tenantNamed(query, credentials)
  if (namings(named) === 0) return signInAdministrator(credentials, context)
  const { env, calls } = context
  const tenant = await readNamedTenant(env, named, calls)
  if (!tenant) return refuseUnknownTenant(credentials, context)
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  const { account, timeZone } = await readAccount(database, { username: credentials.username })
  return signInToTenant({ ...tenant, timeZone }, account ? [account] : [], credentials, context)
}

/**
 * An administrator of the tenant that exactly one property names: one of its own, or an administration account,
 * which then is an administrator of that tenant and nothing more.
 */
export async function authenticateAdmin(
  query: AuthenticateAdminQuery,
  body: AuthenticateRequest | undefined,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const credentials = neededCredentials(body)
  const named = tenantNamed(query, credentials)
  if (namings(named) !== 1)
    throw new Refusal(
      'invalidRequest',
      "Name the tenant by exactly one of 'tenantName', 'hostName' and 'tenantLocator'.",
    )
  const { env, calls } = context
  const tenant = await readNamedTenant(env, named, calls)
  if (!tenant) return refuseUnknownTenant(credentials, context)
  const key = { username: credentials.username }
  const [{ account, timeZone }, administrator] = await Promise.all([
    readAccount(shardDatabase(env, tenant, HOME_SHARD, calls), key),
    readAdministrator(env, key, calls),
  ])
  const accounts = [
    ...(administrator ? [administrator] : []),
    ...(account?.accountType === TENANT_ADMINISTRATOR ? [account] : []),
  ]
  return signInToTenant({ ...tenant, timeZone }, accounts, credentials, context)
}

/**
 * A new token for the account of a valid one, as the account is now; until 12 hours after the password was
 * given.
 */
export async function renewAuthentication(context: SignedInContext): Promise<AuthenticateResponse> {
  const { env, calls, tenant, caller, signedInAt, now } = context
  if (now - signedInAt >= RENEWABLE_MS)
    throw unauthenticated('The sign-in was more than 12 hours ago; sign in again.')
  const key = { locator: caller.accountLocator }
  const read = tenant && (await readAccount(shardDatabase(env, tenant, HOME_SHARD, calls), key))
  const account = read?.account ?? (await readAdministrator(env, key, calls))
  if (!account) throw unauthenticated('The account is no more; sign in with another.')
  return authentication(
    context,
    account,
    tenant && read && { ...tenant, timeZone: read.timeZone },
    signedInAt,
  )
}

type Credentials = { readonly username: string; readonly password: string }

function neededCredentials(body: AuthenticateRequest | undefined): AuthenticateRequest {
  if (body) return body
  throw new Refusal(
    'invalidRequest',
    'The body is empty; send {"username": …, "password": …} as JSON, and tenantName or hostName for a tenant.',
  )
}

const signInFailed = (): Refusal =>
  new Refusal('signInFailed', 'Tenant, user name or password is wrong, or the account is locked.')

async function refuseUnknownTenant({ password }: Credentials, { env }: PublicContext): Promise<never> {
  await verifyPassword(password, undefined, env.PASSWORD_PEPPER)
  throw signInFailed()
}

async function signInAdministrator(
  { username, password }: Credentials,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const { env, calls } = context
  const account = await readAdministrator(env, { username }, calls)
  if (!(await verifyPassword(password, account?.passwordHash, env.PASSWORD_PEPPER)) || !account)
    throw signInFailed()
  if (needsRehash(account.passwordHash))
    await replaceAdministratorHash(env, account, await hashPassword(password, env.PASSWORD_PEPPER), calls)
  return authentication(context, account, undefined, context.now)
}

/** A tenant with the zone of its newest configuration. */
type ZonedTenant = Tenant & { readonly timeZone: string }

/**
 * Signs in the first of the accounts of that user name that has the password; what happened is in the tenant's
 * stream either way.
 */
async function signInToTenant(
  tenant: ZonedTenant,
  accounts: readonly StoredAccount[],
  { username, password }: Credentials,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const { env } = context
  let account: StoredAccount | undefined
  for (const candidate of accounts.length > 0 ? accounts : [undefined])
    if (!account && (await verifyPassword(password, candidate?.passwordHash, env.PASSWORD_PEPPER)))
      account = candidate
  const known = account ?? accounts[0]
  const caller: Caller = known
    ? callerOf(known, tenant)
    : { accountLocator: NOBODY, username, accountType: 'account.unauthenticated' }
  const data = { username: caller.username, accountType: caller.accountType }
  if (!account) {
    const reason = known ? 'wrongPassword' : 'unknownUser'
    await record(tenant, caller, { type: 'login.failure', data: { ...data, reason } }, [], context)
    throw signInFailed()
  }
  const outdated = account.accountType !== ADMINISTRATION_ACCOUNT && needsRehash(account.passwordHash)
  const database = shardDatabase(env, tenant, HOME_SHARD, context.calls)
  const facts = outdated
    ? [replaceHash(database, account, await hashPassword(password, env.PASSWORD_PEPPER))]
    : []
  await record(tenant, caller, { type: 'login.success', data }, facts, context)
  return authentication(context, account, tenant, context.now)
}

async function record(
  tenant: Tenant,
  caller: Caller,
  event: NewEvent,
  facts: readonly Query[],
  context: PublicContext,
): Promise<void> {
  const database = shardDatabase(context.env, tenant, HOME_SHARD, context.calls)
  await commit({ ...context, now: tenantNow(tenant), tenant, caller, idempotency: undefined }, database, {
    shard: HOME_SHARD,
    guards: [],
    facts,
    events: [event],
    answer: { status: 200, text: '' },
    subject: caller.accountLocator,
  })
}

/** Within a tenant an administration account is an administrator of that tenant: it cannot deploy. */
const callerOf = (account: StoredAccount, tenant: Tenant | undefined): Caller => ({
  accountLocator: account.locator,
  username: account.username,
  accountType:
    tenant && account.accountType === ADMINISTRATION_ACCOUNT ? TENANT_ADMINISTRATOR : account.accountType,
})

async function authentication(
  { env, now }: Pick<PublicContext, 'env' | 'now'>,
  account: StoredAccount,
  tenant: ZonedTenant | undefined,
  signedInAt: Instant,
): Promise<AuthenticateResponse> {
  const holder: TokenHolder = {
    caller: callerOf(account, tenant),
    accountName: account.name,
    tenant,
    signedInAt,
  }
  const { token: authorizationToken, expiresAt } = await issueToken(env, holder, now)
  return { authorizationToken, expiresTimestamp: String(expiresAt) }
}
