import { sql } from 'drizzle-orm'
import { hintDueDocuments } from '../documents/job/hint.ts'
import { earliestJob } from '../documents/job/store.ts'
import { oldCallsQuery, purgeCalls } from '../integrations/call/log.ts'
import { noCalls } from '../platform/calls.ts'
import { type ShardName, shardDatabase, tenantOfShard } from '../platform/tenancy.ts'
import { type Instant, now } from '../platform/time.ts'
import { purgeLogs } from '../plugins/logs.ts'
import { deliverDue } from './delivery/deliver.ts'
import { earliestDelivery } from './delivery/store.ts'
import { nextPurge, purgeWrites } from './purge.ts'
import { earliestTimer, fireDue } from './timers.ts'

type Due = { timer: Instant | null; delivery: Instant | null; purge: Instant | null; job: Instant | null }

/**
 * The dispatcher's work on its shard: fires timers, hints of documents and makes deliveries that are due, a bounded number of each, and
 * purges old writes. Answers when the next is due in real time, which may be past; undefined when none waits, or
 * the shard is no longer the tenant's.
 */
export async function workOff(env: Env, name: ShardName): Promise<Instant | undefined> {
  const calls = noCalls()
  const tenant = await tenantOfShard(env, name, calls)
  if (!tenant) return undefined
  await fireDue({ env, tenant, shard: name.shard, calls })
  await hintDueDocuments(env, tenant, name.shard, calls)
  await deliverDue(env, tenant, name.shard, calls)
  const database = shardDatabase(env, tenant, name.shard, calls)
  const at = now()
  const [, , oldCalls, due] = await database.batch([
    purgeWrites(database, at),
    purgeLogs(database, at),
    oldCallsQuery(database, at),
    database.build.all<Due>(
      sql`select ${earliestTimer} as timer, ${earliestDelivery} as delivery, ${nextPurge(at)} as purge, ${earliestJob} as job`,
    ),
  ])
  await purgeCalls(env, tenant, database, oldCalls, calls)
  const times = due.flatMap(({ timer, delivery, purge, job }) => [
    timer === null ? null : timer - tenant.clockOffsetMs,
    delivery,
    purge,
    job,
  ])
  const waiting = times.filter(time => time !== null)
  return waiting.length === 0 ? undefined : (Math.min(...waiting) as Instant)
}
