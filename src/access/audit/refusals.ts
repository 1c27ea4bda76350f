// Permission refusals in the audit trail. A client that is refused again and again must not fill it, so that of an hour
// the first refusal of an account, a method and a path is kept, and no other.

import { derivedUuid } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import { noCalls } from '../../platform/calls.ts'
import type { Caller } from '../../platform/context.ts'
import { administrationAudits } from '../../platform/control-tables.ts'
import type { Exchange } from '../../platform/http/exchange.ts'
import type { Route } from '../../platform/http/route.ts'
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

/** What this isolate has recorded, so that a repeat costs no write; forgotten when it has become much. */
const recorded = new Set<string>()
const MOST_REMEMBERED = 10_000

/**
 * Records that the caller was refused the route: in the tenant's trail, or in that of administration accounts. After the
 * answer: it is the same whether this succeeds, and a failure is logged.
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
