// After the commit: a queue message is a hint that a shard has deliveries due. Before it: the shard's
// dispatcher is armed, so that what a crash leaves behind is found within a minute.
import { Memo } from '../../kernel/maps.ts'
import { now } from '../../kernel/time.ts'
import type { RequestContext } from '../context.ts'
import { armDispatcherAt } from '../objects.ts'
import { type ShardName, shardName } from '../tenancy.ts'

/** A queue message: deliveries of this shard may be due. */
export type Announcement = ShardName

export const ARM_EVERY_MS = 30_000
export const ARM_AHEAD_MS = 60_000

/** By shard, of at most so many shards. */
const armedAt = new Memo<string, number>(10_000)

/**
 * Arms the shard's dispatcher for a minute from now; at most once in 30 s for an isolate. It looks when that minute
 * is over, whatever it did before, so a commit that began within those 30 s is there by then.
 */
export async function armDispatcher(context: RequestContext, shard: number): Promise<void> {
  const { tenant } = context
  const at = now()
  const key = `${tenant.locator}/${tenant.generation}/${shard}`
  const last = armedAt.get(key)
  if (last !== undefined && at - last < ARM_EVERY_MS) return
  await armDispatcherAt(context, shard, at + ARM_AHEAD_MS)
  armedAt.set(key, at)
}

/** Hints, after the answer, that deliveries are due. A lost hint costs a minute, not an event. */
export function announce(context: RequestContext, shard: number): void {
  context.calls.queue += 1
  const message: Announcement = shardName(context.tenant, shard)
  context.later(
    context.env.ANNOUNCEMENTS.send(message).catch(problem =>
      console.warn(
        JSON.stringify({ at: 'announce', requestId: context.requestId, problem: String(problem) }),
      ),
    ),
  )
}
