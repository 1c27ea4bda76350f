// A tenant cannot lock itself out: if a person who can sign in may change users (roles/managers.ts), at least one such person
// remains.
import { type SQL, sql } from 'drizzle-orm'
import { wrongState } from '../kernel/errors.ts'
import type { Guard } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import type { TenantRoles } from '../product/roles.ts'
import { isHeldByPerson, type Change as ManagerChange, managersOf, mayManageUsers } from './roles/managers.ts'
import type { StoredAccount } from './store.ts'
import { accounts } from './tables.ts'

/** The data on which a change of accounts is decided. */
export type Reading = {
  /** Roles of the newest configuration. */
  readonly configured: TenantRoles | null | undefined
  /** False after a guard tripped. */
  readonly isFirst: boolean
}

/**
 * Returns guards for an account that is about to be disabled or deleted, or to lose its password. Rejects the change for the last
 * person who may change users.
 */
export async function managerGuards(
  account: StoredAccount,
  { configured, isFirst }: Reading,
  context: RequestContext,
): Promise<Guard[]> {
  const isManager = mayManageUsers(account) && !account.isService && account.disabledAt === null
  if (!isManager || !context.tenant.keepsRoles) return []
  const holds = managerStays(configured, { loses: sql`${accounts.locator} = ${account.locator}` })
  await requireManager(homeDatabase(context), holds, isFirst)
  return [{ name: 'guard_account', holds }]
}

/** Returns a condition on the state before the change: no person may change users, or one still may after the change. */
export function managerStays(configured: TenantRoles | null | undefined, change: ManagerChange): SQL {
  const holders = managersOf(configured)
  return sql`(not ${isHeldByPerson(holders)} or ${isHeldByPerson(holders, change)})`
}

/**
 * Throws 409 if `holds` is false. The commit guards `holds`, so this does nothing on the first attempt. After a guard tripped, it
 * finds out whether `holds` was the reason.
 */
export async function requireManager(database: Database, holds: SQL, isFirst: boolean): Promise<void> {
  if (isFirst) return
  const [[row]] = await database.batch([
    database.build.all<{ holds: number }>(sql`select coalesce((${holds}), 0) as holds`),
  ])
  if (row?.holds !== 1)
    throw wrongState(
      'No person would be left who can sign in and change users (users.write). Give another person that permission first.',
    )
}
