// Signs in with a password. All failures (unknown user, wrong password, locked or disabled account) get the same response after
// the same number of hashes.
import { sql } from 'drizzle-orm'
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import { type Guard, GuardTripped } from '../platform/commit.ts'
import type { Caller } from '../platform/context.ts'
import type { Query } from '../platform/database.ts'
import type { NewEvent } from '../platform/events/outbox.ts'
import type { PublicContext } from '../platform/http/route.ts'
import { administrators } from '../platform/tenancy/control-tables.ts'
import { controlDatabase, homeDatabase, type Tenant, tenantNow } from '../platform/tenancy.ts'
import { issueToken, type TokenHolder } from './access-tokens.ts'
import { administrationAuditRow, commitAudited } from './audit/store.ts'
import type { AuthenticateResponse } from './contract.ts'
import { administratorMayEnter, failureQuery, isLocked, mayEnter, openQuery } from './lock-out.ts'
import { isTooOld, type PasswordRules } from './password-rules/rules.ts'
import { hashPassword, needsRehash, withVerifier } from './passwords.ts'
import { ADMINISTRATION_ACCOUNT, readAdministrator, replaceHash, type StoredAccount } from './store.ts'
import { accounts } from './tables.ts'

export type Credentials = { readonly username: string; readonly password: string }

/** `timeZone` is that of the newest configuration. */
export type EnteredTenant = Tenant & { readonly timeZone: string; readonly rules: PasswordRules }

export type LoginEvent = NewEvent & { type: 'login.success' | 'login.failure' }

/** Used in events and audit entries about unknown users. */
const NOBODY = '00000000-0000-4000-8000-000000000000' as Uuid

const TENANT_ADMINISTRATOR = 'account.tenant.admin'

/** Returns the same 401 for each reason, because the response must not show which tenants and users exist. */
export const signInFailed = (): Refusal =>
  new Refusal('signInFailed', 'Tenant, user name or password is wrong, or the account is locked.')

/** Refuses a sign-in that names no tenant. Users of tenants often forget to name theirs. */
const administrationSignInFailed = (): Refusal =>
  new Refusal(
    'signInFailed',
    "User name or password is wrong, or the account is locked. Without 'hostName' or 'tenantName', only administration accounts can sign in.",
  )

type FailureReason =
  | 'unknownUser'
  | 'wrongPassword'
  | 'locked'
  | 'disabled'
  | 'noPassword'
  | 'closedMeanwhile'

/** Returns why the account cannot sign in even with the right password. `now` is the real time. */
function signInFailureReason(account: StoredAccount | undefined, now: Instant): FailureReason | undefined {
  if (!account) return 'unknownUser'
  if (account.disabledAt !== null) return 'disabled'
  if (isLocked(account, now)) return 'locked'
  return account.passwordHash === null ? 'noPassword' : undefined
}

/** Finds the first open account with the password. Missing and closed accounts take the same work. */
const accountWithPassword = (
  password: string,
  candidates: readonly (StoredAccount | undefined)[],
  { env, now }: PublicContext,
): Promise<StoredAccount | undefined> =>
  withVerifier(env.PASSWORD_PEPPER, verify =>
    candidates.find(
      candidate =>
        verify(password, candidate?.passwordHash ?? undefined) &&
        signInFailureReason(candidate, now) === undefined,
    ),
  )

/**
 * Makes as many hashes and round trips as for an existing tenant with this many candidates: neither the response nor its time must
 * show which tenants exist. The trail of administration accounts records the attempt.
 */
export async function refuseUnknownTenant(
  { username, password }: Credentials,
  candidates: number,
  context: PublicContext,
): Promise<never> {
  const { env, calls, requestId, now } = context
  const nobodies = Array.from({ length: candidates }, () => undefined)
  await Promise.all(nobodies.map(() => readAdministrator(env, { locator: NOBODY }, calls)))
  await accountWithPassword(password, nobodies, context)
  const control = controlDatabase(env, calls)
  if (candidates > 1) await control.batch([failureQuery(control, administrators, NOBODY, now)])
  const caller = { accountLocator: NOBODY, username, accountType: UNAUTHENTICATED }
  const details = { reason: 'unknownTenant' }
  await control.batch([
    administrationAuditRow(
      control,
      { caller, requestId, now },
      { action: 'login.failure', subject: NOBODY, details },
    ),
  ])
  throw signInFailed()
}

