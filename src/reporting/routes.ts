import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../platform/http/route.ts'
import {
  ReportKindResponse,
  ReportLinesQuery,
  ReportLinesResponse,
  ReportListQuery,
  ReportListResponse,
  ReportRequest,
  ReportScheduleRequest,
  ReportScheduleResponse,
  ReportStartQuery,
  ReportStatusResponse,
} from './contract.ts'

const routes = forTenant('Reports')
const REPORT = '/report/{reportLocator}'

/** Loaded by the first call, because it is a lot of code for rare calls. */
const service = () => import('./service.ts')
const lines = () => import('./lines.ts')
const scheduled = () => import('./scheduled.ts')

const status = { schema: ReportStatusResponse, description: 'The report.' }

export const reportRoutes: readonly Route[] = [
  routes.get('/reports/kinds', {
    summary: 'List the reports that there are',
    permission: 'reports.read',
    answer: { schema: z.array(ReportKindResponse), description: 'Each with what it takes.' },
    handle: async () => (await service()).listKinds(),
  }),
  routes.get('/reports/schedules', {
    summary: 'List schedules of reports',
    permission: 'reports.read',
    answer: { schema: z.array(ReportScheduleResponse), description: 'At most 50, the oldest first.' },
    handle: async (_, context) => (await scheduled()).listSchedules(context),
  }),
  routes.post('/reports/schedules', {
    summary: 'Run a report by the calendar',
    description:
      'In the time zone of the tenant. A time that was missed, as while the tenant was suspended, is made up for once. Each report is kept for 30 days.',
    permission: 'reports.create',
    body: { schema: ReportScheduleRequest, required: true },
    answer: { schema: ReportScheduleResponse, description: 'With the time at which it runs next.' },
    handle: async ({ body }, context) => (await scheduled()).createSchedule(context, body),
  }),
  routes.delete('/reports/schedules/{scheduleLocator}', {
    summary: 'Remove a schedule',
    description: 'Reports that it made stay.',
    permission: 'reports.create',
    answer: { description: 'It is removed.' },
    handle: async ({ params }, context) =>
      (await scheduled()).removeSchedule(context, params.scheduleLocator),
  }),
  routes.get('/reports', {
    summary: 'List reports, the newest first',
    permission: 'reports.read',
    query: ReportListQuery,
    answer: { schema: ReportListResponse, description: 'Without their totals and files.' },
    handle: async ({ query }, context) => (await service()).listReports(context, query),
  }),
  routes.post('/report/{reportName}', {
    summary: 'Start a report',
    description:
      'Goes over the policies a portion at a time; docs/reports.md defines each report. With `wait`, small ones are answered whole. At most four run at a time. A report and its files are kept for 30 days after it last changed.',
    permission: 'reports.create',
    query: ReportStartQuery,
    body: { schema: ReportRequest, required: false },
    answer: status,
    handle: async ({ params, query, body }, context) =>
      (await service()).startReport(context, params.reportName, body ?? {}, query.wait ?? 0),
  }),
  routes.get(`${REPORT}/status`, {
    summary: 'See how far a report is, its totals and its files',
    permission: 'reports.read',
    answer: status,
    handle: async ({ params }, context) => (await service()).readReport(context, params.reportLocator),
  }),
  routes.get(`${REPORT}/lines`, {
    summary: 'Read lines of a report',
    description:
      'In the order of the files. A page may be short where few lines are of the group; `listCompleted` says whether more follow.',
    permission: 'reports.read',
    query: ReportLinesQuery,
    answer: { schema: ReportLinesResponse, description: 'A page of lines.' },
    handle: async ({ params, query }, context) =>
      (await lines()).readLines(context, params.reportLocator, query),
  }),
  routes.patch(`${REPORT}/pause`, {
    summary: 'Pause a report',
    description: 'Answered when the portion that is under way is done with.',
    permission: 'reports.create',
    answer: { description: 'It is paused.' },
    handle: async ({ params }, context) => (await service()).pauseReport(context, params.reportLocator),
  }),
  routes.patch(`${REPORT}/resume`, {
    summary: 'Let a report go on that is paused or was stopped by an error',
    permission: 'reports.create',
    answer: { description: 'It goes on.' },
    handle: async ({ params }, context) => (await service()).resumeReport(context, params.reportLocator),
  }),
  routes.delete('/reports/{reportLocator}', {
    summary: 'Remove a report with its files',
    permission: 'reports.create',
    answer: { description: 'It is removed.' },
    handle: async ({ params }, context) => (await service()).removeReport(context, params.reportLocator),
  }),
]
