// Ending a lock-out before its time (contract 1, Authentication 4).
import { notFound, Refusal } from '../../kernel/errors.ts'
import { commit, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { administrators } from '../../platform/control-tables.ts'
import type { SignedInContext } from '../../platform/http/route.ts'
import { controlDatabase, HOME_SHARD, homeDatabase, tenantNow } from '../../platform/tenancy.ts'
import { administrationAuditRow, auditRows } from '../audit/store.ts'
import type { AccountUnlockRequest } from '../contract.ts'
import { openQuery } from '../lock-out.ts'
import { requireAuthority } from '../rights.ts'
import { readAccount, readAdministrator, readNamedTenant } from '../store.ts'
import { accounts } from '../tables.ts'
import { namings, tenantNamed } from '../tenant-named.ts'

/**
 * Unlocks a user of the tenant that is named; without one, another administration account, or for an administrator of a
 * tenant a user of that. An account that is not locked stays as it is. Nobody unlocks themselves: who has only a token
 * could go on guessing at the password. Tokens are not touched: a lock is for passwords.
 */
export async function unlock(request: AccountUnlockRequest, context: SignedInContext): Promise<void> {
  const { username } = request
  const { env, calls } = context
  const named = tenantNamed({ ...request, tenantLocator: undefined }, {})
  if (!context.tenant && namings(named) === 0) return unlockAdministrator(username, context)
  const tenant = namings(named) === 0 ? context.tenant : await readNamedTenant(env, named, calls)
  // To an administrator of a tenant there is no other.
  if (!tenant || (context.tenant && context.tenant.locator !== tenant.locator))
    throw notFound('tenant', named.hostName ?? named.tenantName ?? '')
  const within: RequestContext = { ...context, tenant, now: tenantNow(tenant) }
  const database = homeDatabase(within)
  if (await storedAnswer(within, database)) return
  const { account } = await readAccount(database, { username })
  if (!account) throw notFound('account', username)
  requireAnother(account.locator, context)
  requireAuthority(context.caller, account)
  await commit(within, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: [
      openQuery(database, accounts, account.locator),
      ...auditRows(database, within, HOME_SHARD, [
        { action: 'accounts.unlock', subject: account.locator, details: { username } },
      ]),
    ],
    events: [],
    answer: { status: 200, text: '' },
    subject: account.locator,
  })
}

async function unlockAdministrator(username: string, context: SignedInContext): Promise<void> {
  const { env, calls } = context
  const account = await readAdministrator(env, { username }, calls)
  if (!account) throw notFound('account', username)
  requireAnother(account.locator, context)
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

function requireAnother(locator: string, { caller }: SignedInContext): void {
  if (locator === caller.accountLocator)
    throw new Refusal('wrongState', 'You cannot unlock your own account; another administrator can.')
}
