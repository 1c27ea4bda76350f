import { sql } from 'drizzle-orm'
import { oldCallsQuery, purgeCalls } from '../../extension/integrations/call/log.ts'
import { purgeLogs } from '../../extension/plugins/logs.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { type Calls, noCalls } from '../../platform/calls.ts'
import { earliestTimer, fireDue } from '../../platform/events/timers.ts'
import { type ShardName, shardDatabase, tenantOfShard } from '../../platform/tenancy.ts'
import { hintDueDocuments } from '../../transactions/documents/job-hint.ts'
import { earliestJob } from '../../transactions/documents/job-store.ts'
import { placeOf } from './delivery/place.ts'
import { earliestDelivery } from './delivery/store.ts'
import { wakeDue } from './delivery/wake.ts'
import { nextPurge, purgeDeliveries, purgeWrites } from './purge.ts'

/** Deliveries that are due are handed on, and handed on again after this time when they still wait. */
const HAND_ON_AGAIN_MS = 60_000

type Due = { timer: Instant | null; delivery: Instant | null; purge: Instant | null; job: Instant | null }

/**
 * The dispatcher's work on its shard: fires timers, a bounded number of them, hints of documents, wakes who makes deliveries that are
 * due, and purges what is too old. Answers when the next is due in real time, which may be past; undefined when none waits, or
 * the shard is no longer the tenant's.
 */
export async function workOff(
  env: Env,
  name: ShardName,
  calls: Calls = noCalls(),
): Promise<Instant | undefined> {
  const tenant = await tenantOfShard(env, name, calls)
  if (!tenant) return undefined
  await fireDue({ env, tenant, shard: name.shard, calls })
  await hintDueDocuments(env, tenant, name.shard, calls)
  await wakeDue(placeOf(env, tenant, name.shard, calls))
  const database = shardDatabase(env, tenant, name.shard, calls)
  const at = now()
  const [, , , oldCalls, due] = await database.batch([
    purgeWrites(database, at),
    purgeDeliveries(database, at),
    purgeLogs(database, at),
    oldCallsQuery(database, at),
    database.build.all<Due>(
      sql`select ${earliestTimer} as timer, ${earliestDelivery} as delivery, ${nextPurge(at)} as purge, ${earliestJob} as job`,
    ),
  ])
  await purgeCalls(env, tenant, database, oldCalls, calls)
  const times = due.flatMap(({ timer, delivery, purge, job }) => [
    timer === null ? null : timer - tenant.clockOffsetMs,
    delivery !== null && delivery <= at ? at + HAND_ON_AGAIN_MS : delivery,
    purge,
    job,
  ])
  const waiting = times.filter(time => time !== null)
  return waiting.length === 0 ? undefined : (Math.min(...waiting) as Instant)
}
