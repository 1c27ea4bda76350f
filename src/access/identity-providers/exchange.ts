// Exchanges an ID token of one of the tenant's providers for an access token. The account is the one that is linked to issuer and
// subject; equal e-mail addresses and user names mean nothing. One batch links the account, changes it, records the used token and
// reports the sign-in.
import { and, desc, eq, inArray, isNull, lt, sql } from 'drizzle-orm'
import { forbidden, type Refusal, tooLarge, unauthenticated } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import { now as realNow } from '../../kernel/time.ts'
import { type Guard, type NewTimer, retryOnConflict } from '../../platform/commit.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { PublicContext } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, type Tenant, tenantNow } from '../../platform/tenancy.ts'
import type { TenantRoles, TestUserType } from '../../product/roles.ts'
import { configurationVersions } from '../../product/tables.ts'
import { MOST_ACCOUNTS } from '../administration/service.ts'
import type { AuditAction } from '../audit/actions.ts'
import { commitAudited } from '../audit/store.ts'
import type { AuthenticateResponse } from '../contract.ts'
import { PLAIN_RULES } from '../password-rules/rules.ts'
import { announceOrLog, forgetAuthTokens, revocationWrites } from '../revocation.ts'
import { rolePermissions } from '../rights.ts'
import { areUnchanged, type Role, rolesNamedQuery } from '../roles/store.ts'
import { authentication, callerOf, type LoginEvent, signInFailed } from '../sign-in.ts'
import {
  givenRolesQuery,
  readAdministrator,
  rolesQueries,
  type StoredAccount,
  storedAccount,
  ZONE_WITHOUT_CONFIGURATION,
} from '../store.ts'
import { accountIdentities, accounts, usedIdTokens } from '../tables.ts'
import { grantOf, mappedRoles, personOf, usernamesOf } from './claims.ts'
import { claimedIssuer, type Verified, verifyIdToken } from './id-token.ts'
import { type Provider, providersQuery } from './service.ts'

/**
 * Throws 401 for a token whose issuer is not a provider of the tenant, that is not valid or was exchanged before, and for an
 * account that an administrator disabled; 403 for a person without any of the mapped roles, whose account is then disabled; 502
 * when the keys of the provider cannot be read.
 */
export async function exchangeIdToken(
  tenant: Tenant | undefined,
  idToken: string,
  nonce: string | undefined,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const { env, calls } = context
  // Text that is not a token is rejected in the same way for every tenant.
  const issuer = claimedIssuer(idToken)
  const provider = (await providersOf(tenant, context)).find(one => one.issuer === issuer)
  // The same for a tenant without providers and for an unknown one, so that it does not reveal which tenants exist.
  if (!tenant || !provider) throw unknownIssuer()
  const database = homeDatabase({ env, tenant, calls })
  const verified = await verifyIdToken(env, provider, idToken, nonce)
  const entry = await retryOnConflict('The account', () =>
    tryToSignIn(tenant, provider, verified, database, context),
  )
  if ('refusal' in entry) throw entry.refusal
  const { account, timeZone } = entry
  return authentication(context, account, { ...tenant, timeZone, rules: PLAIN_RULES }, context.now)
}

const unknownIssuer = (): Refusal =>
  unauthenticated('The ID token is rejected: its issuer is not an identity provider of the tenant.')

/** Returns none for an unknown tenant, after as many round trips: the time must not show which tenants exist. */
export async function providersOf(
  tenant: Tenant | undefined,
  { env, calls }: PublicContext,
): Promise<Provider[]> {
  if (!tenant) await readAdministrator(env, { locator: NOBODY }, calls)
  if (!tenant?.keepsProviders) return []
  const database = homeDatabase({ env, tenant, calls })
  const [rows] = await database.batch([providersQuery(database)])
  return rows
}

type Entry = { readonly account: StoredAccount; readonly timeZone: string } | { readonly refusal: Refusal }

type Known = {
  readonly identity: typeof accountIdentities.$inferSelect | undefined
  readonly row: typeof accounts.$inferSelect | undefined
  readonly configured: TenantRoles | null
  /** Names of the roles that the account had until now. */
  readonly former: readonly string[]
  /** Roles of the tenant that the mappings may give. */
  readonly own: readonly Role[]
  readonly timeZone: string
  readonly count: number
  readonly isTaken: (username: string) => boolean
}

