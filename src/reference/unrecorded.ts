// Files of uploads that never became a resource's: each has a timer from before it is stored, and one of which it is known at
// once goes after the answer. Earlier contents of a resource keep their files, as their revisions keep their rows.

import type { Uuid } from '../kernel/locators.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import type { TimerOwner } from '../platform/events/timers.ts'
import { expectRecord, unlessRecorded } from '../platform/events/unrecorded.ts'
import { deleteFile } from './data-tables/file.ts'
import { findRevision } from './store.ts'
import { resourceRevisions } from './tables.ts'

/** To be awaited before the file of the revision is stored. */
export const expectRevision = (context: RequestContext, revision: Uuid): Promise<void> =>
  expectRecord(context, 'resource.file.unrecorded', revision)

export const deleteUnrecorded: TimerOwner = unlessRecorded(resourceRevisions, (revision, place) =>
  deleteFile(place, revision),
)

/**
 * After the answer: the file goes unless the revision was recorded, with what `abandon` gives up. Not to be called while the
 * commit may still be under way.
 */
export function discardUnlessRecorded(
  context: RequestContext,
  database: Database,
  revision: Uuid,
  abandon: () => void = () => {},
): void {
  const discard = async (): Promise<void> => {
    if (await findRevision(database, revision)) return
    await deleteFile(context, revision)
    abandon()
  }
  context.later(
    discard().catch(problem =>
      console.error(
        JSON.stringify({
          at: 'discardUpload',
          revision,
          requestId: context.requestId,
          problem: String(problem),
        }),
      ),
    ),
  )
}
