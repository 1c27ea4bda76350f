// Writes of resources and groups: once for each Idempotency-Key, decided anew when what was read is no longer so.

import { alreadyExists, invalidParameter } from '../kernel/errors.ts'
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
import { newestConfiguration } from '../product/cache.ts'
import { forgetTables } from './data-tables/cache.ts'
import type { Resource } from './resource.ts'
import { nameTakenBy } from './store.ts'

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

type New = Pick<Resource, 'name' | 'staticName' | 'type' | 'jurisdictions'>

/**
 * Refuses (409) a name that a resource has, or a static name of another type; (400) jurisdictions that the newest
 * configuration does not declare, where it declares any (resources brief 0.4). One round trip, and one for jurisdictions.
 */
export async function assertNew(
  context: RequestContext,
  database: Database,
  { name, staticName, type, jurisdictions }: New,
): Promise<void> {
  const [taken] = await Promise.all([
    nameTakenBy(database, { name, staticName }),
    assertDeclared(context, jurisdictions),
  ])
  if (taken.some(one => one.name === name))
    throw alreadyExists(
      `There is a resource '${name}' already; choose another name, or replace its contents by PATCH.`,
    )
  const other = taken.find(one => one.type !== type)
  if (other)
    throw alreadyExists(
      `The static name '${staticName}' is that of the ${other.type} '${other.name}'; a static name is of one type. Choose another.`,
    )
}

const MOST_NAMED = 50

async function assertDeclared(context: RequestContext, jurisdictions: readonly string[]): Promise<void> {
  if (jurisdictions.length === 0) return
  const declared = (await newestConfiguration(context))?.jurisdictions
  if (!declared) return
  const unknown = jurisdictions.filter(one => !declared.includes(one))
  if (unknown.length > 0)
    throw invalidParameter(
      `config.json declares no jurisdiction ${named(unknown)}; it has ${named(declared)}. Correct it, or declare it under 'jurisdictions'.`,
    )
}

const named = (names: readonly string[]): string =>
  names
    .slice(0, MOST_NAMED)
    .map(one => `'${one}'`)
    .join(', ') + (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '')
