// Ends the access tokens of one account everywhere within 5 s. The row of the account has the epoch of its next tokens. For as
// long as tokens of an earlier epoch can be valid, the epoch is in two more places. In each of the tenant's databases it is next
// to the fence, where every batch checks it, regardless of what an isolate knows: in the home shard from the commit of the account
// on, in the other shards a moment later. In the control database it is read with the tenant, so that requests that use no
// database of the tenant are rejected within 5 s, too.

import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import { Memo } from '../kernel/maps.ts'
import { type Instant, isWithinLast, now } from '../kernel/time.ts'
import type { Calls } from '../platform/calls.ts'
import type { Commit } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import { putRows } from '../platform/database/rows.ts'
import type { Database, Query } from '../platform/database.ts'
import { revokedAccounts } from '../platform/tables.ts'
import { revocations, tenants } from '../platform/tenancy/control-tables.ts'
import {
  ADMINISTRATION,
  controlDatabase,
  forgetTenants,
  HOME_SHARD,
  shardDatabase,
  TENANT_TRUST_MS,
  type Tenant,
  tenantNow,
} from '../platform/tenancy.ts'
import type { FoundToken } from './auth-tokens/store.ts'
import { accounts } from './tables.ts'
import { TOKEN_LIFE_MS } from './tokens.ts'

/** Twice the life of a token: a request that read the account before the revocation may sign a token a moment after it. */
const KEPT_MS = 2 * TOKEN_LIFE_MS

/** Maximum number of revoked accounts of one tenant in the memory of isolates. Beyond it, all tokens of the tenant end instead. */
export const MOST_REVOCATIONS = 500

/** `tenant` is undefined for an administration account. */
type Revocation = {
  readonly tenant: Tenant | undefined
  readonly accountLocator: Uuid
  readonly epoch: number
}

type Place = { readonly env: Env; readonly calls: Calls }

/**
 * Announces the revocation to all isolates and to the tenant's other databases. Call it after the row of the account is committed.
 * Throws when it did not reach all of them. A repeat changes nothing: a timer repeats an announcement that failed or was cut off.
 */
export const announceRevocation = (place: Place, { tenant, ...revoked }: Revocation): Promise<void> =>
  announceAll(place, tenant, [revoked])

type Revoked = { readonly accountLocator: string; readonly epoch: number }

