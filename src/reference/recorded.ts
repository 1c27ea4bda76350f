// Writes of resources and groups: once for each Idempotency-Key, decided anew when what was read is no longer so.

import { Refusal } from '../kernel/errors.ts'
import {
  type AnswerBySubject,
  GuardTripped,
  isBySubject,
  type JsonAnswer,
  storedAnswer,
} from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { type JsonText, jsonText } from '../platform/http/route.ts'
import { forgetTables } from './data-tables/cache.ts'

/** Others may write in between each time; so many in a row have no luck. */
const MOST_ATTEMPTS = 5

/** `attempt` reads, decides and commits; `show` is the answer to a repeat whose text was not kept. */
export async function recordedOnce(
  context: RequestContext,
  database: Database,
  attempt: () => Promise<JsonAnswer | AnswerBySubject>,
  show: (subject: string) => Promise<object>,
): Promise<JsonText> {
  const answer = (await storedAnswer(context, database)) ?? (await decided(attempt))
  forgetTables(context.tenant)
  if (!isBySubject(answer)) return jsonText(answer)
  return jsonText({ status: answer.status, text: JSON.stringify(await show(answer.subject)) })
}

async function decided(
  attempt: () => Promise<JsonAnswer | AnswerBySubject>,
): Promise<JsonAnswer | AnswerBySubject> {
  for (let left = MOST_ATTEMPTS; left > 0; left -= 1)
    try {
      return await attempt()
    } catch (problem) {
      if (!(problem instanceof GuardTripped)) throw problem
    }
  throw new Refusal('overloaded', 'Others change the same resources at this moment; try again.', {}, 1)
}
