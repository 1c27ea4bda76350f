import { sql } from 'drizzle-orm'
import {
  alreadyExists,
  invalidRequest,
  Refusal,
  tokenRevoked,
  tooLarge,
  wrongState,
} from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now as realNow } from '../../kernel/time.ts'
import { NO_BODY, retryOnConflict, storedAnswer, unlessRepeated } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { ALL_PERMISSIONS, grants, type Permission, permissionsHeld } from '../../platform/http/permissions.ts'
import type { JsonText, SignedInContext } from '../../platform/http/route.ts'
import { isAuthToken } from '../../platform/outbound/masking.ts'
import { administrationTokens } from '../../platform/tenancy/control-tables.ts'
import { controlDatabase, HOME_SHARD, homeDatabase, type Tenant } from '../../platform/tenancy.ts'
import { accountAt, changeAccount } from '../administration/service.ts'
import { administrationAuditRow, commitAudited } from '../audit/store.ts'
import type { AuthTokenCreateRequest, AuthTokenResponse } from '../contract.ts'
import { managerGuards } from '../last-manager.ts'
import { forgetAuthTokens } from '../revocation.ts'
import { requireAccountAccess, requireAuthority, requireHeldPermissions } from '../rights.ts'
import { readAccount, type StoredAccount } from '../store.ts'
import { authTokens } from '../tables.ts'
import { requireTenantName } from '../tenant-names.ts'
import { hashOfAuthToken, NO_TENANT, newAuthToken } from '../tokens.ts'
import {
  hasRoomFor,
  hasRoomForAdministration,
  insertAdministrationTokenQuery,
  removeExpiredQuery,
  tokenMatches,
  tokensQuery,
} from './store.ts'

/** Maximum number of tokens of one account. Expired tokens do not count. */
const MOST_TOKENS = 100

/** Longest life of a token: five years. */
const LONGEST_LIFE_MS = 5 * 366 * 24 * 60 * 60 * 1000

/** Creates a token for the caller, in the tenant that the caller is signed in to. Only this response shows the token. */
export async function createOwnToken(
  request: AuthTokenCreateRequest,
  context: RequestContext,
): Promise<string> {
  const database = homeDatabase(context)
  const { account } = await readAccount(database, { locator: context.caller.accountLocator }, context.tenant)
  if (!account)
    throw wrongState(
      'An administration account cannot have long-lived tokens in a tenant. Create a service account with POST /account/v1/account, and tokens for that.',
    )
  return createToken(account, request, context, database)
}

/** Creates a token for a service account that the caller created, or for any service account with `users.write`. */
export async function createServiceToken(
  locator: string,
  request: AuthTokenCreateRequest,
  context: RequestContext,
): Promise<string> {
  const database = homeDatabase(context)
  const { account } = await accountAt(database, locator, context.tenant)
  requireAccountAccess(context.caller, account, ['users.write'])
  if (!account.isService)
    throw wrongState(
      `'${account.username}' is not a service account. People create their own tokens, with POST /auth/users/tokens.`,
    )
  return createToken(account, request, context, database)
}

async function createToken(
  account: StoredAccount,
  request: AuthTokenCreateRequest,
  context: RequestContext,
  database: Database,
): Promise<string> {
  const { caller, tenant } = context
  const { locator } = account
  const { name } = request
  if (await storedAnswer(context, database)) throw tokenShownOnce(name)
  const now = realNow()
  const expiresAt = requireValidExpiry(request.expiresAt, now, caller.tokenExpiresAt)
  const permissions = requireKnownPermissions(request.permissions)
  const wanted = ALL_PERMISSIONS.filter(permission => grants(permissions, permission))
  requireHeldPermissions(
    wanted,
    permissionsHeld(account),
    `The account '${account.username}' lacks these permissions of the token:`,
  )
  requireHeldPermissions(wanted, permissionsHeld(caller), 'You lack these permissions of the token:')
  const tenants = requireOwnTenant(request.tenants, tenant)
  const token = newAuthToken(tenant.locator)
  const committed = await retryOnConflict('The account', async () => {
    await requireRoom(database, account, name, now)
    return commitAudited(context, database, {
      guards: [{ name: 'guard_account', holds: hasRoomFor(account, name, MOST_TOKENS, now) }],
      facts: [
        removeExpiredQuery(database, authTokens, now),
        database.build.insert(authTokens).values({
          locator: newUuid(HOME_SHARD),
          accountLocator: locator,
          name,
          hash: hashOfAuthToken(token),
          permissions,
          tenants,
          createdAt: now,
          expiresAt,
        }),
      ],
      // The token is never stored, not even as the response to a repeat.
      answer: NO_BODY,
      audit: {
        action: 'tokens.write',
        subject: locator,
        details: { name, permissions, expiresAt: new Date(expiresAt).toISOString() },
      },
    })
  })
  if (committed !== NO_BODY) throw tokenShownOnce(name)
  forgetAuthTokens()
  return token
}

