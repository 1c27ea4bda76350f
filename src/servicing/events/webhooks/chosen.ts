// Events that a request names or that are of a span of time, of those that may be sent again.

import { Refusal } from '../../../kernel/errors.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database } from '../../../platform/database.ts'
import type { RedeliverRequest } from '../contract-webhook.ts'
import type { EventChoice } from '../delivery/redeliver.ts'
import { databases } from './in-shards.ts'

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