async function tryToSignIn(
  tenant: Tenant,
  provider: Provider,
  verified: Verified,
  database: Database,
  context: PublicContext,
): Promise<Entry> {
  const names = usernamesOf(verified)
  const mapped = mappedRoles(provider.mappings, verified.claims)
  const known = await readKnown(database, verified, names, mapped, tenant)
  const { row, identity, configured, own, former, timeZone } = known
  const { type, given } = grantOf(mapped, own)
  const username = row?.username ?? names.find(name => !known.isTaken(name)) ?? names.at(-1)!
  const within = { tenant, provider, verified, database, context }
  if (!type) {
    const closes = row !== undefined && row.disabledAt === null
    await recordOutcome(within, known, {
      ...(row && { account: row, set: closes ? { disabledAt: realNow() } : {}, ends: closes }),
      username,
      reason: 'noRole',
    })
    return {
      refusal: forbidden(
        `The identity provider '${provider.label}' gives '${username}' none of the roles that may use this tenant. Ask an administrator of the provider for a role.`,
      ),
    }
  }
  // An account that an administrator disabled stays disabled, regardless of the provider.
  if (row && row.disabledAt !== null && identity?.closedAt !== row.disabledAt) {
    await recordOutcome(within, known, { account: row, set: {}, username, reason: 'disabled' })
    return { refusal: signInFailed() }
  }
  if (!row && known.count >= MOST_ACCOUNTS)
    throw tooLarge(`The tenant has ${MOST_ACCOUNTS} accounts, which is the limit. Delete some first.`)
  const { name, email } = personOf(verified.claims, username)
  const roles = given.map(one => one.name)
  const hasOthers = roles.join() !== former.join()
  const ends = row !== undefined && (row.type !== type || hasOthers)
  const account = row
    ? { ...row, name, email, type, disabledAt: null, tokenEpoch: row.tokenEpoch + (ends ? 1 : 0) }
    : newAccount(username, name, email, type, context.now)
  await recordOutcome(within, known, {
    account: row ?? account,
    set: row ? { name, email, type, disabledAt: null } : undefined,
    ...(hasOthers && { roles }),
    ends,
    username,
  })
  const permissions = rolePermissions({ username, accountType: type, source: 'interface', given }, configured)
  return { account: { ...storedAccount(account), ...(permissions && { permissions }) }, timeZone }
}

type Account = typeof accounts.$inferSelect

const newAccount = (
  username: string,
  name: string,
  email: string | null,
  type: TestUserType,
  createdAt: number,
): Account => ({
  locator: newUuid(HOME_SHARD),
  username,
  name,
  email,
  type,
  createdAt,
  isService: false,
  passwordHash: null,
  formerHashes: [],
  passwordChangedAt: null,
  failedSignIns: 0,
  lockedUntil: null,
  tokenEpoch: 0,
  disabledAt: null,
  deletedAt: null,
  source: 'interface',
  createdBy: null,
})

/** One round trip. */
async function readKnown(
  database: Database,
  { issuer, subject, hash }: Verified,
  names: readonly string[],
  mapped: readonly string[],
  { keepsRoles }: Tenant,
): Promise<Known> {
  const { build } = database
  const isThis = and(eq(accountIdentities.issuer, issuer), eq(accountIdentities.subject, subject))
  const locator = sql`(select ${accountIdentities.accountLocator} from ${accountIdentities} where ${isThis})`
  const [[used], [identity], [row], [version], [counted], taken, former = [], own = []] =
    await database.batch([
      build.select().from(usedIdTokens).where(eq(usedIdTokens.hash, hash)),
      build.select().from(accountIdentities).where(isThis),
      build
        .select()
        .from(accounts)
        .where(and(isNull(accounts.deletedAt), sql`${accounts.locator} = ${locator}`)),
      build
        .select({ timeZone: configurationVersions.timeZone, roles: configurationVersions.roles })
        .from(configurationVersions)
        .orderBy(desc(configurationVersions.version))
        .limit(1),
      build.select({ count: sql<number>`count(*)` }).from(accounts).where(isNull(accounts.deletedAt)),
      build
        .select({ username: accounts.username })
        .from(accounts)
        .where(and(isNull(accounts.deletedAt), inArray(accounts.username, [...names]))),
      ...(keepsRoles
        ? ([givenRolesQuery(database, locator), rolesNamedQuery(database, mapped)] as const)
        : []),
    ])
  if (used)
    throw unauthenticated(
      'The ID token is rejected: it has already been used. Sign in at the provider again.',
    )
  const takenNames = new Set(taken.map(({ username }) => username))
  return {
    identity,
    row,
    configured: version?.roles ?? null,
    former: former.map(({ name }) => name),
    own,
    timeZone: version?.timeZone ?? ZONE_WITHOUT_CONFIGURATION,
    count: counted?.count ?? 0,
    isTaken: username => takenNames.has(username),
  }
}

type Within = {
  readonly tenant: Tenant
  readonly provider: Provider
  readonly verified: Verified
  readonly database: Database
  readonly context: PublicContext
}

type Outcome = {
  /** Absent if the person has no account and gets none. */
  readonly account?: Account
  /** Columns to change in an existing account. Undefined for a new account. */
  readonly set?: Partial<Account> | undefined
  /** Roles that the account gets. Absent if they stay the same. */
  readonly roles?: readonly string[]
  /** Whether the current access tokens of the account end. */
  readonly ends?: boolean
  readonly username: string
  readonly reason?: 'noRole' | 'disabled'
}

/** For people who are known to the provider but not to the tenant. */
const NOBODY = '00000000-0000-4000-8000-000000000000' as Uuid
const UNAUTHENTICATED = 'account.unauthenticated'

