// Reports in responses: amounts in major units, times as text.
import type { CurrencyCode } from '../kernel/money.ts'
import type { TimeZone } from '../kernel/time.ts'
import { reportAddress } from '../platform/http/file-links.ts'
import type { Layout } from './columns.ts'
import type * as contract from './contract.ts'
import { shownGroup, shownSums } from './files/summary.ts'
import type { Report, Schedule } from './store.ts'
import { totalLines } from './totals.ts'

/** The maximum in a response. Files contain all. */
const MOST_TOTALS = 1_000

/** Returns a report without columns, totals and files, as lists contain it. Its parameters have times in milliseconds, as text. */
export function summaryResponse(report: Report): contract.ReportSummaryResponse {
  const { locator, name, state, parameters, knownAt, scheduleLocator, totals } = report
  return {
    locator,
    name,
    state,
    parameters: shownParameters(parameters),
    knownAtTimestamp: String(knownAt),
    ...(scheduleLocator !== null && { scheduleLocator }),
    processed: report.processed,
    expected: report.expected,
    lines: totals.lines,
    rowsRead: report.rowsRead,
    createdTimestamp: String(report.createdAt),
    updatedTimestamp: String(report.updatedAt),
    ...(report.finishedAt !== null && { finishedTimestamp: String(report.finishedAt) }),
    createdBy: report.username,
  }
}

const shownParameters = ({ from, to, at, ...others }: Report['parameters']): Record<string, unknown> => ({
  fromTimestamp: String(from),
  toTimestamp: String(to),
  atTimestamp: String(at),
  ...others,
})

/**
 * Returns a report with all properties. `zone` is the time zone in which days are shown. `totalsCompleted` is false if it has more
 * than 1,000 totals; files contain them all.
 */
export function statusResponse(
  report: Report,
  layout: Layout,
  zone: TimeZone,
): contract.ReportStatusResponse {
  const totals = totalLines(report.totals)
  return {
    ...summaryResponse(report),
    columns: layout.columns.map(({ name, type, about, isMeasure = false }) => ({
      name,
      type,
      about,
      isMeasure,
    })),
    totals: totals.slice(0, MOST_TOTALS).map(total => ({
      group: shownGroup(total, layout),
      currency: total.currency as CurrencyCode,
      lines: total.lines,
      sums: shownSums(total.sums, layout, total.currency, zone),
    })),
    totalsCompleted: totals.length <= MOST_TOTALS,
    files: (report.files ?? []).map(({ format, fileName, rows, bytes, sha256 }) => ({
      format,
      fileName,
      ...(rows !== undefined && { rows }),
      bytes,
      sha256,
      ...reportAddress(report.locator, fileName),
    })),
    ...(report.problem !== null && { problem: report.problem }),
  }
}

export const scheduleResponse = (schedule: Schedule): contract.ReportScheduleResponse => ({
  locator: schedule.locator,
  reportName: schedule.reportName,
  parameters: schedule.parameters,
  calendar: schedule.calendar,
  nextTimestamp: String(schedule.nextAt),
  ...(schedule.lastReportLocator !== null && { lastReportLocator: schedule.lastReportLocator }),
  createdTimestamp: String(schedule.createdAt),
  createdBy: schedule.username,
})