const tokenShownOnce = (name: string): Refusal =>
  alreadyExists(
    `This request has already created the token '${name}'. The token was shown then and is not stored. Delete it and create another.`,
  )

/** Throws 400 when it is past or too far ahead, and 422 when it is later than that of the token in use. */
function requireValidExpiry(wanted: number, now: Instant, callersOwn: Instant | undefined): number {
  if (wanted <= now) throw invalidRequest("'expiresAt' must be in the future.")
  if (wanted > now + LONGEST_LIFE_MS) throw invalidRequest("'expiresAt' must be at most five years ahead.")
  if (callersOwn !== undefined && wanted > callersOwn)
    throw new Refusal(
      'beyondOwner',
      `'expiresAt' must not be later than that of the token that you are using, ${new Date(callersOwn).toISOString()}.`,
    )
  return wanted
}

function requireKnownPermissions(wanted: readonly string[]): string[] {
  const listed = [...new Set(wanted)]
  const unknown = listed.filter(
    one => !ALL_PERMISSIONS.includes(one as Permission) && !ALL_PERMISSIONS.some(all => isAllOf(one, all)),
  )
  if (unknown.length === 0) return listed
  throw invalidRequest(
    `'permissions' contains unknown permissions: ${unknown.slice(0, 20).map(maskToken).join(', ')}. Use group.action or group.* as listed in the API reference.`,
  )
}

/** Masks tokens, because a message must never show one. */
const maskToken = (word: string): string =>
  `'${isAuthToken(word) ? 'bdy_***' : word.slice(0, 80).toWellFormed()}'`

const isAllOf = (wildcard: string, permission: Permission): boolean =>
  wildcard === `${permission.slice(0, permission.indexOf('.'))}.*`

/** Returns the account's only tenant. Throws 422 for any other. */
function requireOwnTenant(wanted: readonly string[], { name, hostName, locator, type }: Tenant): string[] {
  const own = new Set(['any', `type:${type}`, name, hostName, locator as string])
  const others = wanted.filter(one => !own.has(one) && !own.has(one.toLowerCase()))
  if (others.length === 0) return [name]
  throw new Refusal(
    'beyondOwner',
    `The account belongs to the tenant '${name}' and cannot create a token for ${others.slice(0, 20).map(maskToken).join(', ')}.`,
  )
}

/** Throws the reason why there is no room. The guard checks the same at the commit. */
async function requireRoom(
  database: Database,
  account: StoredAccount,
  name: string,
  now: Instant,
): Promise<void> {
  const [rows] = await database.batch([tokensQuery(database, authTokens, account.locator)])
  const living = rows.filter(({ expiresAt }) => expiresAt > now)
  if (account.disabledAt !== null) throw wrongState(`The account '${account.username}' is disabled.`)
  if (living.some(row => row.name === name)) throw nameTaken(name)
  if (living.length >= MOST_TOKENS) throw tooManyTokens()
}

const nameTaken = (name: string): Refusal =>
  alreadyExists(`The account already has a token '${name}'. Delete it, or choose another name.`)

const tooManyTokens = (): Refusal =>
  tooLarge(`The account has ${MOST_TOKENS} tokens, which is the limit. Delete some first.`)