/** Writes the outcome, all of it or nothing. The used token is recorded even where nobody is admitted. */
async function recordOutcome(
  { tenant, provider, verified, database, context }: Within,
  { identity, row, own }: Known,
  { account, set, roles, ends = false, username, reason }: Outcome,
): Promise<void> {
  const { build } = database
  const caller = account
    ? callerOf(storedAccount({ ...account, ...set }), tenant)
    : { accountLocator: NOBODY, username, accountType: UNAUTHENTICATED }
  const within = { ...context, now: tenantNow(tenant), tenant, caller, idempotency: undefined }
  const epoch = (account?.tokenEpoch ?? 0) + (ends ? 1 : 0)
  const facts: Query[] = [
    build.delete(usedIdTokens).where(lt(usedIdTokens.expiresAt, realNow())),
    build.insert(usedIdTokens).values({ hash: verified.hash, expiresAt: verified.expiresAt }),
  ]
  const timers: NewTimer[] = []
  if (account) facts.push(...accountWrites(database, account, { set, roles, epoch }))
  const { issuer, subject } = verified
  if (account && reason !== 'disabled') {
    const closedAt = closedAtOf(identity, account, set, reason)
    const row = { issuer, subject, accountLocator: account.locator, closedAt }
    facts.push(...putRows(database, accountIdentities, [row]))
  }
  if (account && ends) {
    const ending = revocationWrites(within, database, account.locator as Uuid, epoch)
    facts.push(...ending.facts)
    timers.push(...ending.timers)
  }
  const { accountType } = caller
  const action: AuditAction & LoginEvent['type'] = reason ? 'login.failure' : 'login.success'
  const disables = set?.disabledAt != null
  const ownRoles = own.map(({ name }) => name)
  await commitAudited(within, database, {
    guards: [
      guardOf(verified, identity, row, account && !set ? username : undefined),
      ...(own.length > 0 ? [{ name: 'guard_account' as const, holds: areUnchanged(ownRoles, own) }] : []),
    ],
    facts,
    events: [{ type: action, data: { username, accountType, ...(reason && { reason }) } }],
    timers,
    audit: {
      action,
      subject: caller.accountLocator,
      details: {
        accountType,
        provider: provider.name,
        ...(reason && { reason }),
        ...(account && !set && { made: true }),
        ...(disables && { disabled: true }),
      },
    },
  })
  if (account && ends)
    await announceOrLog(context, { tenant, accountLocator: account.locator as Uuid, epoch })
  forgetAuthTokens()
}

/** Builds the writes of an account: a new one as a whole, or the changes of an existing one, and the roles that it gets. */
function accountWrites(
  database: Database,
  account: Account,
  { set, roles, epoch }: Pick<Outcome, 'set' | 'roles'> & { readonly epoch: number },
): Query[] {
  const writes = set ? [] : putRows(database, accounts, [account])
  if (set && Object.keys(set).length > 0)
    writes.push(
      database.build
        .update(accounts)
        .set({ ...set, tokenEpoch: epoch })
        .where(eq(accounts.locator, account.locator)),
    )
  return roles ? [...writes, ...rolesQueries(database, account.locator as Uuid, roles)] : writes
}

const closedAtOf = (
  identity: Known['identity'],
  account: Account,
  set: Partial<Account> | undefined,
  reason: Outcome['reason'],
): number | null => {
  if (!reason) return null
  return set?.disabledAt ?? (identity?.closedAt === account.disabledAt ? identity.closedAt : null)
}

/** Guard: the token is unused, and nothing that was read has changed. `username` is that of a new account. */
function guardOf(
  { issuer, subject, hash }: Verified,
  identity: Known['identity'],
  row: Known['row'],
  username: string | undefined,
): Guard {
  const isThis = sql`${accountIdentities.issuer} = ${issuer} and ${accountIdentities.subject} = ${subject}`
  const isSame = row
    ? sql`exists (select 1 from ${accounts} where ${accounts.locator} = ${row.locator} and ${accounts.deletedAt} is null
        and ${accounts.tokenEpoch} = ${row.tokenEpoch} and ${accounts.disabledAt} is ${row.disabledAt}
        and ${accounts.type} = ${row.type})`
    : sql`true`
  const isFree =
    username === undefined
      ? sql`true`
      : sql`not exists (select 1 from ${accounts} where ${accounts.username} = ${username} and ${accounts.deletedAt} is null)`
  return {
    name: 'guard_account',
    holds: sql`not exists (select 1 from ${usedIdTokens} where ${usedIdTokens.hash} = ${hash})
      and (select ${accountIdentities.accountLocator} from ${accountIdentities} where ${isThis})
        is ${identity?.accountLocator ?? null}
      and (select ${accountIdentities.closedAt} from ${accountIdentities} where ${isThis}) is ${identity?.closedAt ?? null}
      and ${isSame} and ${isFree}`,
  }
}
