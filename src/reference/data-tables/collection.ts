// Rows that nobody reads any more, or never did: of replaced contents, and of uploads that came to nothing. The file
// of a revision stays in R2, and its rows can be made from it again (`loading.ts`), so that what was priced with it can
// be explained. They are kept for a while, since isolates trust for some seconds what they know to be in force.

import type { Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { shardDatabase, tenantNow } from '../../platform/tenancy.ts'
import { dropUnread, postponeTimer, removeRows } from './store.ts'

export const TABLE_CONTENTS_TIMER = 'resource.table.contents'

/** How long rows of contents that are not current stay; in the tenant's time. */
const KEEP_UNREAD_MS = 10 * 60_000

/** An upload that takes longer has been cut off; in real time. */
const LONGEST_LOADING_MS = 60 * 60_000

/** Looks at the revision's rows when they are not current any more. */
export const unreadTimer = (revision: Uuid, at: Instant): NewTimer => timer(revision, at, KEEP_UNREAD_MS)

/** Looks at the revision's rows when their loading should long be over. */
export const loadingTimer = (revision: Uuid, at: Instant): NewTimer => timer(revision, at, LONGEST_LOADING_MS)

const timer = (revision: Uuid, at: Instant, afterMs: number): NewTimer => ({
  dueAt: (at + afterMs) as Instant,
  kind: TABLE_CONTENTS_TIMER,
  subject: revision,
  payload: {},
})

/** Removes the rows of the revision that nobody is to read. Once more does nothing. */
export const collectContents: TimerOwner = async ({ subject, locator }, { env, tenant, shard, calls }) => {
  const database = shardDatabase(env, tenant, shard, calls)
  const { dropped, loadingFrom } = await dropUnread(database, subject, now() - LONGEST_LOADING_MS)
  for (const contents of dropped) await removeRows(database, contents)
  // A test tenant's clock may have been moved on while rows come in.
  if (loadingFrom !== null) {
    const leftMs = Math.max(1_000, loadingFrom + LONGEST_LOADING_MS - now())
    await postponeTimer(database, locator, (tenantNow(tenant) + leftMs) as Instant)
  }
}