async function announceAll(
  place: Place,
  tenant: Tenant | undefined,
  revoked: readonly Revoked[],
): Promise<void> {
  const inShard = async (shard: number): Promise<void> => {
    const database = shardDatabase(place.env, tenant!, shard, place.calls)
    const at = now()
    await database.batch(
      revocationQueries(
        database,
        revoked.map(one => ({ ...one, at })),
      ),
    )
  }
  const others = tenant?.shards.flatMap((_, shard) => (shard === HOME_SHARD ? [] : [inShard(shard)])) ?? []
  const outcomes = await Promise.allSettled([announceToIsolates(place, tenant, revoked), ...others])
  forgetTenants()
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

const logFailure = (problem: unknown): void =>
  console.error(JSON.stringify({ at: 'revocation', problem: String(problem) }))

/** Like `announceRevocation`, for a request with `revocationWrites`. A failure is left to the timer. */
export const announceOrLog = (place: Place, revocation: Revocation): Promise<void> =>
  announceRevocation(place, revocation).catch(logFailure)

/** Builds the rows by which the fence rejects accounts. Drops rows whose tokens have all expired. */
export const revocationQueries = (
  database: Database,
  rows: readonly (typeof revokedAccounts.$inferInsert)[],
): [Query, ...Query[]] => [
  database.build.delete(revokedAccounts).where(lt(revokedAccounts.at, now() - KEPT_MS)),
  ...putRows(database, revokedAccounts, rows),
]

async function announceToIsolates(
  { env, calls }: Place,
  tenant: Tenant | undefined,
  revoked: readonly Revoked[],
): Promise<void> {
  const database = controlDatabase(env, calls)
  const { build } = database
  const tenantLocator = tenant?.locator ?? ADMINISTRATION
  const rows = JSON.stringify(revoked.map(({ accountLocator, epoch }) => [accountLocator, epoch]))
  const ofTenant = eq(revocations.tenantLocator, tenantLocator)
  const tooMany = sql`(select count(*) from ${revocations} where ${ofTenant}) > ${MOST_REVOCATIONS}`
  await database.batch([
    build.delete(revocations).where(lt(revocations.at, now() - KEPT_MS)),
    build.run(sql`insert into ${revocations} (account_locator, tenant_locator, epoch, at)
      select value ->> 0, ${tenantLocator}, value ->> 1, ${now()} from json_each(${rows}) where true
      on conflict (account_locator) do update set epoch = max(epoch, excluded.epoch), at = excluded.at`),
    build
      .update(tenants)
      .set({ tokenEpoch: sql`${tenants.tokenEpoch} + 1` })
      .where(and(eq(tenants.locator, tenantLocator), tooMany)),
    build.delete(revocations).where(and(ofTenant, tooMany, sql`${tenantLocator} <> ${ADMINISTRATION}`)),
  ])
}

const REVOCATION_TIMER = 'account.revocation'

/**
 * Builds the writes that belong to the commit of the account's row. They make sure that the revocation is announced even if the
 * request is cut off.
 */
export function revocationWrites(
  { tenant, caller, calls }: Pick<RequestContext, 'tenant' | 'caller' | 'calls'>,
  database: Database,
  accountLocator: Uuid,
  epoch: number,
): Required<Pick<Commit, 'facts' | 'timers'>> {
  // The commit ends the token of this request. Without it, the outcome of the commit can still be looked up.
  if (caller.accountLocator === accountLocator) calls.token = undefined
  return {
    facts: revocationQueries(database, [{ accountLocator, epoch, at: now() }]),
    timers: [
      {
        dueAt: tenantNow(tenant),
        kind: REVOCATION_TIMER,
        subject: accountLocator,
        payload: { epoch: String(epoch) },
      },
    ],
  }
}

/** Announces a revocation again when the timer of `revocationWrites` is due, even if the request already did. */
export const fireRevocation = (
  { subject, payload }: { subject: string; payload: Record<string, string> },
  place: { readonly env: Env; readonly tenant: Tenant; readonly calls: Calls },
): Promise<void> =>
  announceRevocation(place, {
    tenant: place.tenant,
    accountLocator: subject as Uuid,
    epoch: Number(payload.epoch),
  })

/** Accounts that all change together. `set` are columns that change with their epochs. */
type Several = {
  readonly which: SQL
  readonly set?: Readonly<Partial<typeof accounts.$inferInsert>>
  /** Whether the caller's own account is one of them. The commit then ends the token of this request. */
  readonly hasCaller: boolean
}

type SeveralRevoked = Required<Pick<Commit, 'facts' | 'timers'>> & {
  /** Call it after the commit. A failure is left to the timer. */
  readonly announce: () => Promise<void>
}

/** Like `revocationWrites`, for all accounts that `which` selects, regardless of their number. */
export function revocationsOf(
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  database: Database,
  { which, set, hasCaller }: Several,
): SeveralRevoked {
  const since = now()
  if (hasCaller) calls.token = undefined
  return {
    facts: [
      ...revocationQueries(database, []),
      database.build.run(sql`insert into ${revokedAccounts} (account_locator, epoch, at)
        select ${accounts.locator}, ${accounts.tokenEpoch} + 1, ${since} from ${accounts} where ${which}
        on conflict do nothing`),
      database.build
        .update(accounts)
        .set({ ...set, tokenEpoch: sql`${accounts.tokenEpoch} + 1` })
        .where(which),
    ],
    timers: [
      {
        dueAt: tenantNow(tenant),
        kind: 'account.revocations',
        subject: 'accounts',
        payload: { since: String(since) },
      },
    ],
    announce: () => announceSince({ env, calls }, tenant, since).catch(logFailure),
  }
}

/** Announces everything that the home shard has revoked since. */
async function announceSince(place: Place, tenant: Tenant, since: number): Promise<void> {
  const home = shardDatabase(place.env, tenant, HOME_SHARD, place.calls)
  const [rows] = await home.batch([
    home.build.select().from(revokedAccounts).where(gte(revokedAccounts.at, since)),
  ])
  if (rows.length > 0) await announceAll(place, tenant, rows)
}

/** Announces again all that was revoked since the commit of `revocationsOf`, when its timer is due. */
export const fireRevocations = (
  { payload }: { payload: Record<string, string> },
  place: Place & { readonly tenant: Tenant },
): Promise<void> => announceSince(place, place.tenant, Number(payload.since))

// Long-lived tokens that this isolate looked up, whether found or not. Trusted for 5 s, like tenants.
type Known = { readonly found: FoundToken | undefined; readonly readAt: Instant }

const known = new Memo<string, Known>(1_000)

/** Tokens that this isolate has found, even if they are deleted since. Only other tokens must pass `requireNotLimited` first. */
const seen = new Memo<string, true>(1_000)

/** Whether this isolate has ever found the token. It may have been deleted since. */
export const wasTokenFound = (token: string): boolean => seen.get(token) ?? false

/**
 * Returns the token's account, undefined if unknown. Looks up again after 5 s. `scope` is the generation of the tenant, if there
 * is one.
 */
export async function knownAuthToken(
  scope: string,
  token: string,
  lookUp: () => Promise<FoundToken | undefined>,
): Promise<FoundToken | undefined> {
  const key = `${scope} ${token}`
  const before = known.get(key)
  if (before && isWithinLast(TENANT_TRUST_MS, before.readAt)) return before.found
  const readAt = now()
  const found = await lookUp()
  known.set(key, { found, readAt })
  if (found) seen.set(token, true)
  return found
}

/** Other isolates look again within 5 s. */
export const forgetAuthTokens = (): void => known.clear()
