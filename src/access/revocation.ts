// Ends the access tokens of one account everywhere within 5 s, the time for which isolates trust what they read of a tenant. The
// account's row has the epoch of its next tokens. The control database announces it to all isolates for as long as tokens of an
// earlier epoch can be valid. It is read with the tenant, so no request reads the account.

import { and, eq, lt, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import { Memo } from '../kernel/maps.ts'
import { type Instant, now } from '../kernel/time.ts'
import type { Calls } from '../platform/calls.ts'
import type { NewTimer } from '../platform/commit.ts'
import { revocations, tenants } from '../platform/tenancy/control-tables.ts'
import {
  ADMINISTRATION,
  controlDatabase,
  forgetTenants,
  TENANT_TRUST_MS,
  type Tenant,
  tenantNow,
} from '../platform/tenancy.ts'
import type { FoundToken } from './auth-tokens/store.ts'
import { TOKEN_LIFE_MS } from './tokens.ts'

/** Twice the life of a token: a request that read the account before the revocation may sign a token a moment after. */
const KEPT_MS = 2 * TOKEN_LIFE_MS

/** Revoked accounts of one tenant that isolates keep in memory; beyond this, all tokens of the tenant end instead. */
export const MOST_REVOCATIONS = 500

/** `tenant` is undefined for an administration account. */
type Revocation = {
  readonly tenant: Pick<Tenant, 'locator'> | undefined
  readonly accountLocator: Uuid
  readonly epoch: number
}

/**
 * Announces the revocation to all isolates. Call it after the account's row is committed. A repeat changes nothing, so a timer
 * can make up for a request that was cut off in between.
 */
export async function announceRevocation(
  { env, calls }: { readonly env: Env; readonly calls: Calls },
  { tenant, accountLocator, epoch }: Revocation,
): Promise<void> {
  const database = controlDatabase(env, calls)
  const { build } = database
  const tenantLocator = tenant?.locator ?? ADMINISTRATION
  const ofTenant = eq(revocations.tenantLocator, tenantLocator)
  const tooMany = sql`(select count(*) from ${revocations} where ${ofTenant}) > ${MOST_REVOCATIONS}`
  await database.batch([
    build.delete(revocations).where(lt(revocations.at, now() - KEPT_MS)),
    build
      .insert(revocations)
      .values({ accountLocator, tenantLocator, epoch, at: now() })
      .onConflictDoUpdate({
        target: revocations.accountLocator,
        set: { epoch: sql`max(${revocations.epoch}, excluded.epoch)`, at: sql`excluded.at` },
      }),
    build
      .update(tenants)
      .set({ tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
      .where(and(eq(tenants.locator, tenantLocator), tooMany)),
    build.delete(revocations).where(and(ofTenant, tooMany, sql`${tenantLocator} <> ${ADMINISTRATION}`)),
  ])
  forgetTenants()
}

const REVOCATION_TIMER = 'account.revocation'

/** Belongs to the commit of the account's row: the revocation is announced even if the request is cut off. */
export const revocationTimer = (tenant: Tenant, accountLocator: Uuid, epoch: number): NewTimer => ({
  dueAt: tenantNow(tenant),
  kind: REVOCATION_TIMER,
  subject: accountLocator,
  payload: { epoch: String(epoch) },
})

export const revocationDue = (
  { subject, payload }: { subject: string; payload: Record<string, string> },
  place: { readonly env: Env; readonly tenant: Tenant; readonly calls: Calls },
): Promise<void> =>
  announceRevocation(place, {
    tenant: place.tenant,
    accountLocator: subject as Uuid,
    epoch: Number(payload.epoch),
  })

// Long-lived tokens that this isolate looked up, found or not; trusted for 5 s, like tenants.
type Known = { readonly found: FoundToken | undefined; readonly readAt: Instant }

const known = new Memo<string, Known>(1_000)

export async function knownAuthToken(
  key: string,
  lookUp: () => Promise<FoundToken | undefined>,
): Promise<FoundToken | undefined> {
  const before = known.get(key)
  if (before && now() - before.readAt < TENANT_TRUST_MS) return before.found
  const readAt = now()
  const found = await lookUp()
  known.set(key, { found, readAt })
  return found
}

/** Other isolates look again within 5 s. */
export const forgetAuthTokens = (): void => known.clear()