/** Lists tokens, oldest first, including expired ones until they are removed. */
export async function listTokens(locator: string, context: RequestContext): Promise<AuthTokenResponse[]> {
  const database = homeDatabase(context)
  // An administration account is not in the tenant's table and has no tokens here.
  if (locator === context.caller.accountLocator) return tokensOf(database, context.caller.accountLocator)
  const { account } = await accountAt(database, locator, context.tenant)
  requireAccountAccess(context.caller, account, ['users.read'])
  return tokensOf(database, account.locator)
}

async function tokensOf(database: Database, locator: Uuid): Promise<AuthTokenResponse[]> {
  const [rows] = await database.batch([tokensQuery(database, authTokens, locator)])
  return rows.map(tokenResponse)
}

const tokenResponse = (row: typeof authTokens.$inferSelect): AuthTokenResponse => ({
  name: row.name,
  createdAt: new Date(row.createdAt).toISOString(),
  expiresAt: new Date(row.expiresAt).toISOString(),
  permissions: [...row.permissions],
  tenants: [...row.tenants],
})

/** Shows a name but never a token. */
const noSuchToken = (username: string, tokenOrName: string): Refusal =>
  new Refusal(
    'notFound',
    `The account '${username}' has no such token${isAuthToken(tokenOrName) ? '' : ` '${tokenOrName}'`}.`,
  )

/** Deletes the account's token with that value or name. Throws 404 when there is none. */
export async function deleteToken(
  locator: string,
  tokenOrName: string,
  context: RequestContext,
): Promise<void> {
  const database = homeDatabase(context)
  const { accountLocator, username } = context.caller
  const remove = async () => {
    const { account } =
      locator === accountLocator
        ? await readAccount(database, { locator: accountLocator }, context.tenant)
        : await accountAt(database, locator, context.tenant)
    // An administration account is not in the tenant's table and has no tokens here.
    if (!account) throw noSuchToken(username, tokenOrName)
    requireAccountAccess(context.caller, account, ['users.write'])
    requireAuthority(context.caller, account)
    const match = tokenMatches(authTokens, account.locator, tokenOrName)
    const [[row]] = await database.batch([database.build.select().from(authTokens).where(match)])
    if (!row) throw noSuchToken(account.username, tokenOrName)
    // As in `revocationWrites`: without it, the outcome of the commit can still be looked up.
    const { token } = context.calls
    if (token && 'tokenLocator' in token && token.tokenLocator === row.locator)
      context.calls.token = undefined
    await commitAudited(context, database, {
      guards: [{ name: 'guard_account', holds: sql`exists (select 1 from ${authTokens} where ${match})` }],
      facts: [database.build.delete(authTokens).where(match)],
      audit: { action: 'tokens.delete', subject: account.locator, details: { name: row.name } },
    })
    forgetAuthTokens()
  }
  const work = () => retryOnConflict('The token', remove)
  await unlessRepeated(context, database, work, () => {})
}

/** Ends access tokens everywhere within 5 s and deletes long-lived ones. */
export const revokeTokens = (locator: string, context: RequestContext): Promise<JsonText> =>
  changeAccount(context, locator, 'tokens.revoke', account => {
    requireAccountAccess(context.caller, account, ['users.write', 'users.revoke'])
    return { set: {}, endsAccess: true, endsTokens: true }
  })

/** Like `revokeTokens`, and also removes the password. Throws 409 for the last person who may change users. */
export const deleteCredentials = (locator: string, context: RequestContext): Promise<JsonText> =>
  changeAccount(context, locator, 'credentials.delete', async (account, _, reading) => {
    requireAccountAccess(context.caller, account, ['users.write'])
    const set = { passwordHash: null, formerHashes: [], failedSignIns: 0, lockedUntil: null }
    // A person who signs in by a provider has no password to lose.
    const guards = account.passwordHash === null ? [] : await managerGuards(account, reading, context)
    return { set, endsAccess: true, endsTokens: true, guards }
  })

// Long-lived tokens of administration accounts, so that pipelines need no password with all rights. They grant deployments only,
// and only for the tenants that they list.
/** Permissions that such a token may have. A stolen token must not create or unlock accounts. */
const GRANTABLE = ALL_PERMISSIONS.filter(permission => permission.startsWith('deployments.'))

