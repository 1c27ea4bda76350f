// Tools that read events, and start and read reports.
import { z } from 'zod'
import { bodyOf, firstOf } from '../answers.ts'
import { type Json, pathOf } from '../host.ts'
import { defineTool } from '../tool.ts'
import { isoOf, Locator, More, MoreCount, NameIn, Time, TimeIn } from '../values.ts'

const readEvents = defineTool({
  name: 'read_events',
  title: 'Read events',
  about:
    'Lists events, oldest first: since a time, or after the cursor of the previous page. The cursor never expires; when events is empty you are up to date.',
  effect: 'reads',
  input: z.strictObject({
    since: TimeIn.optional().describe(
      'For the first page. Without it and without a cursor: from the first event.',
    ),
    type: NameIn.optional().describe('Only events of this type, such as policy.issue; for the first page.'),
    cursor: More.describe(
      'The cursor of the previous page. With it, all other parameters are ignored; the page size is that of the first page.',
    ),
    pageSize: z.number().int().min(1).max(50).default(20),
  }),
  output: z.strictObject({
    events: z.array(
      z.strictObject({
        event: z.string(),
        at: z.string(),
        type: z.string(),
        data: z.record(z.string(), z.unknown()),
        request: z.string(),
      }),
    ),
    cursor: z.string(),
  }),
  async run({ since, type, cursor, pageSize }, host) {
    const first = { startTimestamp: since, type, pageSize }
    const query = cursor === undefined ? first : { pagingToken: cursor }
    const path = pathOf`/event/${host.tenant.locator}/events/list`
    const { events, pagingToken } = await bodyOf(host.call({ method: 'GET', path, query }))
    return {
      events: events.map((one: Json) => ({
        event: one.locator,
        at: one.timestamp,
        type: one.type,
        data: one.data,
        request: one.requestId,
      })),
      cursor: pagingToken,
    }
  },
})

const Report = z.strictObject({
  report: z.string(),
  name: z.string(),
  state: z.string().describe('running, paused, finished or error.'),
  processed: z.number(),
  expected: z.number(),
  lines: z.number(),
  created: Time.optional(),
})

const shownReport = (one: Json) => ({
  report: one.locator,
  name: one.name,
  state: one.state,
  processed: one.processed,
  expected: one.expected,
  lines: one.lines,
  created: isoOf(one.createdTimestamp),
})

const listReports = defineTool({
  name: 'list_reports',
  title: 'List reports',
  about: 'Lists the kinds of reports with the parameters of each, and the latest reports.',
  effect: 'reads',
  input: z.strictObject({}),
  output: z.strictObject({
    kinds: z.array(
      z.strictObject({
        name: z.string(),
        about: z.string(),
        parameters: z.array(z.string()),
        dimensions: z.array(z.string()).describe('Values that `by` accepts.'),
      }),
    ),
    reports: z.array(Report),
  }),
  async run(_, host) {
    const [kinds, { items }] = await Promise.all([
      bodyOf(host.call({ method: 'GET', path: '/reports/kinds' })),
      bodyOf(host.call({ method: 'GET', path: '/reports', query: { pageSize: 10 } })),
    ])
    return {
      kinds: kinds.map(({ name, about, parameters, dimensions }: Json) => ({
        name,
        about,
        parameters,
        dimensions,
      })),
      reports: items.map(shownReport),
    }
  },
})

const PERIODS = [
  'previousDay',
  'previousWeek',
  'previousMonth',
  'previousQuarter',
  'previousYear',
  'monthToDate',
  'yearToDate',
] as const

const dayIn = z.iso.date().optional()

const Cell = z.union([z.string(), z.number(), z.null()])

const ReportStatus = z.strictObject({
  ...Report.shape,
  problem: z.string().optional(),
  totals: z.array(
    z.strictObject({
      group: z.record(z.string(), Cell),
      currency: z.string(),
      sums: z.record(z.string(), Cell),
    }),
  ),
  moreTotals: MoreCount,
  files: z
    .array(z.string())
    .describe('Names of the files. People download them with GET /report/{locator}/status.'),
})

function shownStatus(report: Json) {
  const { some, more } = firstOf<Json>(report.totals, 40)
  return {
    ...shownReport(report),
    problem: report.problem,
    totals: some.map(({ group, currency, sums }) => ({ group, currency, sums })),
    moreTotals: more,
    files: report.files.map((one: Json) => one.fileName),
  }
}

const startReport = defineTool({
  name: 'start_report',
  title: 'Start a report',
  about:
    'Starts a report over the policies of the tenant, and waits up to five seconds for it. If it is still running, read it with read_report. It changes no policy. list_reports lists the parameters of each kind.',
  effect: 'makes',
  input: z.strictObject({
    name: z
      .string()
      .regex(/^[\w-]{1,80}$/)
      .describe('The kind of report.'),
    period: z.enum(PERIODS).optional().describe('Instead of from and to.'),
    from: dayIn.describe('First day of the period.'),
    to: dayIn.describe('Day after the period.'),
    at: dayIn.describe('For reports about one moment.'),
    by: z.array(NameIn).max(10).optional(),
    products: z.array(NameIn).max(20).optional(),
  }),
  output: ReportStatus,
  run: async ({ name, ...body }, host) =>
    shownStatus(
      await bodyOf(host.call({ method: 'POST', path: pathOf`/report/${name}`, query: { wait: 5 }, body })),
    ),
})

const readReport = defineTool({
  name: 'read_report',
  title: 'Read a report',
  about: 'Shows the progress of a report, and its totals.',
  effect: 'reads',
  input: z.strictObject({ report: Locator }),
  output: ReportStatus,
  run: async ({ report }, host) =>
    shownStatus(await bodyOf(host.call({ method: 'GET', path: pathOf`/report/${report}/status` }))),
})

export const eventTools = [readEvents, listReports, startReport, readReport]
