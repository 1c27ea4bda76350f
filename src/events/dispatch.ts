import { sql } from 'drizzle-orm'
import { noCalls } from '../platform/calls.ts'
import { type ShardName, shardDatabase, tenantOfShard } from '../platform/tenancy.ts'
import type { Instant } from '../platform/time.ts'
import { deliverDue } from './delivery/deliver.ts'
import { earliestDelivery } from './delivery/store.ts'
import { ensurePurgeTimer } from './purge.ts'
import { earliestTimer, fireDue } from './timers.ts'

/**
 * The dispatcher's work on its shard: fires timers and makes deliveries that are due, a bounded number of each.
 * Answers when the next is due, which may be past; undefined when none waits, or the shard is no longer the
 * tenant's.
 */
export async function workOff(env: Env, name: ShardName): Promise<Instant | undefined> {
  const calls = noCalls()
  const tenant = await tenantOfShard(env, name, calls)
  if (!tenant) return undefined
  await fireDue(env, tenant, name.shard, calls)
  await deliverDue(env, tenant, name.shard, calls)
  const database = shardDatabase(env, tenant, name.shard, calls)
  const [, due] = await database.batch([
    ensurePurgeTimer(database, name.shard),
    database.build.all<{ timer: Instant | null; delivery: Instant | null }>(
      sql`select ${earliestTimer} as timer, ${earliestDelivery} as delivery`,
    ),
  ])
  const times = due.flatMap(({ timer, delivery }) => [timer, delivery]).filter(time => time !== null)
  return times.length === 0 ? undefined : (Math.min(...times) as Instant)
}
