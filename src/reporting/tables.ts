// Tables of reports, in the home shard (docs/reports.md).
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Instant } from '../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../platform/events/transitions.ts'
import type { Calendar, ReportRequest } from './contract.ts'
import type { ReportFile } from './files/assembly.ts'
import type { ReportParameters } from './kind.ts'
import type { Totals } from './totals.ts'

export type ReportState = 'running' | 'paused' | 'finished' | 'error'

export type ReportAction = 'pause' | 'resume' | 'finish' | 'stop'

const REPORT_TRANSITIONS: TransitionTable<ReportAction, ReportState> = {
  pause: { from: ['running'], to: 'paused', past: 'paused' },
  resume: { from: ['paused', 'error'], to: 'running', past: 'resumed' },
  finish: { from: ['running'], to: 'finished', event: 'report.finish', past: 'finished' },
  stop: { from: ['running'], to: 'error', past: 'stopped by an error' },
}

/**
 * Throws 409 if the report's state does not allow the action (REPORT_TRANSITIONS); the message lists the actions that it allows.
 */
export const assertReportAllows = (locator: string, state: ReportState, action: ReportAction): void =>
  assertAllowed(REPORT_TRANSITIONS, `Report ${locator}`, state, action)

export const reports = sqliteTable(
  'report',
  {
    locator: text().primaryKey(),
    name: text().notNull(),
    state: text().$type<ReportState>().notNull(),
    parameters: text({ mode: 'json' }).$type<ReportParameters>().notNull(),
    /** The report shows what was known at this time, in the tenant's time. */
    knownAt: integer().$type<Instant>().notNull(),
    scheduleLocator: text(),
    /** The number of policies when it began, and the number that it has gone over. */
    expected: integer().notNull(),
    processed: integer().notNull(),
    /** Rows that all databases read, up to the last portion. */
    rowsRead: integer().notNull(),
    /** The shard that it is reading, and the last policy there that is done. */
    shard: integer().notNull(),
    after: integer().notNull(),
    /** The number of portions recorded so far. Each has a file of lines. */
    portions: integer().notNull(),
    /** Sums by group, which grow portion by portion. */
    totals: text({ mode: 'json' }).$type<Totals>().notNull(),
    /** Completed steps of writing the files, which begins when all portions are recorded. */
    steps: integer().notNull(),
    /** Set when the files are written. */
    files: text({ mode: 'json' }).$type<readonly ReportFile[]>(),
    /** Why it stopped. */
    problem: text(),
    /** Consecutive failures of the service at one portion. */
    tries: integer().notNull(),
    createdAt: integer().$type<Instant>().notNull(),
    updatedAt: integer().$type<Instant>().notNull(),
    finishedAt: integer().$type<Instant>(),
    username: text().notNull(),
  },
  table => [index('report_created').on(table.createdAt, table.locator)],
)

export const reportSchedules = sqliteTable('report_schedule', {
  locator: text().primaryKey(),
  reportName: text().notNull(),
  parameters: text({ mode: 'json' }).$type<ReportRequest>().notNull(),
  /** The calendar by which it runs, in the tenant's time zone. */
  calendar: text({ mode: 'json' }).$type<Calendar>().notNull(),
  /** In the tenant's time. */
  nextAt: integer().$type<Instant>().notNull(),
  lastReportLocator: text(),
  createdAt: integer().notNull(),
  username: text().notNull(),
})
