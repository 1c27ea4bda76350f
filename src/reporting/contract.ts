// Reports: requests, progress and results. The paths are those that published clients call (brief 0.10). The shapes are
// Bindery's own.
import { z } from '@hono/zod-openapi'
import {
  Currency,
  component,
  Integer,
  list,
  Name,
  optional,
  PageSize,
  PagingToken,
  requestInteger,
  Text,
  Texts,
  Timestamp,
  TimestampIfAny,
} from '../platform/wire.ts'

export const PERIODS = [
  'previousDay',
  'previousWeek',
  'previousMonth',
  'previousQuarter',
  'previousYear',
  'monthToDate',
  'yearToDate',
] as const
export type PeriodName = (typeof PERIODS)[number]

const DayOrTime = z
  .union([z.string().min(1).max(40), z.number()])
  .openapi({ example: '2026-11-01' })
  .describe("A day (YYYY-MM-DD), which begins in the tenant's time zone, or milliseconds.")

const names = (about: string) => optional(list(Name)).describe(about)

export const ReportRequest = component('ReportRequest', {
  from: optional(DayOrTime).describe('Start of the period. Left out: the start of the month.'),
  to: optional(DayOrTime).describe('End of the period, exclusive. Left out: now.'),
  period: z.enum(PERIODS).optional().describe('Instead of from and to.'),
  at: optional(DayOrTime).describe('For reports about one moment. Left out: now.'),
  knownAt: optional(DayOrTime).describe('Only what was known at this time. Left out: now.'),
  by: names(
    'Dimensions by which totals group lines. GET /reports/kinds lists the dimensions of each report.',
  ),
  products: names('Only these products. Left out: all products.'),
  earning: z
    .enum(['product', 'daily'])
    .optional()
    .describe('product: premium is earned over time as the product defines, by months. daily: by days.'),
  sums: names('inForce: numeric fields of exposures to add up, such as vehicle.value.'),
  columns: names(
    'bordereau: more columns. field:NAME of the policy, holder:NAME of the policyholder, exposures:NAME for their number, sum:EXPOSURE.NAME for the sum of a numeric field.',
  ),
  bordereau: optional(Name).describe('bordereau: a list of columns from the configuration (books.json).'),
})
export type ReportRequest = z.output<typeof ReportRequest>

export const ReportStartQuery = z.object({
  wait: optional(requestInteger(0, 30)).openapi({
    description: 'Seconds to wait for the report to finish.',
    default: 0,
  }),
})

const REPORT_STATES = ['running', 'paused', 'finished', 'error'] as const

const CellValue = z.union([z.string(), z.number(), z.null()])

const ReportFile = z.object({
  format: z.enum(['csv', 'ndjson', 'parquet', 'totals', 'manifest']),
  fileName: Text,
  rows: Integer.optional().describe('Number of lines, without the header.'),
  bytes: Integer,
  sha256: Text.describe('Hash of the bytes, in hexadecimal.'),
  url: Text.describe('Works without a token until it expires.'),
  urlExpirationTimestamp: Timestamp,
})

const ReportTotal = z.object({
  group: z.record(Text, CellValue).describe('Values of the dimensions.'),
  currency: Currency,
  lines: Integer,
  sums: z.record(Text, CellValue).describe('Sums of the measures. Amounts are in major units.'),
})

const ColumnInfo = z.object({
  name: Text,
  type: z.enum(['amount', 'integer', 'number', 'time', 'day', 'text']),
  about: Text,
  isMeasure: z.boolean(),
})

const summary = {
  locator: Text,
  name: Text.describe('The kind of report.'),
  state: z.enum(REPORT_STATES),
  parameters: z.record(Text, z.unknown()).describe('Parameters of the report, with times resolved.'),
  knownAtTimestamp: Timestamp,
  scheduleLocator: Text.optional(),
  processed: Integer.describe('Number of policies processed so far.'),
  rowsRead: Integer.describe(
    'Number of database rows read so far, up to the last portion. They are most of the cost of the report.',
  ),
  expected: Integer.describe('Number of policies when the report began.'),
  lines: Integer.describe('Number of lines so far.'),
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  finishedTimestamp: TimestampIfAny,
  createdBy: Text,
}

export const ReportSummaryResponse = component('ReportSummaryResponse', summary)
export type ReportSummaryResponse = z.output<typeof ReportSummaryResponse>

export const ReportStatusResponse = component('ReportStatusResponse', {
  ...summary,
  columns: z.array(ColumnInfo),
  totals: z
    .array(ReportTotal)
    .describe('Totals of the lines so far, by group and currency; at most 1,000. Files have all.'),
  totalsCompleted: z.boolean().describe('Whether `totals` contains all groups.'),
  files: z.array(ReportFile).describe('Present when the report has finished.'),
  problem: Text.optional().describe('The reason why the report stopped.'),
})
export type ReportStatusResponse = z.output<typeof ReportStatusResponse>

export const ReportListQuery = z.object({
  name: optional(Name).describe('Only reports of this kind.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type ReportListQuery = z.output<typeof ReportListQuery>

export const ReportListResponse = component('ReportListResponse', {
  listCompleted: z.boolean().describe('Whether this is the last page.'),
  items: z.array(ReportSummaryResponse),
  pagingToken: Text.optional(),
})
export type ReportListResponse = z.output<typeof ReportListResponse>

export const ReportKindResponse = component('ReportKindResponse', {
  name: Text,
  title: Text,
  about: Text,
  parameters: Texts.describe('Parameters that a request can have in addition to by, products and knownAt.'),
  dimensions: Texts.describe('Values that `by` accepts.'),
  usualDimensions: Texts,
})
export type ReportKindResponse = z.output<typeof ReportKindResponse>

export const ReportLinesQuery = z.object({
  group: optional(z.string().max(4_000)).describe(
    'JSON object with values of dimensions, as in totals. Only lines of this group.',
  ),
  currency: optional(Name),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type ReportLinesQuery = z.output<typeof ReportLinesQuery>

export const ReportLinesResponse = component('ReportLinesResponse', {
  listCompleted: z.boolean().describe('Whether this is the last page.'),
  items: z.array(z.record(Text, CellValue)).describe('Values by column. Amounts are in major units.'),
  pagingToken: Text.optional(),
})
export type ReportLinesResponse = z.output<typeof ReportLinesResponse>

const Calendar = z.object({
  every: z.enum(['day', 'week', 'month']),
  day: z
    .number()
    .int()
    .min(1)
    .max(31)
    .optional()
    .describe(
      'Day of the week (1 is Monday) or of the month (in shorter months: the last day). Left out: 1.',
    ),
  hour: z.number().int().min(0).max(23).default(6).describe("Time of day in the tenant's time zone."),
})
export type Calendar = z.output<typeof Calendar>

export const ReportScheduleRequest = component('ReportScheduleRequest', {
  reportName: Name,
  parameters: ReportRequest.optional().describe(
    'As for POST /report/{name}. Use period, because from and to stay the same.',
  ),
  calendar: Calendar,
})
export type ReportScheduleRequest = z.output<typeof ReportScheduleRequest>

export const ReportScheduleResponse = component('ReportScheduleResponse', {
  locator: Text,
  reportName: Text,
  parameters: z.record(Text, z.unknown()),
  calendar: Calendar,
  nextTimestamp: Timestamp,
  lastReportLocator: Text.optional(),
  createdTimestamp: Timestamp,
  createdBy: Text,
})
export type ReportScheduleResponse = z.output<typeof ReportScheduleResponse>
