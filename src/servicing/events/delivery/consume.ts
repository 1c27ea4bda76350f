import { about, observed } from '../../../platform/observation.ts'
import { type ShardName, tenantOfShard } from '../../../platform/tenancy.ts'
import { placeOf } from './place.ts'
import { wakeDue } from './wake.ts'

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
