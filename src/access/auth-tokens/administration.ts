// Long-lived tokens of administration accounts, so that pipelines need no password with all rights. They work for
// configurations only, and for the tenants that they list.
import { alreadyExists, invalidRequest, tooLarge } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import { now as realNow } from '../../kernel/time.ts'
import { ALL_PERMISSIONS, grants, permissionsHeld } from '../../platform/http/permissions.ts'
import type { SignedInContext } from '../../platform/http/route.ts'
import { administrationTokens } from '../../platform/tenancy/control-tables.ts'
import { controlDatabase } from '../../platform/tenancy.ts'
import { administrationAuditRow } from '../audit/store.ts'
import { forgetAuthTokens } from '../revocation.ts'
import { requireWithin } from '../rights.ts'
import { checkedTenantName } from '../tenant-names.ts'
import { hashOfAuthToken, NO_TENANT, newAuthToken, revoked } from '../tokens.ts'
import type { AuthTokenCreateRequest, AuthTokenResponse } from './contract.ts'
import { checkedExpiry, checkedPermissions, MOST_TOKENS, noSuchToken, tokenResponse } from './service.ts'
import {
  administrationTokensQuery,
  expiredQuery,
  hasRoom,
  insertQuery,
  isMeantOfAdministration,
} from './store.ts'

/** The permissions that such a token may have. A stolen one must not make or unlock accounts. */
const GRANTABLE = ALL_PERMISSIONS.filter(permission => permission.startsWith('deployments.'))

/** Names for more than one tenant. */
const SCOPES: ReadonlySet<string> = new Set(['any', 'type:test', 'type:production'])

/** Makes a token for the calling administration account. The token is returned this once. */
export async function createAdministrationToken(
  request: AuthTokenCreateRequest,
  context: SignedInContext,
): Promise<string> {
  const { env, calls, caller, accountEpoch } = context
  const { accountLocator } = caller
  const { name } = request
  const now = realNow()
  const expiresAt = checkedExpiry(request.expiresAt, now, caller.tokenExpiresAt)
  const permissions = checkedPermissions(request.permissions)
  const wanted = ALL_PERMISSIONS.filter(one => grants(permissions, one))
  requireWithin(wanted, GRANTABLE, 'Tokens of administration accounts are for configurations, and have no')
  requireWithin(wanted, permissionsHeld(caller), 'You lack what the token is to have:')
  const tenants = checkedScope(request.tenants)
  const token = newAuthToken(NO_TENANT)
  const hash = hashOfAuthToken(token)
  const database = controlDatabase(env, calls)
  const room = hasRoom(accountLocator, accountEpoch, name, MOST_TOKENS)
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
    expiredQuery(database, now),
    // Before the token is inserted: `room` is false afterwards.
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
    insertQuery(database, row, room),
    administrationTokensQuery(database, accountLocator),
  ])
  if (tokens.some(one => one.hash === hash)) return token
  if (tokens.some(one => one.name === name))
    throw alreadyExists(`The account has a token '${name}' already; delete it, or choose another name.`)
  if (tokens.length < MOST_TOKENS) throw revoked()
  throw tooLarge(`The account has ${MOST_TOKENS} tokens, which is the most; delete some.`)
}

/** The named tenants, which need not exist yet. 400 without any, since that could mean all or none. */
function checkedScope(wanted: readonly string[]): string[] {
  const tenants = [...new Set(wanted)]
  if (tenants.length === 0)
    throw invalidRequest(
      "'tenants' must name the tenants that the token is for, by their names, or be type:test, type:production or any.",
    )
  for (const one of tenants) if (!SCOPES.has(one)) checkedTenantName(one)
  return tenants
}

/** The account's tokens, oldest first. */
export async function listAdministrationTokens({
  env,
  calls,
  caller,
}: SignedInContext): Promise<AuthTokenResponse[]> {
  const database = controlDatabase(env, calls)
  const [rows] = await database.batch([administrationTokensQuery(database, caller.accountLocator)])
  return rows.map(tokenResponse)
}

/** Deletes the account's token of that value or name; 404 when it has none. */
export async function deleteAdministrationToken(
  tokenOrName: string,
  context: SignedInContext,
): Promise<void> {
  const { env, calls, caller } = context
  const database = controlDatabase(env, calls)
  const meant = isMeantOfAdministration(caller.accountLocator, tokenOrName)
  const [[row]] = await database.batch([database.build.select().from(administrationTokens).where(meant)])
  if (!row) throw noSuchToken(caller.username, tokenOrName)
  await database.batch([
    database.build.delete(administrationTokens).where(meant),
    administrationAuditRow(database, context, {
      action: 'tokens.delete',
      subject: caller.accountLocator,
      details: { name: row.name },
    }),
  ])
  forgetAuthTokens()
}
