// Messages of queues that hint at work in a shard. A message is only a hint: a lost one costs a minute, until the dispatcher looks.
import type { Calls } from '../platform/calls.ts'
import { about, observed } from '../platform/observation.ts'
import { type ShardName, servedTenantOfShard, type Tenant } from '../platform/tenancy.ts'

/** Whether the message names a shard: one of another release may be anything. */
export function isShardName(body: unknown): body is ShardName {
  if (typeof body !== 'object' || body === null) return false
  const { tenantLocator, generation, shard } = body as Partial<Record<keyof ShardName, unknown>>
  return typeof tenantLocator === 'string' && typeof generation === 'number' && typeof shard === 'number'
}

/** One message of each text: several of one batch may hint at the same work. */
export const distinctMessages = ({ messages }: MessageBatch<unknown>): Message<unknown>[] =>
  [...Map.groupBy(messages, ({ body }) => JSON.stringify(body)).values()].map(([message]) => message!)

/** Does the work of a hint while its tenant is served. The message comes again after a failure. Never throws. */
export async function followHint<Hint extends ShardName>(
  env: Env,
  message: Message<unknown>,
  hint: Hint,
  { operation, consumer, retrySeconds }: { operation: string; consumer: string; retrySeconds: number },
  work: (tenant: Tenant, calls: Calls) => Promise<void>,
): Promise<void> {
  try {
    await observed(env, about(operation, hint), async calls => {
      const tenant = await servedTenantOfShard(env, hint, calls)
      if (tenant) await work(tenant, calls)
    })
  } catch (problem) {
    console.error(JSON.stringify({ at: consumer, ...hint, problem: String(problem) }))
    message.retry({ delaySeconds: retrySeconds })
  }
}
