import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import type { Guard } from '../platform/commit.ts'
import { insertRows } from '../platform/database/rows.ts'
import type { Database, Query } from '../platform/database.ts'
import type { Position } from '../platform/paging.ts'
import { HOME_SHARD } from '../platform/tenancy.ts'
import { reportSchedules, reports } from './tables.ts'
import { noTotals } from './totals.ts'

export type Report = Omit<typeof reports.$inferSelect, 'locator'> & { locator: Uuid }

/** The values of a report that has not gone over any policy yet. */
export const notBegun = () => ({
  processed: 0,
  rowsRead: 0,
  shard: HOME_SHARD,
  after: 0,
  portions: 0,
  totals: noTotals(),
  steps: 0,
  files: null,
  tries: 0,
  finishedAt: null,
})
export type Schedule = Omit<typeof reportSchedules.$inferSelect, 'locator'> & { locator: Uuid }

/** Selects no row if there is no such report. */
export const reportQuery = ({ build }: Database, locator: Uuid) =>
  build.select().from(reports).where(eq(reports.locator, locator))

/** Newest first, one more than `pageSize`. */
export const reportsQuery = (
  { build }: Database,
  name: string | undefined,
  position: Position<Uuid> | undefined,
  pageSize: number,
) =>
  build
    .select()
    .from(reports)
    .where(
      and(
        name === undefined ? undefined : eq(reports.name, name),
        position &&
          sql`(${reports.createdAt}, ${reports.locator}) < (${position.createdAt}, ${position.locator})`,
      ),
    )
    .orderBy(desc(reports.createdAt), desc(reports.locator))
    .limit(pageSize + 1)

/**
 * Selects reports that show fields of policyholders, began no later than `until`, and are not empty. A list in books.json may
 * name fields of policyholders in some version.
 */
export const showingHoldersQuery = ({ build }: Database, until: number) =>
  build
    .select({ locator: reports.locator })
    .from(reports)
    .where(
      sql`${reports.createdAt} <= ${until} and (${reports.state} <> 'error' or ${reports.portions} > 0)
        and (${reports.parameters} ->> '$.bordereau' is not null or exists (
          select 1 from json_each(${reports.parameters}, '$.columns') where value like 'holder:%'))`,
    )

export const newReportQueries = (database: Database, report: Report): Query[] =>
  insertRows(database, reports, [report])

/** Changes only the given properties, and nothing if the report is gone. */
export const changeReportQuery = (
  { build }: Database,
  locator: Uuid,
  changes: Partial<Omit<Report, 'locator'>>,
): Query => build.update(reports).set(changes).where(eq(reports.locator, locator))

/** Deletes the row only. `deleteReportFiles` deletes the files. */
export const removeReportQuery = ({ build }: Database, locator: Uuid): Query =>
  build.delete(reports).where(eq(reports.locator, locator))

// The guard of migrations is also used here. It checks that work in portions has not moved since it was read.
const guard = (holds: SQL): Guard => ({ name: 'guard_migration_state', holds })

/** Trips if the report has changed state or progressed meanwhile. */
export const reportGuard = ({
  locator,
  state,
  shard,
  after,
  portions,
  steps,
}: Pick<Report, 'locator' | 'state' | 'shard' | 'after' | 'portions' | 'steps'>): Guard =>
  guard(
    sql`exists (select 1 from ${reports} where ${reports.locator} = ${locator} and ${reports.state} = ${state}
      and ${reports.shard} = ${shard} and ${reports.after} = ${after} and ${reports.portions} = ${portions} and ${reports.steps} = ${steps})`,
  )

/** Trips if the tenant has this many reports, or this many running ones. */
export const roomGuard = (most: number, running: number): Guard =>
  guard(
    sql`(select count(*) < ${most} and coalesce(sum(${reports.state} = 'running'), 0) < ${running} from ${reports})`,
  )

/** Selects one row: the number of all reports, and of the running ones. */
export const countsQuery = ({ build }: Database) =>
  build
    .select({
      all: sql<number>`count(*)`,
      running: sql<number>`coalesce(sum(${reports.state} = 'running'), 0)`,
    })
    .from(reports)

export const scheduleQuery = ({ build }: Database, locator: Uuid) =>
  build.select().from(reportSchedules).where(eq(reportSchedules.locator, locator))

/** Oldest first. */
export const schedulesQuery = ({ build }: Database) =>
  build.select().from(reportSchedules).orderBy(reportSchedules.createdAt, reportSchedules.locator)

export const newScheduleQueries = (database: Database, schedule: Schedule): Query[] =>
  insertRows(database, reportSchedules, [schedule])

export const changeScheduleQuery = (
  { build }: Database,
  locator: Uuid,
  changes: Partial<Omit<Schedule, 'locator'>>,
): Query => build.update(reportSchedules).set(changes).where(eq(reportSchedules.locator, locator))

export const removeScheduleQuery = ({ build }: Database, locator: Uuid): Query =>
  build.delete(reportSchedules).where(eq(reportSchedules.locator, locator))

/** Trips if the tenant has this many schedules. */
export const scheduleRoomGuard = (most: number): Guard =>
  guard(sql`(select count(*) < ${most} from ${reportSchedules})`)

/** Trips if the schedule is gone. */
export const schedulePresentGuard = (locator: Uuid): Guard =>
  guard(sql`exists (select 1 from ${reportSchedules} where ${reportSchedules.locator} = ${locator})`)

/** Trips if the schedule has already run for this time, or is gone. */
export const scheduleGuard = ({ locator, nextAt }: Pick<Schedule, 'locator' | 'nextAt'>): Guard =>
  guard(
    sql`exists (select 1 from ${reportSchedules} where ${reportSchedules.locator} = ${locator} and ${reportSchedules.nextAt} = ${nextAt})`,
  )
