// The shard that a new policyholder, or a migration with all that it brings, comes into.
import { createHash } from 'node:crypto'
import { type Instant, now } from '../kernel/time.ts'
import { KEEP_WRITES_MS, takeFormerKey } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import { openShards, shardDatabase, shardForNewPolicyholder, type Tenant } from '../platform/tenancy.ts'

/**
 * By chance; with an idempotency key what follows from the key, so that a repeat finds the record of the first try. Where the
 * tenant has had more databases for less time than repeats are answered, the first try may lie where the key led before: one
 * round trip more, for such a tenant, to look there, and to keep a first try that is still under way from it.
 */
export async function shardForCreate(context: RequestContext): Promise<number> {
  const { env, tenant, idempotency, calls } = context
  if (!idempotency) return shardForNewPolicyholder(tenant)
  const [chosen, ...earlier] = keyedShards(tenant, idempotency.key, now())
  const found = await Promise.all(
    earlier.map(async shard => {
      const former = await takeFormerKey(context, shardDatabase(env, tenant, shard, calls))
      return former === 'written' ? [shard] : []
    }),
  )
  return found.flat()[0] ?? chosen!
}

/** Where the key leads now, and where else it led while repeats of then are still answered; each shard once. */
export function keyedShards(tenant: Pick<Tenant, 'shards' | 'opensAt'>, key: string, at: Instant): number[] {
  const number = createHash('sha256').update(key).digest().readUInt32BE()
  const changed = (tenant.opensAt ?? []).filter(time => time <= at && time > at - KEEP_WRITES_MS)
  const times = [at, ...changed.sort((one, other) => other - one).map(time => (time - 1) as Instant)]
  const led = times.map(time => {
    const open = openShards(tenant, time)
    return open[number % open.length]!
  })
  return [...new Set(led)]
}
