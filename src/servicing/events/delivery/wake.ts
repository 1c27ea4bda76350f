// Who delivers: an object for each webhook in each shard, so that no endpoint, however slow, stands in another's way.
import { now } from '../../../kernel/time.ts'
import { callObject, webhookObject } from '../../../platform/objects.ts'
import { shardName } from '../../../platform/tenancy.ts'
import type { Place } from './place.ts'
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
