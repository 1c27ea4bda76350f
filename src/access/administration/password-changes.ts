// Password changes and unlocking (contract 1, Authentication 4). A wrong old password counts as a failed sign-in, and a locked
// account accepts no old password: a stolen token must not help to guess it.
import { eq, sql } from 'drizzle-orm'
import { forbidden, notFound, Refusal, tokenRevoked, unauthenticated } from '../../kernel/errors.ts'
import { now as realNow } from '../../kernel/time.ts'
import { GuardTripped, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { SignedInContext } from '../../platform/http/route.ts'
import { administrators } from '../../platform/tenancy/control-tables.ts'
import { controlDatabase, homeDatabase, tenantNow } from '../../platform/tenancy.ts'
import { administrationAuditRow, commitAudited } from '../audit/store.ts'
import type { AccountUnlockRequest, PasswordChangeRequest } from '../contract.ts'
import { administratorMayEnter, failureQuery, isLocked, mayEnter, openQuery } from '../lock-out.ts'
import { type PasswordRules, PLAIN_RULES, requireGoodPassword } from '../password-rules/rules.ts'
import { hashPassword, verifyPassword } from '../passwords.ts'
import { announceOrLog, announceRevocation, revocationWrites } from '../revocation.ts'
import { requireAuthority } from '../rights.ts'
import { countNames, mergeTenantNames } from '../service.ts'
import { readAccount, readAdministrator, readNamedTenant, type StoredAccount } from '../store.ts'
import { accounts } from '../tables.ts'
import { newPassword, requireNotSelf } from './service.ts'

/**
 * Changes the caller's own password and ends all access tokens of the account, including the one of this request. Long-lived
 * tokens stay, because no password created them. Throws 403 `wrongPassword` for a wrong old password and 400 `weakPassword` for a
 * new one that breaks the rules.
 */
export async function changeOwnPassword(
  request: PasswordChangeRequest,
  context: SignedInContext,
): Promise<void> {
  const { tenant, caller, signedInAt } = context
  if (signedInAt === undefined)
    throw forbidden('A long-lived token cannot change a password. Sign in, and use the token of the sign-in.')
  const own = tenant && { ...context, tenant, now: tenantNow(tenant) }
  const read = own && (await readAccount(homeDatabase(own), { locator: caller.accountLocator }, own.tenant))
  if (own && read?.account) return changeOfTenant(request, read.account, read.rules, own)
  const { env, calls } = context
  const administrator = await readAdministrator(env, { locator: caller.accountLocator }, calls)
  if (!administrator) throw unauthenticated('The account no longer exists; sign in with another one.')
  return changeOfAdministration(request, administrator, context)
}

async function changeOfTenant(
  request: PasswordChangeRequest,
  account: StoredAccount,
  rules: PasswordRules,
  context: RequestContext,
): Promise<void> {
  const { tenant } = context
  const { locator } = account
  const database = homeDatabase(context)
  const audit = { action: 'accounts.password', subject: locator, details: {} } as const
  if (!(await isRight(request.oldPassword, account, context))) {
    await commitAudited({ ...context, idempotency: undefined }, database, {
      guards: [],
      facts: [failureQuery(database, accounts, locator, realNow())],
      audit: { ...audit, details: WRONG_PASSWORD },
    })
    throw wrongPassword()
  }
  const hash = await hashNewPassword(request, account, rules, context)
  const epoch = account.tokenEpoch + 1
  const { facts, timers } = revocationWrites(context, database, locator, epoch)
  try {
    await commitAudited(context, database, {
      guards: [{ name: 'guard_account', holds: mayEnter(account, realNow()) }],
      facts: [
        database.build
          .update(accounts)
          .set({ ...newPassword(hash, account, rules), tokenEpoch: epoch })
          .where(eq(accounts.locator, locator)),
        ...facts,
      ],
      timers,
      audit,
    })
  } catch (problem) {
    throw problem instanceof GuardTripped ? wrongPassword() : problem
  }
  await announceOrLog(context, { tenant, accountLocator: locator, epoch })
}

async function changeOfAdministration(
  request: PasswordChangeRequest,
  account: StoredAccount,
  context: SignedInContext,
): Promise<void> {
  const { locator } = account
  if (context.accountEpoch < account.tokenEpoch) throw tokenRevoked()
  const database = controlDatabase(context.env, context.calls)
  const entry = { action: 'accounts.password', subject: locator, details: {} } as const
  if (!(await isRight(request.oldPassword, account, context))) {
    await database.batch([
      failureQuery(database, administrators, locator, realNow()),
      administrationAuditRow(database, context, { ...entry, details: WRONG_PASSWORD }),
    ])
    throw wrongPassword()
  }
  const passwordHash = await hashNewPassword(request, account, PLAIN_RULES, context)
  const open = administratorMayEnter(account, realNow())
  const epoch = account.tokenEpoch + 1
  const [, changed] = await database.batch([
    administrationAuditRow(
      database,
      context,
      entry,
      sql`exists (select 1 from ${administrators} where ${open})`,
    ),
    database.build
      .update(administrators)
      .set({ passwordHash, failedSignIns: 0, lockedUntil: null, tokenEpoch: epoch })
      .where(open)
      .returning({ locator: administrators.locator }),
  ])
  if (changed.length === 0) throw wrongPassword()
  await announceRevocation(context, { tenant: undefined, accountLocator: locator, epoch })
}

const WRONG_PASSWORD = { refused: 'wrongPassword' }

type Environment = Pick<SignedInContext, 'env'>

async function isRight(password: string, account: StoredAccount, { env }: Environment): Promise<boolean> {
  const fits = await verifyPassword(password, account.passwordHash ?? undefined, env.PASSWORD_PEPPER)
  return fits && !isLocked(account, realNow())
}

/**
 * Returns the hash of a new password that follows the rules. Throws 400 `weakPassword` for any other. The current password is
 * never accepted as the new one, even in a tenant without rules.
 */
async function hashNewPassword(
  { oldPassword, password }: PasswordChangeRequest,
  account: StoredAccount,
  rules: PasswordRules,
  { env: { PASSWORD_PEPPER } }: Environment,
): Promise<string> {
  await requireGoodPassword(password, rules, account)
  let isNew = password.normalize('NFKC') !== oldPassword.normalize('NFKC')
  for (const hash of account.formerHashes.slice(0, rules.history))
    if (isNew && (await verifyPassword(password, hash, PASSWORD_PEPPER))) isNew = false
  if (!isNew)
    throw new Refusal('weakPassword', 'The password is your current one or a recent one. Choose another.')
  return await hashPassword(password, PASSWORD_PEPPER)
}

const wrongPassword = (): Refusal =>
  new Refusal(
    'wrongPassword',
    'The old password is wrong, or the account is locked after too many wrong ones. An administrator can unlock it.',
  )

/**
 * Unlocks a user of the named tenant. Without a named tenant, unlocks a user of the caller's tenant, or another administration
 * account if the caller is one. Does nothing to an account that is not locked. You cannot unlock yourself: someone with a stolen
 * token could continue to guess the password. Tokens stay valid, because a lock is for passwords.
 */
export async function unlock(request: AccountUnlockRequest, context: SignedInContext): Promise<void> {
  const { username } = request
  const { env, calls } = context
  const named = mergeTenantNames({ ...request, tenantLocator: undefined }, {})
  if (!context.tenant && countNames(named) === 0) return unlockAdministrator(username, context)
  const tenant = countNames(named) === 0 ? context.tenant : await readNamedTenant(env, named, calls)
  // Administrators of a tenant cannot see other tenants.
  if (!tenant || (context.tenant && context.tenant.locator !== tenant.locator))
    throw notFound('tenant', named.hostName ?? named.tenantName ?? '')
  const within: RequestContext = { ...context, tenant, now: tenantNow(tenant) }
  const database = homeDatabase(within)
  if (await storedAnswer(within, database)) return
  const { account } = await readAccount(database, { username }, tenant)
  if (!account) throw notFound('account', username)
  requireNotSelf(account.locator, context.caller, 'unlock')
  requireAuthority(context.caller, account)
  await commitAudited(within, database, {
    guards: [],
    facts: [openQuery(database, accounts, account.locator)],
    audit: { action: 'accounts.unlock', subject: account.locator, details: { username } },
  })
}

async function unlockAdministrator(username: string, context: SignedInContext): Promise<void> {
  const { env, calls } = context
  const account = await readAdministrator(env, { username }, calls)
  if (!account) throw notFound('account', username)
  requireNotSelf(account.locator, context.caller, 'unlock')
  const database = controlDatabase(env, calls)
  await database.batch([
    openQuery(database, administrators, account.locator),
    administrationAuditRow(database, context, {
      action: 'accounts.unlock',
      subject: account.locator,
      details: { username },
    }),
  ])
}
