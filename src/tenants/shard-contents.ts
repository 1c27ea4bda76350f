// What every shard of a tenant has, beside its own policyholders and all that is theirs: the versions of the configuration, which
// policies read in the batch that reads them, and the webhooks, from which deliveries are made in the batch of their event.

import { now } from '../kernel/time.ts'
import type { Calls } from '../platform/calls.ts'
import type { Query } from '../platform/database.ts'
import { webhooks } from '../platform/events/tables.ts'
import { HOME_SHARD, shardDatabase, type Tenant } from '../platform/tenancy.ts'
import { addVersionsQuery, allVersionsQuery } from '../product/store.ts'
import { copyQueries } from '../servicing/events/webhooks/copies.ts'

/**
 * Brings the shards what the home shard has of it. What another brings at the same time, because it changed, is newer, and
 * stays; a webhook that is deleted meanwhile goes with the copying that its deletion has due.
 */
export async function fillShards(
  env: Env,
  tenant: Tenant,
  shards: readonly number[],
  calls: Calls,
): Promise<void> {
  if (shards.length === 0) return
  const home = shardDatabase(env, tenant, HOME_SHARD, calls)
  const [versions, hooks] = await home.batch([allVersionsQuery(home), home.build.select().from(webhooks)])
  await Promise.all(
    shards.map(async shard => {
      const database = shardDatabase(env, tenant, shard, calls)
      const queries: Query[] = [
        ...addVersionsQuery(database, versions),
        ...hooks.flatMap(row => copyQueries(database, row, now())),
      ]
      if (queries.length > 0) await database.batch(queries as [Query, ...Query[]])
    }),
  )
}