/**
 * Signs in the first candidate with that password. The tenant's stream and audit trail report the result either way. Pass
 * undefined for a missing candidate, so that it takes as long as an existing one.
 */
export async function signInToTenant(
  tenant: EnteredTenant,
  candidates: readonly (StoredAccount | undefined)[],
  { username, password }: Credentials,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const account = await accountWithPassword(password, candidates, context)
  if (account && (await completeSignIn(tenant, account, password, context)))
    return authentication(context, account, tenant, context.now)
  const known = candidates.find(candidate => candidate !== undefined)
  const reason = account ? 'closedMeanwhile' : (signInFailureReason(known, context.now) ?? 'wrongPassword')
  await countFailures(
    tenant,
    account ? [] : candidates,
    known ? callerOf(known, tenant) : { accountLocator: NOBODY, username, accountType: UNAUTHENTICATED },
    reason,
    context,
  )
  throw signInFailed()
}

const UNAUTHENTICATED = 'account.unauthenticated'

/**
 * Signs in to no tenant. Without an account, it takes as long and then throws 401, as for a wrong password. The audit trail of
 * administration accounts records either result.
 */
export async function signInAdministrator(
  account: StoredAccount | undefined,
  { username, password }: Credentials,
  context: PublicContext,
): Promise<AuthenticateResponse> {
  const { env, calls, requestId, now } = context
  const found = await accountWithPassword(password, [account], context)
  if (found && (await enterAdministration(found, password, context, true)))
    return authentication(context, found, undefined, now)
  const database = controlDatabase(env, calls)
  const caller = account
    ? callerOf(account, undefined)
    : { accountLocator: NOBODY, username, accountType: UNAUTHENTICATED }
  const reason = found ? 'closedMeanwhile' : (signInFailureReason(account, now) ?? 'wrongPassword')
  const entry = administrationAuditRow(
    database,
    { caller, requestId, now },
    { action: 'login.failure', subject: caller.accountLocator, details: { reason } },
  )
  const counted = found ? [] : [failureQuery(database, administrators, account?.locator ?? NOBODY, now)]
  await database.batch([entry, ...counted])
  throw administrationSignInFailed()
}

/** Returns false when the account was closed or its password changed in the meantime. */
async function completeSignIn(
  tenant: EnteredTenant,
  account: StoredAccount,
  password: string,
  context: PublicContext,
): Promise<boolean> {
  const caller = callerOf(account, tenant)
  const { username, accountType } = caller
  const event: LoginEvent = { type: 'login.success', data: { username, accountType } }
  if (account.accountType === ADMINISTRATION_ACCOUNT) {
    if (!(await enterAdministration(account, password, context, false))) return false
    await record(tenant, caller, event, [], [], context)
    return true
  }
  const { env, calls, now } = context
  const database = homeDatabase({ env, tenant, calls })
  const facts = [openQuery(database, accounts, account.locator)]
  if (needsRehash(account.passwordHash!))
    facts.push(replaceHash(database, account, await hashPassword(password, env.PASSWORD_PEPPER)))
  const guard: Guard = { name: 'guard_account', holds: mayEnter(account, now) }
  try {
    await record(tenant, caller, event, facts, [guard], context)
    return true
  } catch (problem) {
    if (problem instanceof GuardTripped) return false
    throw problem
  }
}

