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
  from: optional(DayOrTime).describe('The period begins with it. Left out: the start of the month.'),
  to: optional(DayOrTime).describe('The period ends before it. Left out: now.'),
  period: z.enum(PERIODS).optional().describe('In place of from and to.'),
  at: optional(DayOrTime).describe('For reports about one moment. Left out: now.'),
  knownAt: optional(DayOrTime).describe('What was known at this time counts. Left out: now.'),
  by: names(
    'What lines are grouped by in totals. GET /reports/kinds names what each report can be grouped by.',
  ),
  products: names('Only these products. Left out: all.'),
  earning: z
    .enum(['product', 'daily'])
    .optional()
    .describe(
      'product: premium is earned as the product shares it out over time, by months. daily: by days.',
    ),
  sums: names('inForce: numeric fields of exposures to add up, as vehicle.value.'),
  columns: names(
    'bordereau: more columns. field:NAME of the policy, holder:NAME of the policyholder, exposures:NAME for how many, sum:EXPOSURE.NAME for the sum of a numeric field.',
  ),
  bordereau: optional(Name).describe('bordereau: a list of columns of the configuration (books.json).'),
})
export type ReportRequest = z.output<typeof ReportRequest>

export const ReportStartQuery = z.object({
  wait: optional(requestInteger(0, 30)).openapi({
    description: 'Seconds to wait for the report to finish.',
    default: 0,
  }),
})

export const REPORT_STATES = ['running', 'paused', 'finished', 'error'] as const

const CellValue = z.union([z.string(), z.number(), z.null()])

const ReportFile = z.object({
  format: z.enum(['csv', 'ndjson', 'parquet', 'totals', 'manifest']),
  fileName: Text,
  rows: Integer.optional().describe('Lines, without a head.'),
  bytes: Integer,
  sha256: Text.describe('Of its bytes, hexadecimal.'),
  url: Text.describe('Works without a token until it expires.'),
  urlExpirationTimestamp: Timestamp,
})

const ReportTotal = z.object({
  group: z.record(Text, CellValue).describe('Values of the dimensions.'),
  currency: Currency,
  lines: Integer,
  sums: z.record(Text, CellValue).describe('Sums of the measures; amounts in major units.'),
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
  parameters: z.record(Text, z.unknown()).describe('With times resolved.'),
  knownAtTimestamp: Timestamp,
  scheduleLocator: Text.optional(),
  processed: Integer.describe('Policies gone over so far.'),
  rowsRead: Integer.describe(
    'Rows that databases read for it so far, up to the last portion: most of what it costs.',
  ),
  expected: Integer.describe('Policies that there were when it began.'),
  lines: Integer.describe('So far.'),
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
    .describe('Of the lines so far, by group and currency; at most 1,000 of them. Files have all.'),
  totalsCompleted: z.boolean().describe('Whether `totals` has all groups.'),
  files: z.array(ReportFile).describe('Once it has finished.'),
  problem: Text.optional().describe('Why it stopped.'),
})
export type ReportStatusResponse = z.output<typeof ReportStatusResponse>

export const ReportListQuery = z.object({
  name: optional(Name).describe('Only this kind.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type ReportListQuery = z.output<typeof ReportListQuery>

export const ReportListResponse = component('ReportListResponse', {
  listCompleted: z.boolean().describe('Whether nothing follows.'),
  items: z.array(ReportSummaryResponse),
  pagingToken: Text.optional(),
})
export type ReportListResponse = z.output<typeof ReportListResponse>

export const ReportKindResponse = component('ReportKindResponse', {
  name: Text,
  title: Text,
  about: Text,
  parameters: Texts.describe('What a request may have beside by, products and knownAt.'),
  dimensions: Texts.describe('What `by` may name.'),
  usualDimensions: Texts,
})
export type ReportKindResponse = z.output<typeof ReportKindResponse>

export const ReportLinesQuery = z.object({
  group: optional(z.string().max(4_000)).describe(
    'JSON with values of dimensions, as totals have them: only lines of this group.',
  ),
  currency: optional(Name),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type ReportLinesQuery = z.output<typeof ReportLinesQuery>

export const ReportLinesResponse = component('ReportLinesResponse', {
  listCompleted: z.boolean().describe('Whether nothing follows.'),
  items: z.array(z.record(Text, CellValue)).describe('By column; amounts in major units.'),
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
    .describe('Of the week (1 is Monday) or of the month (shorter months: their last). Left out: 1.'),
  hour: z.number().int().min(0).max(23).default(6).describe("In the tenant's time zone."),
})
export type Calendar = z.output<typeof Calendar>

export const ReportScheduleRequest = component('ReportScheduleRequest', {
  reportName: Name,
  parameters: ReportRequest.optional().describe(
    'As for POST /report/{name}. Use period, since from and to stay the same.',
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
