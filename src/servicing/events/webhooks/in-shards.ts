// Changes of deliveries that somebody asked for, in the shards where they lie.
import { auditRows } from '../../../access/audit/store.ts'
import { Refusal } from '../../../kernel/errors.ts'
import type { Uuid } from '../../../kernel/locators.ts'
import { commit, isBySubject, storedAnswer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { announce } from '../../../platform/events/announcement.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, shardDatabase } from '../../../platform/tenancy.ts'
import type { RedeliverRequest } from './contract.ts'
import type { EventChoice } from './resend-store.ts'

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

// Events that a request names or that are of a span of time, of those that may be sent again.
/** Names that a refusal lists. */
const MOST_LISTED = 20

export type Chosen = {
  readonly choice: EventChoice
  /** How many events there are of it, in all shards. */
  readonly count: number
}

/**
 * What the request chooses of the events that `find` finds in a shard. Refuses (400) names that are none of them; `otherwise` says
 * what such names are.
 */
export async function chosenOf(
  context: RequestContext,
  { eventLocators, from, to }: RedeliverRequest,
  find: (database: Database, choice: EventChoice) => Promise<readonly string[]>,
  otherwise: string,
): Promise<Chosen> {
  const names = eventLocators && [...new Set(eventLocators.map(one => one.toLowerCase()))]
  const choice: EventChoice = names ? { eventLocators: names } : { from, to }
  const found = await Promise.all(databases(context).map(database => find(database, choice)))
  const there = new Set(found.flat())
  const unknown = names?.filter(one => !there.has(one)) ?? []
  if (unknown.length > 0)
    throw new Refusal(
      'invalidRequest',
      `'eventLocators' names ${otherwise}: ${unknown.slice(0, MOST_LISTED).join(', ')}.`,
    )
  return { choice, count: there.size }
}
