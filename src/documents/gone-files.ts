// Files that no record names any more. A file lives as long as its record: one that answers and snapshots still show,
// as the documents of a discarded quote or an invalidated endorsement, keeps its file. Records go when an uploaded document
// is removed, when an acceptance is taken back, and when a consolidated document takes the place of its sources; nothing shows
// them then, and their files are deleted by a timer of the same batch. It waits as long as addresses live that were given for
// the file, and as whoever may be making it at that moment needs at most.
import { eq } from 'drizzle-orm'
import { armDispatcher } from '../events/announcement.ts'
import type { TimerOwner } from '../events/timers.ts'
import type { NewTimer } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import { putRows, type Query } from '../platform/database.ts'
import { derivedUuid, shardOfUuid, type Uuid } from '../platform/locators.ts'
import { LINK_LIFE_MS } from '../platform/signed-links.ts'
import { timers } from '../platform/tables.ts'
import { fileKey, shardDatabase, tenantFiles } from '../platform/tenancy.ts'
import type { Instant } from '../platform/time.ts'
import type { PolicyAggregate } from '../policies/aggregate.ts'
import { documentPath } from './document.ts'
import { documents } from './tables.ts'

export const GONE_FILE_TIMER = 'document.file.gone'

const goneFileTimer = (document: Uuid, now: Instant): NewTimer & { locator: Uuid } => ({
  locator: derivedUuid(shardOfUuid(document), GONE_FILE_TIMER, document),
  dueAt: (now + LINK_LIFE_MS) as Instant,
  kind: GONE_FILE_TIMER,
  subject: document,
  payload: {},
})

/** Timers for the files of documents that a change takes away. */
export function goneFileTimers(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  now: Instant,
): NewTimer[] {
  if (!before || before.documents === after.documents) return []
  return [...before.documents.keys()]
    .filter(locator => !after.documents.has(locator))
    .map(locator => goneFileTimer(locator, now))
}

/** Deletes the file, unless a record names it after all. Once more does nothing. */
export const deleteGoneFile: TimerOwner = async ({ subject }, { env, tenant, shard, calls }) => {
  const document = subject as Uuid
  const database = shardDatabase(env, tenant, shard, calls)
  const [rows] = await database.batch([
    database.build
      .select({ locator: documents.locator })
      .from(documents)
      .where(eq(documents.locator, document)),
  ])
  if (rows.length > 0) return
  calls.r2 += 1
  await tenantFiles(env, tenant).delete(fileKey(tenant, ...documentPath(document)))
}

/** After the answer: deletes a file that no record names; where that fails now, it is done in a while. */
export function deleteUnnamedFile(context: RequestContext, document: Uuid): void {
  const { env, tenant } = context
  context.later(
    tenantFiles(env, tenant)
      .delete(fileKey(tenant, ...documentPath(document)))
      .catch(() => deleteFileUnlessNamed(context, document)),
  )
}

/** After the answer: has the file deleted in a while, unless a record names it then. */
export function deleteFileUnlessNamed(context: RequestContext, document: Uuid): void {
  const { env, tenant, calls, requestId } = context
  const shard = shardOfUuid(document)
  const set = async () => {
    const database = shardDatabase(env, tenant, shard, calls)
    await armDispatcher(context, shard)
    const rows = putRows(database, timers, [goneFileTimer(document, context.now)])
    await database.batch(rows as [Query, ...Query[]])
  }
  context.later(
    set().catch(problem =>
      console.error(
        JSON.stringify({ at: 'deleteFileUnlessNamed', requestId, document, problem: String(problem) }),
      ),
    ),
  )
}
