// Writes of resources and groups: once for each Idempotency-Key, decided anew when what was read is no longer so.

import {
  type AnswerBySubject,
  isBySubject,
  type JsonAnswer,
  retryOnConflict,
  storedAnswer,
} from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { type JsonText, jsonText } from '../platform/http/route.ts'
import { forgetTables } from './data-tables/cache.ts'

/** Uploads to one tenant often come many at a time. */
const ATTEMPTS = 5

/** `attempt` reads, decides and commits; `show` is the answer to a repeat whose text was not kept. */
export async function recordedOnce(
  context: RequestContext,
  database: Database,
  attempt: () => Promise<JsonAnswer | AnswerBySubject>,
  show: (subject: string) => Promise<object>,
): Promise<JsonText> {
  const answer =
    (await storedAnswer(context, database)) ??
    (await retryOnConflict('The resource', attempt, { attempts: ATTEMPTS }))
  forgetTables(context.tenant)
  if (!isBySubject(answer)) return jsonText(answer)
  return jsonText({ status: answer.status, text: JSON.stringify(await show(answer.subject)) })
}
