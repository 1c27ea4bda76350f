// The account that a long-lived token belongs to, with the permissions that both the token and the account have now.
import type { Instant } from '../../kernel/time.ts'
import type { Calls } from '../../platform/calls.ts'
import type { Caller } from '../../platform/context.ts'
import { grants, permissionsHeld } from '../../platform/http/permissions.ts'
import {
  controlDatabase,
  findTenant,
  HOME_SHARD,
  shardDatabase,
  type Tenant,
} from '../../platform/tenancy.ts'
import { knownAuthToken } from '../revocation.ts'
import { unauthenticated } from '../tokens.ts'
import { findAdministrationToken, findToken } from './store.ts'
import { NO_TENANT, tenantOfAuthToken } from './text.ts'

const unknown = () =>
  unauthenticated('The token is not valid: it was deleted, has expired, or never was one. Make another.')

/**
 * The account and its tenant (none for an administration account). 401 for a token that is unknown or has expired, or whose
 * account was deleted or disabled. A locked account's tokens work: otherwise guessing passwords could stop a program that uses
 * a token.
 */
export async function holderOfAuthToken(
  env: Env,
  token: string,
  now: Instant,
  calls: Calls,
): Promise<{ caller: Caller; tenant: Tenant | undefined }> {
  const locator = tenantOfAuthToken(token)
  if (locator === undefined) throw unknown()
  const isAdministration = locator === NO_TENANT
  const tenant = isAdministration ? undefined : await findTenant(env, { locator }, calls)
  if (!isAdministration && !tenant) throw unknown()
  const found = await knownAuthToken(`${tenant?.generation ?? ''} ${token}`, () =>
    tenant
      ? findToken(shardDatabase(env, tenant, HOME_SHARD, calls), token)
      : findAdministrationToken(controlDatabase(env, calls), token),
  )
  if (!found || found.expiresAt <= now) throw unknown()
  const { permissions, accountPermissions, expiresAt, ...account } = found
  const ofAccount = permissionsHeld({
    accountType: account.accountType,
    ...(accountPermissions && { permissions: accountPermissions }),
  })
  const held = ofAccount.filter(one => grants(permissions, one))
  return {
    caller: { ...account, permissions: held, tokenExpiresAt: expiresAt as Instant },
    tenant,
  }
}
