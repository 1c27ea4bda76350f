import { type SQL, sql } from 'drizzle-orm'
import { KEEP_CALLS_MS, oldCallsQuery, purgeCalls } from '../../extension/integrations/call/log.ts'
import { integrationCalls } from '../../extension/integrations/tables.ts'
import { KEEP_LOGS_MS, purgeLogs } from '../../extension/plugins/logs.ts'
import { pluginLogs } from '../../extension/plugins/tables.ts'
import { readUuid, type Uuid } from '../../kernel/locators.ts'
import { DAY_MS, type Instant, now } from '../../kernel/time.ts'
import { type Calls, noCalls } from '../../platform/calls.ts'
import { KEEP_WRITES_MS } from '../../platform/commit.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { Announcement } from '../../platform/events/outbox.ts'
import { deliveries } from '../../platform/events/tables.ts'
import { earliestTimer, fireDue, type ShardPlace } from '../../platform/events/timers.ts'
import { callObject, webhookObject } from '../../platform/objects.ts'
import { queueWork, runObserved } from '../../platform/observation.ts'
import { writes } from '../../platform/tables.ts'
import {
  type ShardName,
  SUSPENDED_LOOK_MS,
  servedTenantOfShard,
  shardDatabase,
  shardName,
  type Tenant,
  tenantOfShard,
} from '../../platform/tenancy.ts'
import { earliestJob, hintDueDocuments } from '../../transactions/documents/job-store.ts'
import { DocumentTurns } from '../../transactions/documents/turns.ts'
import { earliestDelivery, webhooksDue } from './delivery/store.ts'

/** Objects that still have due deliveries are woken again after this time. */
const WAKE_AGAIN_MS = 60_000

/** Documents beyond one round of hints get their hints after this time. */
const HINT_MORE_MS = 5_000

/**
 * Does the dispatcher's work on one shard: fires a limited number of timers, sends hints for documents, wakes the objects that
 * deliver, and purges old rows. Returns when the next work is due in real time, which may be in the past. Returns undefined if
 * nothing waits or the shard no longer belongs to the tenant. Does nothing while the tenant is suspended.
 */
export async function dispatchDue(
  env: Env,
  name: ShardName,
  calls: Calls = noCalls(),
  turns = new DocumentTurns(),
): Promise<Instant | undefined> {
  const tenant = await tenantOfShard(env, name, calls)
  if (!tenant || tenant.suspension?.state === 'moved') return undefined
  if (tenant.suspension) return (now() + SUSPENDED_LOOK_MS) as Instant
  const place = { env, tenant, shard: name.shard, calls }
  const database = shardDatabase(env, tenant, name.shard, calls)
  const first = await readDueWork(database, tenant)
  // Most looks find nothing, because hints have already caused the work.
  if (!Object.values(first.isDue).includes(true)) return first.next
  if (first.isDue.timer) await fireDue(place)
  if (first.isDue.job) await hintDueDocuments(env, tenant, name.shard, calls, turns)
  if (first.isDue.delivery) await wakeWebhookObjects(place)
  if (first.isDue.purge) await purge(place, database)
  return (await readDueWork(database, tenant)).next
}

type Due = { timer: Instant | null; delivery: Instant | null; purge: Instant | null; job: Instant | null }

/** Returns what is due and when to look next. Hints are repeated and deliveries may be under way: these are not due again yet. */
async function readDueWork(
  database: Database,
  { clockOffsetMs }: Tenant,
): Promise<{ isDue: Record<keyof Due, boolean>; next: Instant | undefined }> {
  const at = now()
  const [rows] = await database.batch([
    database.build.all<Due>(
      sql`select ${earliestTimer} as timer, ${earliestDelivery} as delivery, ${nextPurge(at)} as purge, ${earliestJob} as job`,
    ),
  ])
  const { timer, delivery, purge, job } = rows[0]!
  const times = {
    timer: timer === null ? null : timer - clockOffsetMs,
    delivery,
    purge,
    job,
  }
  const isDue = (time: number | null): boolean => time !== null && time <= at
  const again = { ...times }
  if (isDue(delivery)) again.delivery = (at + WAKE_AGAIN_MS) as Instant
  if (isDue(job)) again.job = (at + HINT_MORE_MS) as Instant
  const waiting = Object.values(again).filter(time => time !== null)
  return {
    isDue: {
      timer: isDue(times.timer),
      delivery: isDue(delivery),
      purge: isDue(purge),
      job: isDue(job),
    },
    next: waiting.length === 0 ? undefined : (Math.min(...waiting) as Instant),
  }
}

async function purge({ env, tenant, calls }: ShardPlace, database: Database): Promise<void> {
  const at = now()
  const [, , , oldCalls] = await database.batch([
    purgeWrites(database, at),
    purgeDeliveries(database, at),
    purgeLogs(database, at),
    oldCallsQuery(database, at),
  ])
  await purgeCalls(env, tenant, database, oldCalls, calls)
}

// Stored responses answer repeated requests for 30 days, and finished deliveries are shown as long (docs/design.md, section 5).
// Both use real time, regardless of the tenant's clock, so no timer starts the purge. Each run deletes some rows, oldest first.
const MOST_PURGED_ROWS = 1_000

