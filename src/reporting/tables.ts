// Tables of reports, in the home shard (docs/reports.md).
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export type ReportState = 'running' | 'paused' | 'finished' | 'error'

export const reports = sqliteTable(
  'report',
  {
    locator: text().primaryKey(),
    name: text().notNull(),
    state: text().$type<ReportState>().notNull(),
    parameters: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
    /** What it reports is as known at this time, in the tenant's time. */
    knownAt: integer().notNull(),
    scheduleLocator: text(),
    /** Policies that there were when it began, and those that it has gone over. */
    expected: integer().notNull(),
    processed: integer().notNull(),
    /** The shard that it goes over, and the last policy of it that is done. */
    shard: integer().notNull(),
    after: integer().notNull(),
    /** Recorded so far: each has a file of lines. */
    portions: integer().notNull(),
    /** Sums by group, which grow portion by portion. */
    totals: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
    /** Progress of writing the files once all portions are there; then the files. */
    files: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>(),
    /** Faults of the service at one portion in a row. */
    tries: integer().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    finishedAt: integer(),
    username: text().notNull(),
  },
  table => [index('report_created').on(table.createdAt, table.locator)],
)

export const reportSchedules = sqliteTable('report_schedule', {
  locator: text().primaryKey(),
  reportName: text().notNull(),
  parameters: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  /** When it runs: by calendar, in the tenant's time zone. */
  calendar: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  /** In the tenant's time. */
  nextAt: integer().notNull(),
  lastReportLocator: text(),
  createdAt: integer().notNull(),
  username: text().notNull(),
})
