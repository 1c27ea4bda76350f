// A tenant does not lock itself out: the last person who may change users (roles/managers.ts) keeps that.
import { sql } from 'drizzle-orm'
import { wrongState } from '../kernel/errors.ts'
import type { Guard } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import { versionQuery } from '../product/cache.ts'
import { managersOf, manages } from './roles/managers.ts'
import * as store from './roles/store.ts'
import type { StoredAccount } from './store.ts'

/**
 * Before an account is disabled or deleted: 409 where it is that of the last person who may change users, and the guard that holds the
 * same at the commit.
 */
export async function keepsManager(account: StoredAccount, context: RequestContext): Promise<Guard[]> {
  const isManager = manages(account) && !account.isService && account.disabledAt === null
  if (!isManager || !context.tenant.keepsRoles) return []
  const database = homeDatabase(context)
  const [[version], present] = await database.batch([
    versionQuery(database, undefined),
    store.rolesQuery(database),
  ])
  const holds = store.isHeldByPerson(managersOf(version?.roles, present), account.locator)
  await requireManager(database, holds)
  return [{ name: 'guard_account', holds }]
}

/** 409 unless `holds`; the commit guards the same. */
export async function requireManager(
  database: Database,
  holds: ReturnType<typeof store.hasRole>,
): Promise<void> {
  const [[row]] = await database.batch([
    database.build.all<{ holds: number }>(sql`select coalesce((${holds}), 0) as holds`),
  ])
  if (row?.holds !== 1)
    throw wrongState(
      'Nobody would be left who may change users (users.write). Give that to another person first.',
    )
}