const purgeWrites = (database: Database, at: Instant): Query =>
  database.build.run(
    sql`delete from ${writes} where rowid in (
      select rowid from ${writes} order by rowid limit ${MOST_PURGED_ROWS}) and at <= ${at - KEEP_WRITES_MS}`,
  )

/** How long finished deliveries are kept. Skipped and diverted ones stay until they are sent or discarded. */
export const KEEP_DELIVERIES_MS = 30 * DAY_MS

const purgeDeliveries = (database: Database, at: Instant): Query =>
  database.build.run(
    sql`delete from ${deliveries} where rowid in (
      select rowid from ${deliveries} where state in ('sent', 'failed') and finished_at <= ${at - KEEP_DELIVERIES_MS}
      order by finished_at limit ${MOST_PURGED_ROWS})`,
  )

/** SQL for one value: now if a row is too old at `at`, otherwise when the oldest row will be, at most once a day. */
const nextPurge = (at: Instant): SQL => sql`(
  select iif(min(due) <= ${at}, ${at}, max(min(due), ${at + DAY_MS})) from (
    select (select at from ${writes} order by rowid limit 1) + ${KEEP_WRITES_MS} as due
    union all select min(finished_at) + ${KEEP_DELIVERIES_MS} from ${deliveries} where state in ('sent', 'failed')
    union all select min(at) + ${KEEP_LOGS_MS} from ${pluginLogs}
    union all select min(at) + ${KEEP_CALLS_MS} from ${integrationCalls}) where due is not null)`

/**
 * Wakes the objects of the webhooks, by default of all with due deliveries in the shard, and does not wait for their deliveries.
 * Each webhook has an object in each shard, so a slow endpoint delays no other webhook.
 */
async function wakeWebhookObjects(
  { env, tenant, shard, calls }: ShardPlace,
  announced?: readonly Uuid[],
): Promise<void> {
  const due = announced ?? (await webhooksDue(shardDatabase(env, tenant, shard, calls), now()))
  await Promise.all(
    due.map(webhook =>
      callObject(calls, () =>
        webhookObject(env, tenant, shard, webhook).wake(shardName(tenant, shard), webhook),
      ),
    ),
  )
}

/** Whether the message names a shard; another release may send anything. A lost hint costs a minute, until the dispatcher looks. */
export function isShardName(body: unknown): body is ShardName {
  if (typeof body !== 'object' || body === null) return false
  const { tenantLocator, generation, shard } = body as Partial<Record<keyof ShardName, unknown>>
  return typeof tenantLocator === 'string' && typeof generation === 'number' && typeof shard === 'number'
}

/** Several messages of a batch may be hints for the same work. */
export const distinctMessages = ({ messages }: MessageBatch<unknown>): Message<unknown>[] =>
  [...Map.groupBy(messages, ({ body }) => JSON.stringify(body)).values()].map(([message]) => message!)

/**
 * Does the work of a hint while its tenant is served. After a failure the message comes again. Never throws, since that would
 * repeat the whole batch. `statements` were sent before in this batch.
 */
export async function followHint<Hint extends ShardName>(
  env: Env,
  message: { retry(how: QueueRetryOptions): void },
  hint: Hint,
  { operation, consumer, retrySeconds }: { operation: string; consumer: string; retrySeconds: number },
  work: (tenant: Tenant, calls: Calls) => Promise<void>,
  statements = 0,
): Promise<void> {
  try {
    const follow = async (calls: Calls): Promise<void> => {
      const tenant = await servedTenantOfShard(env, hint, calls)
      if (tenant) await work(tenant, calls)
    }
    await runObserved(env, queueWork(operation, hint), follow, statements)
  } catch (problem) {
    console.error(JSON.stringify({ at: consumer, ...hint, problem: String(problem) }))
    message.retry({ delaySeconds: retrySeconds })
  }
}

const HINTS = { operation: 'announcements', consumer: 'consumeAnnouncements', retrySeconds: 5 }

/** Returns the webhooks that all messages of a shard name together, or undefined if a message does not name its webhooks. */
function announcedWebhooks(messages: readonly Message<unknown>[]): Uuid[] | undefined {
  const webhooks = new Set<Uuid>()
  for (const { body } of messages) {
    const named = (body as Partial<Announcement>).webhooks
    if (!Array.isArray(named)) return undefined
    for (const text of named) {
      const webhook = readUuid(String(text))
      if (!webhook) return undefined
      webhooks.add(webhook)
    }
  }
  return [...webhooks]
}

/** The queue consumer. It wakes objects and does not wait for deliveries, so a slow endpoint delays no other message. */
export async function consumeAnnouncements({ messages }: MessageBatch<unknown>, env: Env): Promise<void> {
  const known = messages.filter((message): message is Message<ShardName> => isShardName(message.body))
  const shards = Map.groupBy(known, ({ body: { tenantLocator, generation, shard } }) =>
    JSON.stringify([tenantLocator, generation, shard]),
  )
  await Promise.all(
    [...shards.values()].map(async ofShard => {
      const [message] = ofShard
      const { tenantLocator, generation, shard } = message!.body
      const all = { retry: (how: QueueRetryOptions) => ofShard.forEach(one => void one.retry(how)) }
      await followHint(env, all, { tenantLocator, generation, shard }, HINTS, (tenant, calls) =>
        wakeWebhookObjects({ env, tenant, shard, calls }, announcedWebhooks(ofShard)),
      )
    }),
  )
}