/** `isAudited`: record it in the trail of administration accounts, because no tenant's trail reports it. */
async function enterAdministration(
  account: StoredAccount,
  password: string,
  { env, calls, requestId, now }: PublicContext,
  isAudited: boolean,
): Promise<boolean> {
  const database = controlDatabase(env, calls)
  const passwordHash =
    needsRehash(account.passwordHash!) && (await hashPassword(password, env.PASSWORD_PEPPER))
  const open = administratorMayEnter(account, now)
  // Written only if the account may still sign in, by the same condition as the change after it.
  const entry = administrationAuditRow(
    database,
    { caller: callerOf(account, undefined), requestId, now },
    { action: 'login.success', subject: account.locator, details: {} },
    isAudited ? sql`exists (select 1 from ${administrators} where ${open})` : sql`false`,
  )
  const [, entered] = await database.batch([
    entry,
    database.build
      .update(administrators)
      .set({ failedSignIns: 0, lockedUntil: null, ...(passwordHash && { passwordHash }) })
      .where(open)
      .returning({ locator: administrators.locator }),
  ])
  return entered.length > 0
}

/** Counts a failure for each account whose password was tried. An unknown user is recorded, too, so that it takes as long. */
async function countFailures(
  tenant: EnteredTenant,
  tried: readonly (StoredAccount | undefined)[],
  caller: Caller,
  reason: FailureReason,
  context: PublicContext,
): Promise<void> {
  const { env, calls, now } = context
  const locatorOf = (isAdministration: boolean): Uuid =>
    tried.find(account => account && (account.accountType === ADMINISTRATION_ACCOUNT) === isAdministration)
      ?.locator ?? NOBODY
  const [database, control] = [homeDatabase({ env, tenant, calls }), controlDatabase(env, calls)]
  // With two candidates, the other is an administration account.
  if (tried.length > 1) await control.batch([failureQuery(control, administrators, locatorOf(true), now)])
  const { username, accountType } = caller
  const event: LoginEvent = { type: 'login.failure', data: { username, accountType, reason } }
  const counted = tried.length > 0 ? [failureQuery(database, accounts, locatorOf(false), now)] : []
  await record(tenant, caller, event, counted, [], context)
}

async function record(
  tenant: Tenant,
  caller: Caller,
  event: LoginEvent,
  facts: readonly Query[],
  guards: readonly Guard[],
  context: PublicContext,
): Promise<void> {
  const within = { ...context, now: tenantNow(tenant), tenant, caller, idempotency: undefined }
  const { accountType, reason } = event.data
  await commitAudited(within, homeDatabase(within), {
    guards,
    facts,
    events: [event],
    audit: {
      action: event.type,
      subject: caller.accountLocator,
      details: { accountType, ...(reason !== undefined && { reason }) },
    },
  })
}

/**
 * Returns the account as a caller. Within a tenant, an administration account is that tenant's administrator: it cannot deploy.
 */
export const callerOf = (
  { locator, username, accountType, permissions }: StoredAccount,
  tenant: Tenant | undefined,
): Caller => ({
  accountLocator: locator,
  username,
  accountType: tenant && accountType === ADMINISTRATION_ACCOUNT ? TENANT_ADMINISTRATOR : accountType,
  ...(permissions && { permissions }),
})

/** Issues an access token for the account, in a tenant or in none. `signedInAt` limits how long it can be renewed. */
export async function authentication(
  { env, now }: Pick<PublicContext, 'env' | 'now'>,
  account: StoredAccount,
  tenant: EnteredTenant | undefined,
  signedInAt: Instant,
): Promise<AuthenticateResponse> {
  const holder: TokenHolder = {
    caller: callerOf(account, tenant),
    accountName: account.name,
    accountEpoch: account.tokenEpoch,
    isPasswordExpired: tenant !== undefined && isTooOld(tenant.rules, account.passwordChangedAt, now),
    isAdministration: account.accountType === ADMINISTRATION_ACCOUNT,
    tenant,
    signedInAt,
  }
  const { token: authorizationToken, expiresAt } = await issueToken(env, holder, now)
  return { authorizationToken, expiresTimestamp: String(expiresAt) }
}
