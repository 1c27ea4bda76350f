// Who a long-lived token stands for: its account, with what both the token and the account may today.
import { type Instant, now } from '../../kernel/time.ts'
import type { Calls } from '../../platform/calls.ts'
import type { Caller } from '../../platform/context.ts'
import { grants, permissionsHeld } from '../../platform/http/permissions.ts'
import {
  controlDatabase,
  findTenant,
  HOME_SHARD,
  shardDatabase,
  TENANT_TRUST_MS,
  type Tenant,
} from '../../platform/tenancy.ts'
import { unauthenticated } from '../tokens.ts'
import { findAdministrationToken } from './administration-store.ts'
import { type FoundToken, findToken } from './store.ts'
import { NO_TENANT, tenantOfAuthToken } from './text.ts'

const unknown = () =>
  unauthenticated('The token is not valid: it was deleted, has expired, or never was one. Make another.')

/**
 * The account and its tenant, which an administration account has not. 401 for a token that is unknown or has expired, or
 * whose account was deleted or disabled. One that is locked is so for passwords only: or else whoever guesses at them could
 * stop a program that has a token.
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

// Long-lived tokens that an isolate has looked up, and those that it looked for in vain: trusted for 5 s, as tenants are.
type Known = { readonly found: FoundToken | undefined; readonly readAt: Instant }

/** The one that was looked up first is forgotten first. */
const MOST_KNOWN = 1_000

const known = new Map<string, Known>()

/** What was looked up under the key less than 5 s ago, or is now. */
export async function knownAuthToken(
  key: string,
  lookUp: () => Promise<FoundToken | undefined>,
): Promise<FoundToken | undefined> {
  const before = known.get(key)
  if (before && now() - before.readAt < TENANT_TRUST_MS) return before.found
  const readAt = now()
  const found = await lookUp()
  known.delete(key)
  known.set(key, { found, readAt })
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!)
  return found
}

/** Called after a change of tokens or accounts; other isolates look again within 5 s. */
export const forgetAuthTokens = (): void => known.clear()
