// Changes of deliveries that somebody asked for, in the shards where they lie.
import { auditRows } from '../../../access/audit/store.ts'
import type { Uuid } from '../../../kernel/locators.ts'
import { commit, isBySubject, storedAnswer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { announce } from '../../../platform/events/announcement.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, shardDatabase } from '../../../platform/tenancy.ts'

/** The tenant's databases, by shard. */
export const databases = ({ env, tenant, calls }: RequestContext): Database[] =>
  tenant.shards.map((_, shard) => shardDatabase(env, tenant, shard, calls))

/** Does the work unless it was done before under the request's key: then its answer is given again. */
export async function once(context: RequestContext, work: () => Promise<JsonText>): Promise<JsonText> {
  const earlier = await storedAnswer(context, homeDatabase(context))
  return earlier && !isBySubject(earlier) ? jsonText(earlier) : await work()
}

type Done = {
  /** For the audit. */
  readonly details: Record<string, unknown>
  /** JSON, or nothing. */
  readonly answer: string
  /** All when left out. */
  readonly shards: readonly number[] | undefined
}

/**
 * Carries queries out in the shards, home last with the audit and the record of the request: cut off in between, a repeat
 * does it all again, which sends nothing twice that waits already. Then who delivers is told.
 */
export async function inShards(
  context: RequestContext,
  webhookLocator: Uuid,
  { details, answer, shards = [...context.tenant.shards.keys()] }: Done,
  queries: (database: Database) => Query[],
): Promise<JsonText> {
  const all = databases(context)
  await Promise.all(
    shards
      .filter(shard => shard !== HOME_SHARD)
      .map(shard => all[shard]!.batch(queries(all[shard]!) as [Query, ...Query[]])),
  )
  const home = all[HOME_SHARD]!
  const entry = { action: 'webhooks.resend', subject: webhookLocator, details } as const
  await commit(context, home, {
    shard: HOME_SHARD,
    guards: [],
    facts: [
      ...(shards.includes(HOME_SHARD) ? queries(home) : []),
      ...auditRows(home, context, HOME_SHARD, [entry]),
    ],
    events: [],
    answer: { status: 200, text: answer },
    subject: webhookLocator,
  })
  for (const shard of shards) announce(context, shard)
  return jsonText({ status: 200, text: answer })
}
