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
const loadScheduled = () => import('./scheduled.ts')

const status = { schema: ReportStatusResponse, description: 'The report.' }

export const reportRoutes: readonly Route[] = [
  routes.get('/reports/kinds', {
    summary: 'List the kinds of reports',
    permission: 'reports.read',
    answer: { schema: z.array(ReportKindResponse), description: 'Each kind with its parameters.' },
    handle: async () => (await service()).listKinds(),
  }),
  routes.get('/reports/schedules', {
    summary: 'List schedules of reports',
    permission: 'reports.read',
    answer: { schema: z.array(ReportScheduleResponse), description: 'At most 50, the oldest first.' },
    handle: async (_, context) => (await loadScheduled()).listSchedules(context),
  }),
  routes.post('/reports/schedules', {
    summary: 'Run a report on a schedule',
    description:
      'In the time zone of the tenant. A report whose time was missed, for example while the tenant was suspended, runs once later. Each report is kept for 30 days.',
    permission: 'reports.create',
    body: { schema: ReportScheduleRequest, required: true },
    answer: { schema: ReportScheduleResponse, description: 'The schedule, with the time of its next run.' },
    handle: async ({ body }, context) => (await loadScheduled()).createSchedule(context, body),
  }),
  routes.delete('/reports/schedules/{scheduleLocator}', {
    summary: 'Remove a schedule',
    description: 'Reports that it created stay.',
    permission: 'reports.create',
    answer: { description: 'The schedule is removed.' },
    handle: async ({ params }, context) =>
      (await loadScheduled()).removeSchedule(context, params.scheduleLocator),
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
      'Processes the policies in portions; docs/reports.md defines each report. With `wait`, the response contains small reports completely. At most four run at a time. A report and its files are kept for 30 days after its last change.',
    permission: 'reports.create',
    query: ReportStartQuery,
    body: { schema: ReportRequest, required: false },
    answer: status,
    handle: async ({ params, query, body }, context) =>
      (await service()).startReport(context, params.reportName, body ?? {}, query.wait ?? 0),
  }),
  routes.get(`${REPORT}/status`, {
    summary: 'Read the progress of a report, its totals and its files',
    permission: 'reports.read',
    answer: status,
    handle: async ({ params }, context) => (await service()).readReport(context, params.reportLocator),
  }),
  routes.get(`${REPORT}/lines`, {
    summary: 'Read lines of a report',
    description:
      'In the order of the files. A page may be short if few lines belong to the group; `listCompleted` says whether more follow.',
    permission: 'reports.read',
    query: ReportLinesQuery,
    answer: { schema: ReportLinesResponse, description: 'A page of lines.' },
    handle: async ({ params, query }, context) =>
      (await lines()).readLines(context, params.reportLocator, query),
  }),
  routes.patch(`${REPORT}/pause`, {
    summary: 'Pause a report',
    description: 'The response comes when the current portion is finished.',
    permission: 'reports.create',
    answer: { description: 'The report is paused.' },
    handle: async ({ params }, context) => (await service()).pauseReport(context, params.reportLocator),
  }),
  routes.patch(`${REPORT}/resume`, {
    summary: 'Resume a report that is paused or was stopped by an error',
    permission: 'reports.create',
    answer: { description: 'The report is resumed.' },
    handle: async ({ params }, context) => (await service()).resumeReport(context, params.reportLocator),
  }),
  routes.delete('/reports/{reportLocator}', {
    summary: 'Remove a report and its files',
    permission: 'reports.create',
    answer: { description: 'The report is removed.' },
    handle: async ({ params }, context) => (await service()).removeReport(context, params.reportLocator),
  }),
]
