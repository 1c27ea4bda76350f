// Changes one account in one commit with its audit entry. When another request changed the account first, the change is decided
// again.
import { eq, sql } from 'drizzle-orm'
import { notFound } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/locators.ts'
import { commit, isBySubject, type JsonAnswer, retryOnConflict, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { HOME_SHARD, homeDatabase } from '../../platform/tenancy.ts'
import { type AuditEntry, auditRows } from '../audit/store.ts'
import type { PasswordRules } from '../password-rules/rules.ts'
import { announceRevocation, forgetAuthTokens, revocationTimer } from '../revocation.ts'
import { requireAuthority } from '../rights.ts'
import { readAccount, type StoredAccount } from '../store.ts'
import { accounts, authTokens } from '../tables.ts'

/** The change of an account. */
export type AccountChange = {
  readonly set: Partial<typeof accounts.$inferInsert>
  /** Ends its access tokens, everywhere within 5 s. */
  readonly endsAccess?: boolean
  /** Deletes its long-lived tokens. */
  readonly endsTokens?: boolean
  readonly told: AuditEntry
  readonly answer: JsonAnswer
}

type Decide = (account: StoredAccount, rules: PasswordRules) => Promise<AccountChange> | AccountChange

/**
 * Reads the account (404 when there is none, or it was deleted), decides and commits. 422 when the account has more rights than
 * the caller. A repeat returns the original response.
 */
export async function changeAccount(
  context: RequestContext,
  locator: string,
  decide: Decide,
): Promise<JsonAnswer> {
  const database = homeDatabase(context)
  const earlier = await storedAnswer(context, database)
  const answer =
    earlier ?? (await retryOnConflict('The account', () => changeOnce(context, database, locator, decide)))
  return isBySubject(answer) ? { status: answer.status, text: '' } : answer
}

async function changeOnce(
  context: RequestContext,
  database: Database,
  given: string,
  decide: Decide,
): Promise<JsonAnswer> {
  const { tenant } = context
  const { account, rules } = await accountAt(database, given)
  const { set, endsAccess = false, endsTokens = false, told, answer } = await decide(account, rules)
  requireAuthority(context.caller, account)
  const { locator } = account
  const epoch = account.tokenEpoch + (endsAccess ? 1 : 0)
  const facts: Query[] = [
    database.build
      .update(accounts)
      .set({ ...set, tokenEpoch: epoch })
      .where(eq(accounts.locator, locator)),
    ...(endsTokens ? [database.build.delete(authTokens).where(eq(authTokens.accountLocator, locator))] : []),
    ...auditRows(database, context, HOME_SHARD, [told]),
  ]
  const committed = await commit(context, database, {
    shard: HOME_SHARD,
    guards: [{ name: 'guard_account', holds: isUnchanged(account) }],
    facts,
    events: [],
    timers: endsAccess ? [revocationTimer(tenant, locator, epoch)] : [],
    answer,
    subject: locator,
  })
  if (endsAccess) await announceRevocation(context, { tenant, accountLocator: locator, epoch })
  forgetAuthTokens()
  return isBySubject(committed) ? { status: committed.status, text: '' } : committed
}

/** The account of that locator, and the tenant's rules for passwords; 404 when there is none. */
export async function accountAt(
  database: Database,
  given: string,
): Promise<{ account: StoredAccount; rules: PasswordRules }> {
  const locator = readUuid(given)
  const { account, rules } = locator ? await readAccount(database, { locator }) : {}
  if (!account || !rules) throw notFound('account', given)
  return { account, rules }
}

/** True in the batch while nothing that the decision rests on has changed. */
const isUnchanged = ({ locator, tokenEpoch, passwordHash, disabledAt }: StoredAccount) =>
  sql`exists (select 1 from ${accounts} where ${accounts.locator} = ${locator} and ${accounts.deletedAt} is null
    and ${accounts.tokenEpoch} = ${tokenEpoch} and ${accounts.passwordHash} is ${passwordHash}
    and ${accounts.disabledAt} is ${disabledAt})`
