// Queue messages that say that a policy has documents to make. Each is only a hint (docs/design.md, section 5).

import type { PolicyLocator } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import type { Calls } from '../../platform/calls.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type ShardName, shardDatabase, shardName, type Tenant } from '../../platform/tenancy.ts'
import { takeDueJobs } from './job-store.ts'

export type DocumentHint = ShardName & { policyLocator: PolicyLocator }

/** Messages that a queue takes at once. */
const MOST_SENT = 100

/** Hints, after the answer, that documents of the policy wait. */
export function hintDocuments(context: RequestContext, shard: number, policy: PolicyLocator): void {
  context.calls.queue += 1
  const message: DocumentHint = { ...shardName(context.tenant, shard), policyLocator: policy }
  context.later(
    context.env.DOCUMENTS.send(message).catch(problem =>
      console.warn(
        JSON.stringify({ at: 'hintDocuments', requestId: context.requestId, problem: String(problem) }),
      ),
    ),
  )
}

/** Hints again of what has waited for a minute, or is to be tried again. */
export async function hintDueDocuments(env: Env, tenant: Tenant, shard: number, calls: Calls): Promise<void> {
  const database = shardDatabase(env, tenant, shard, calls)
  const due = await takeDueJobs(database, now(), MOST_SENT)
  if (due.length === 0) return
  calls.queue += 1
  const name = shardName(tenant, shard)
  try {
    await env.DOCUMENTS.sendBatch(
      due.map(policyLocator => ({ body: { ...name, policyLocator } satisfies DocumentHint })),
    )
  } catch (problem) {
    // Whatever else the dispatcher has to do does not wait for this; in a minute it hints again.
    console.error(JSON.stringify({ at: 'hintDueDocuments', ...name, problem: String(problem) }))
  }
}
