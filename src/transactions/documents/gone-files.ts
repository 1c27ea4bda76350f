// Files that no record names any more. A file lives as long as its record: one that answers and snapshots still show,
// as the documents of a discarded quote or an invalidated endorsement, keeps its file. Records go when an uploaded document
// is removed, when an acceptance is taken back, and when a consolidated document takes the place of its sources; nothing shows
// them then, and their files are deleted by a timer of the same batch. It waits as long as addresses live that were given for
// the file, and as whoever may be making it at that moment needs at most. Uploads have such a timer from before they are stored.

import { derivedUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { expectRecord, unlessRecorded } from '../../platform/events/unrecorded.ts'
import { LINK_LIFE_MS } from '../../platform/http/file-links.ts'
import { fileKey, tenantFiles } from '../../platform/tenancy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { documentPath } from '../../policy/records/document.ts'
import { documents } from '../../policy/tables/documents.ts'

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

const deleteFile = (
  document: Uuid,
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
) => {
  calls.r2 += 1
  return tenantFiles(env, tenant).delete(fileKey(tenant, ...documentPath(document)))
}

/** Deletes the file, unless a record names it after all. Once more does nothing. */
export const deleteGoneFile: TimerOwner = unlessRecorded(documents, deleteFile)

/** To be awaited before the file of an upload is stored. */
export const expectDocument = (context: RequestContext, document: Uuid): Promise<void> =>
  expectRecord(context, GONE_FILE_TIMER, document)

/** After the answer: deletes a file that no record names. Where that fails its timer does it. */
export const deleteUnnamedFile = (context: RequestContext, document: Uuid): void =>
  context.later(
    deleteFile(document, context).catch(problem =>
      console.warn(JSON.stringify({ at: 'deleteUnnamedFile', document, problem: String(problem) })),
    ),
  )
