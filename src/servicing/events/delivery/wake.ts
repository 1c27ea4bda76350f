// Who delivers: an object for each webhook in each shard, so that no endpoint, however slow, stands in another's way.
import { now } from '../../../kernel/time.ts'
import type { Calls } from '../../../platform/calls.ts'
import type { Database } from '../../../platform/database.ts'
import { callObject, webhookObject } from '../../../platform/objects.ts'
import { about, observed } from '../../../platform/observation.ts'
import {
  type ShardName,
  shardDatabase,
  shardName,
  type Tenant,
  tenantOfShard,
} from '../../../platform/tenancy.ts'
import { webhooksDue } from './store.ts'

/** Wakes the objects of all webhooks that have deliveries due in the shard; none of them is waited for. */
export async function wakeDue({ env, tenant, shard, database, calls }: Place): Promise<void> {
  const due = await webhooksDue(database, now())
  await Promise.all(
    due.map(webhook =>
      callObject(calls, () =>
        webhookObject(env, tenant, shard, webhook).wake(shardName(tenant, shard), webhook),
      ),
    ),
  )
}

/** A shard whose deliveries are worked off. */
export type Place = {
  readonly env: Env
  readonly tenant: Tenant
  readonly shard: number
  readonly database: Database
  readonly calls: Calls
}

export const placeOf = (env: Env, tenant: Tenant, shard: number, calls: Calls): Place => ({
  env,
  tenant,
  shard,
  database: shardDatabase(env, tenant, shard, calls),
  calls,
})

const RETRY_AFTER_SECONDS = 5

/** Whether the message is an Announcement: one of another release may be anything. */
function isShardName(body: unknown): body is ShardName {
  if (typeof body !== 'object' || body === null) return false
  const { tenantLocator, generation, shard } = body as Partial<Record<keyof ShardName, unknown>>
  return typeof tenantLocator === 'string' && typeof generation === 'number' && typeof shard === 'number'
}

/**
 * The queue's consumer: wakes who delivers what is due in each shard that the messages name, and is done; so a slow
 * endpoint keeps no message of another waiting. A message is only a hint: many of one shard are as good as one, and one
 * that is lost costs a minute, until the dispatcher looks.
 */
export async function consumeAnnouncements(batch: MessageBatch<unknown>, env: Env): Promise<void> {
  const hints = Map.groupBy(batch.messages, ({ body }) => JSON.stringify(body))
  await Promise.all(
    [...hints.values()].map(async ([hint]) => {
      const name = hint?.body
      if (!isShardName(name)) return
      try {
        await observed(env, about('announcements', name), async calls => {
          const tenant = await tenantOfShard(env, name, calls)
          if (tenant) await wakeDue(placeOf(env, tenant, name.shard, calls))
        })
      } catch (problem) {
        console.error(JSON.stringify({ at: 'consumeAnnouncements', ...name, problem: String(problem) }))
        hint?.retry({ delaySeconds: RETRY_AFTER_SECONDS })
      }
    }),
  )
}
