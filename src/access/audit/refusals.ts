// Permission refusals in the audit trail. To keep a client that is refused again and again from filling it, only the first
// refusal in an hour is recorded for each account, method and path.

import { derivedUuid } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import { noCalls } from '../../platform/calls.ts'
import type { Caller } from '../../platform/context.ts'
import type { Exchange } from '../../platform/http/exchange.ts'
import type { Route } from '../../platform/http/route.ts'
import { administrationAudits } from '../../platform/tenancy/control-tables.ts'
import {
  ADMINISTRATION,
  controlDatabase,
  HOME_SHARD,
  shardDatabase,
  type Tenant,
  tenantNow,
} from '../../platform/tenancy.ts'
import { audits } from './tables.ts'

const HOUR_MS = 3_600_000

/** What this isolate has recorded already, so that a repeat costs no write. Cleared when it grows too large. */
const recorded = new Set<string>()
const MOST_REMEMBERED = 10_000

/**
 * Records that the caller was refused the route, in the tenant's trail or in that of administration accounts. Runs after the
 * answer, which does not depend on it; a failure is logged.
 */
export async function recordRefusal(
  env: Env,
  { requestId }: Pick<Exchange, 'requestId'>,
  { caller, tenant }: { caller: Caller; tenant: Tenant | undefined },
  { method, path, access }: Pick<Route, 'method' | 'path' | 'access'>,
): Promise<void> {
  const at = tenant ? tenantNow(tenant) : now()
  const hour = String(Math.floor(at / HOUR_MS))
  const locator = derivedUuid(
    HOME_SHARD,
    'refusal',
    tenant?.locator ?? ADMINISTRATION,
    caller.accountLocator,
    method,
    path,
    hour,
  )
  const key = `${tenant?.generation ?? ADMINISTRATION}/${locator}`
  if (recorded.has(key)) return
  const needed = 'permissions' in access ? (access.permissions ?? []) : []
  const row = {
    locator,
    createdAt: at,
    action: 'permission.refused',
    subject: `${method.toUpperCase()} ${path}`,
    details: { permissions: needed, accountType: caller.accountType },
    accountLocator: caller.accountLocator,
    username: caller.username,
    requestId,
  }
  const [database, table] = tenant
    ? [shardDatabase(env, tenant, HOME_SHARD, noCalls()), audits]
    : [controlDatabase(env, noCalls()), administrationAudits]
  await database.batch([database.build.insert(table).values(row).onConflictDoNothing()])
  if (recorded.size >= MOST_REMEMBERED) recorded.clear()
  recorded.add(key)
}
