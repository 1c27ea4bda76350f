// Rows of `write` answer repeats for 30 days (docs/design.md, section 5), and deliveries that were sent or given up are shown
// as long; then they go. What is put aside stays. Both go by real time,
// whatever the tenant's clock says; so it is not a timer that tells when, but the rows themselves.
import { type SQL, sql } from 'drizzle-orm'
import { KEEP_CALLS_MS } from '../../extension/integrations/call/log.ts'
import { integrationCalls } from '../../extension/integrations/tables.ts'
import { KEEP_LOGS_MS } from '../../extension/plugins/logs.ts'
import { pluginLogs } from '../../extension/plugins/tables.ts'
import type { Instant } from '../../kernel/time.ts'
import { KEEP_WRITES_MS } from '../../platform/commit.ts'
import type { Database, Query } from '../../platform/database.ts'
import { deliveries } from '../../platform/events/tables.ts'
import { writes } from '../../platform/tables.ts'

/** Rows deleted in one go. */
const MOST_PURGED = 1_000

const DAY_MS = 24 * 60 * 60 * 1000

/** A query that deletes writes that are too old at `at`, the oldest of them. */
export const purgeWrites = (database: Database, at: Instant): Query =>
  database.build.run(
    sql`delete from ${writes} where rowid in (
      select rowid from ${writes} where at <= ${at - KEEP_WRITES_MS} order by at limit ${MOST_PURGED})`,
  )

/** Deliveries that ended are kept so long. */
export const KEEP_DELIVERIES_MS = 30 * DAY_MS

/** A query that deletes deliveries that ended too long before `at`, the oldest of them. */
export const purgeDeliveries = (database: Database, at: Instant): Query =>
  database.build.run(
    sql`delete from ${deliveries} where rowid in (
      select rowid from ${deliveries} where state in ('sent', 'failed') and finished_at <= ${at - KEEP_DELIVERIES_MS}
      order by finished_at limit ${MOST_PURGED})`,
  )

/**
 * When to purge again, as SQL for one value: at once when more writes, deliveries, logs of plugins or calls of integrations are too
 * old at `at`, else when the oldest will be, at most once a day; null when there is none.
 */
export const nextPurge = (at: Instant): SQL => sql`(
  select iif(min(due) <= ${at}, ${at}, max(min(due), ${at + DAY_MS})) from (
    select min(at) + ${KEEP_WRITES_MS} as due from ${writes}
    union all select min(finished_at) + ${KEEP_DELIVERIES_MS} from ${deliveries} where state in ('sent', 'failed')
    union all select min(at) + ${KEEP_LOGS_MS} from ${pluginLogs}
    union all select min(at) + ${KEEP_CALLS_MS} from ${integrationCalls}) where due is not null)`
