import { newUuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { putRows, type Query } from '../../../platform/database.ts'
import { timers } from '../../../platform/tables.ts'
import { HOME_SHARD, shardDatabase, tenantNow } from '../../../platform/tenancy.ts'
import type { Place } from '../delivery/place.ts'
import { suspended } from './apply.ts'
import { copyTimers, copyWebhook } from './copies.ts'

/**
 * Suspends a webhook, at home first, since that row is what clients see and what the others take over. Cut off in between,
 * the timer of the copies does the rest.
 */
export async function suspendWebhook(
  { env, tenant, calls }: Pick<Place, 'env' | 'tenant' | 'calls'>,
  locator: string,
  at: Instant,
): Promise<void> {
  const home = shardDatabase(env, tenant, HOME_SHARD, calls)
  const copies = copyTimers(tenant, locator, tenantNow(tenant))
  await home.batch([
    ...suspended(home, locator, at),
    ...putRows(
      home,
      timers,
      copies.map(timer => ({ locator: newUuid(HOME_SHARD), ...timer })),
    ),
  ] as unknown as [Query, ...Query[]])
  await copyWebhook(env, tenant, locator, calls)
}