/** Names of more than one tenant. */
const SCOPES: ReadonlySet<string> = new Set(['any', 'type:test', 'type:production'])

/**
 * Creates a long-lived token of the caller's account, and returns its text, which is never stored. Throws 400 for an expiry or
 * names that are not valid, 409 for a name that is in use, and 401 if the session has ended since.
 */
export async function createAdministrationToken(
  request: AuthTokenCreateRequest,
  context: SignedInContext,
): Promise<string> {
  const { env, calls, caller, accountEpoch } = context
  const { accountLocator } = caller
  const { name } = request
  const now = realNow()
  const expiresAt = requireValidExpiry(request.expiresAt, now, caller.tokenExpiresAt)
  const permissions = requireKnownPermissions(request.permissions)
  const wanted = ALL_PERMISSIONS.filter(permission => grants(permissions, permission))
  requireHeldPermissions(
    wanted,
    GRANTABLE,
    'Tokens of administration accounts are only for configurations and cannot have',
  )
  requireHeldPermissions(wanted, permissionsHeld(caller), 'You lack these permissions of the token:')
  const tenants = parseTokenScope(request.tenants)
  const token = newAuthToken(NO_TENANT)
  const hash = hashOfAuthToken(token)
  const database = controlDatabase(env, calls)
  const room = hasRoomForAdministration(accountLocator, accountEpoch, name, MOST_TOKENS)
  const row = {
    locator: newUuid(0),
    accountLocator,
    name,
    hash,
    permissions,
    tenants,
    createdAt: now,
    expiresAt,
  }
  const [, , , tokens] = await database.batch([
    removeExpiredQuery(database, administrationTokens, now),
    // Placed before the token is inserted, because `room` is false afterwards.
    administrationAuditRow(
      database,
      context,
      {
        action: 'tokens.write',
        subject: accountLocator,
        details: { name, permissions, tenants, expiresAt: new Date(expiresAt).toISOString() },
      },
      room,
    ),
    insertAdministrationTokenQuery(database, row, room),
    tokensQuery(database, administrationTokens, accountLocator),
  ])
  if (tokens.some(token => token.hash === hash)) return token
  if (tokens.some(token => token.name === name)) throw nameTaken(name)
  if (tokens.length < MOST_TOKENS) throw tokenRevoked()
  throw tooManyTokens()
}

/** Checks tenants, which need not exist yet. Throws 400 for an empty list, which could mean all or none. */
function parseTokenScope(wanted: readonly string[]): string[] {
  const tenants = [...new Set(wanted)]
  if (tenants.length === 0)
    throw invalidRequest(
      "'tenants' must list the tenants of the token by name, or be type:test, type:production or any.",
    )
  for (const one of tenants) if (!SCOPES.has(one)) requireTenantName(one)
  return tenants
}

/** Lists the caller's tokens, oldest first, including expired ones until they are removed. One round trip. */
export async function listAdministrationTokens({
  env,
  calls,
  caller,
}: SignedInContext): Promise<AuthTokenResponse[]> {
  const database = controlDatabase(env, calls)
  const [rows] = await database.batch([tokensQuery(database, administrationTokens, caller.accountLocator)])
  return rows.map(tokenResponse)
}

/** Deletes the account's token with that value or name. Throws 404 when there is none. */
export async function deleteAdministrationToken(
  tokenOrName: string,
  context: SignedInContext,
): Promise<void> {
  const { env, calls, caller } = context
  const database = controlDatabase(env, calls)
  const match = tokenMatches(administrationTokens, caller.accountLocator, tokenOrName)
  const [[row]] = await database.batch([database.build.select().from(administrationTokens).where(match)])
  if (!row) throw noSuchToken(caller.username, tokenOrName)
  await database.batch([
    database.build.delete(administrationTokens).where(match),
    administrationAuditRow(database, context, {
      action: 'tokens.delete',
      subject: caller.accountLocator,
      details: { name: row.name },
    }),
  ])
  forgetAuthTokens()
}
