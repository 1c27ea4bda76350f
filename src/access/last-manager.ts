// A tenant does not lock itself out: while a person who can sign in may change users (roles/managers.ts), one keeps that.
import { type SQL, sql } from 'drizzle-orm'
import { wrongState } from '../kernel/errors.ts'
import type { Guard } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import type { TenantRoles } from '../product/roles.ts'
import { isHeldByPerson, type Change as ManagerChange, managersOf, manages } from './roles/managers.ts'
import type { StoredAccount } from './store.ts'
import { accounts } from './tables.ts'

/** With what a change of accounts is decided. */
export type Reading = {
  /** Roles of the newest configuration. */
  readonly configured: TenantRoles | null | undefined
  /** False after a guard tripped. */
  readonly isFirst: boolean
}

/**
 * Guards, for an account that is about to be disabled or deleted, or to lose its password: refused where it is that of the last person
 * who may change users.
 */
export async function keepsManager(
  account: StoredAccount,
  { configured, isFirst }: Reading,
  context: RequestContext,
): Promise<Guard[]> {
  const isManager = manages(account) && !account.isService && account.disabledAt === null
  if (!isManager || !context.tenant.keepsRoles) return []
  const holds = managerStays(configured, { loses: sql`${accounts.locator} = ${account.locator}` })
  await requireManager(homeDatabase(context), holds, isFirst)
  return [{ name: 'guard_account', holds }]
}

/** Condition, before the change: no person may change users, or one does after it. */
export function managerStays(configured: TenantRoles | null | undefined, change: ManagerChange): SQL {
  const holders = managersOf(configured)
  return sql`(not ${isHeldByPerson(holders)} or ${isHeldByPerson(holders, change)})`
}

/**
 * The commit guards `holds`, so nothing is asked at the first try. If its guard tripped, this says whether it was for this: 409 unless
 * `holds`.
 */
export async function requireManager(database: Database, holds: SQL, isFirst: boolean): Promise<void> {
  if (isFirst) return
  const [[row]] = await database.batch([
    database.build.all<{ holds: number }>(sql`select coalesce((${holds}), 0) as holds`),
  ])
  if (row?.holds !== 1)
    throw wrongState(
      'Nobody would be left who can sign in and may change users (users.write). Give that to another person first.',
    )
}
