// Starts, reads, pauses, resumes and removes reports. `run/` goes over the policies.
import { auditRows } from '../access/audit/store.ts'
import { invalidRequest, notFound, Refusal } from '../kernel/errors.ts'
import { newUuid, type Uuid } from '../kernel/locators.ts'
import { didYouMean } from '../kernel/text.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import {
  type AnswerBySubject,
  commit,
  type Guard,
  GuardTripped,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  type NewTimer,
  retryOnConflict,
  storedAnswer,
  unlessRepeated,
} from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Query } from '../platform/database.ts'
import { KEPT_MS, keptTimers } from '../platform/events/kept-records.ts'
import type { TimerOwner } from '../platform/events/timers.ts'
import { callObject, reportObject } from '../platform/objects.ts'
import { readPagingToken, UUID_FORM, writePagingToken } from '../platform/paging.ts'
import {
  HOME_SHARD,
  homeDatabase,
  recordPlace,
  shardDatabase,
  shardName,
  type TenantPlace,
  tenantNow,
} from '../platform/tenancy.ts'
import { requireBooks } from './books/service.ts'
import { type Layout, layoutOf } from './columns.ts'
import { requireConfiguration } from './configuration.ts'
import type * as contract from './contract.ts'
import { dimensionNames } from './dimensions.ts'
import { deleteReportFiles } from './files/assembly.ts'
import type { ReportKind } from './kind.ts'
import { REPORT_KINDS } from './kinds.ts'
import { parametersOf, readTime } from './parameters.ts'
import { statusResponse, summaryResponse } from './response.ts'
import { countQuery } from './run/reading.ts'
import * as store from './store.ts'
import { assertReportAllows, type ReportAction } from './tables.ts'

/** The maximum number of reports of a tenant. Reports are removed after 30 days; more are rejected until some are removed. */
const MOST_REPORTS = 500
/** The maximum at a time, because each goes over the whole book. */
const MOST_RUNNING = 4

/** Returns a kind of report. Throws 404 for an unknown name; the message lists all names. */
export function kindNamed(name: string): ReportKind {
  const names = REPORT_KINDS.map(one => one.name)
  const found = REPORT_KINDS.find(one => one.name === name)
  if (found) return found
  throw new Refusal(
    'notFound',
    `There is no report '${name.slice(0, 100)}'.${didYouMean(name, names)} Use one of: ${names.join(', ')}.`,
  )
}

/** Lists all kinds of reports with what requests may ask of them. The same for every tenant. */
export const listKinds = (): contract.ReportKindResponse[] =>
  REPORT_KINDS.map(kind => ({
    name: kind.name,
    title: kind.title,
    about: kind.about,
    parameters: [...kind.takes],
    dimensions: dimensionNames(kind),
    usualDimensions: [...kind.usual],
  }))

/** Starts a report, and waits for it as long as the request asks. */
export async function startReport(
  context: RequestContext,
  name: string,
  request: contract.ReportRequest,
  waitSeconds: number,
): Promise<contract.ReportStatusResponse> {
  requireBooks(context)
  const kind = kindNamed(name)
  const database = homeDatabase(context)
  const earlier = await storedAnswer(context, database)
  const locator = locatorIn(earlier) ?? (await createReport(context, kind, request, undefined))
  if (waitSeconds > 0) await waitUntilFinished(context, locator, waitSeconds)
  else wakeLater(context, locator)
  return await readReport(context, locator)
}

/** Returns the locator of the report or schedule that the first attempt of a repeated request created. */
export const locatorIn = (earlier: JsonAnswer | AnswerBySubject | undefined): Uuid | undefined =>
  earlier && (isBySubject(earlier) ? earlier.subject : JSON.parse(earlier.text).locator)

/** The stored response of a request that creates a report or schedule: only its locator. A repeat reads the record again. */
export const answerOf = (locator: Uuid): JsonAnswer => jsonAnswer({ locator })

/** Further changes that are committed with a report. */
export type FurtherWrites = { guards: Guard[]; facts: Query[]; timers: NewTimer[] }

/** Commits the report and returns its locator. Its object then goes over the policies. `then` returns further changes to commit. */
export async function createReport(
  context: RequestContext,
  kind: ReportKind,
  request: contract.ReportRequest,
  schedule: store.Schedule | undefined,
  then: (made: Uuid) => FurtherWrites = () => ({ guards: [], facts: [], timers: [] }),
): Promise<Uuid> {
  const database = homeDatabase(context)
  const configuration = await requireConfiguration(context)
  const at = tenantNow(context.tenant)
  const parameters = parametersOf(kind, request, { configuration, now: at })
  const knownAt = readTime(request.knownAt, 'knownAt', configuration.timeZone) ?? at
  if (knownAt > at) throw invalidRequest(`'knownAt' is in the future. Send a time that has passed.`)
  const surroundings = { configuration, timeZone: configuration.timeZone, knownAt }
  layoutOf(kind, parameters, surroundings)
  const report: store.Report = {
    locator: newUuid(HOME_SHARD),
    name: kind.name,
    state: 'running',
    parameters,
    knownAt,
    scheduleLocator: schedule?.locator ?? null,
    expected: await countPolicies(context, parameters, knownAt),
    ...store.notBegun(),
    problem: null,
    createdAt: context.now,
    updatedAt: context.now,
    username: context.caller.username,
  }
  const more = then(report.locator)
  try {
    const committed = await commit(context, database, {
      shard: HOME_SHARD,
      subject: report.locator,
      answer: answerOf(report.locator),
      guards: [store.roomGuard(MOST_REPORTS, MOST_RUNNING), ...more.guards],
      facts: [
        ...store.newReportQueries(database, report),
        ...auditOf(context, report.locator, 'start', kind.name),
        ...more.facts,
      ],
      timers: [...keptTimers('report.run', report.locator, context.now), ...more.timers],
    })
    return locatorIn(committed)!
  } catch (problem) {
    throw problem instanceof GuardTripped ? ((await reportLimitRefusal(context)) ?? problem) : problem
  }
}

/** Returns why there is no room, or undefined if there is. */
async function reportLimitRefusal(context: RequestContext): Promise<Refusal | undefined> {
  const database = homeDatabase(context)
  const [[counts]] = await database.batch([store.countsQuery(database)])
  if (counts && counts.running >= MOST_RUNNING)
    return new Refusal(
      'wrongState',
      `${counts.running} reports are running; at most ${MOST_RUNNING} can run at a time. Wait for one, pause it, or remove it.`,
    )
  return counts && counts.all >= MOST_REPORTS
    ? new Refusal(
        'wrongState',
        `The tenant has ${counts.all} reports, and at most ${MOST_REPORTS} are kept. Remove some.`,
      )
    : undefined
}

async function countPolicies(
  { env, tenant, calls }: RequestContext,
  parameters: store.Report['parameters'],
  knownAt: Instant,
): Promise<number> {
  const counts = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([countQuery(database, parameters, knownAt)])
      return rows[0]?.count ?? 0
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Lists reports, newest first. */
export async function listReports(
  context: RequestContext,
  { name, pageSize, pagingToken }: contract.ReportListQuery,
): Promise<contract.ReportListResponse> {
  requireBooks(context)
  const database = homeDatabase(context)
  const [position] = readPagingToken(pagingToken, UUID_FORM)
  const [rows] = await database.batch([store.reportsQuery(database, name, position, pageSize)])
  const items = rows.slice(0, pageSize) as store.Report[]
  const last = rows.length > pageSize ? items.at(-1) : undefined
  return {
    listCompleted: last === undefined,
    items: items.map(summaryResponse),
    ...(last && {
      pagingToken: writePagingToken([{ createdAt: last.createdAt, locator: last.locator }], UUID_FORM),
    }),
  }
}

/**
 * Returns a report in its present state, with at most 1,000 totals and the addresses of its files. Rejects with 404 an unknown
 * locator, and with 400 a report with columns that the newest configuration no longer has.
 */
export async function readReport(
  context: RequestContext,
  text: string,
): Promise<contract.ReportStatusResponse> {
  requireBooks(context)
  const report = await reportAt(context, text)
  const { layout, zone } = await layoutFor(context, report)
  return statusResponse(report, layout, zone)
}

/** Uses the current configuration. */
export async function layoutFor(
  context: RequestContext,
  { name, parameters, knownAt }: store.Report,
): Promise<{ layout: Layout; zone: TimeZone }> {
  const configuration = await requireConfiguration(context)
  const zone = configuration.timeZone
  return { layout: layoutOf(kindNamed(name), parameters, { configuration, timeZone: zone, knownAt }), zone }
}

/** Returns the report with the locator that a request sends. Throws 404 if there is none. One round trip. */
export async function reportAt(context: RequestContext, text: string): Promise<store.Report> {
  const { locator, shard } = recordPlace(context, text, 'report')
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.reportQuery(database, locator)])
  if (shard !== HOME_SHARD || !rows[0]) throw notFound('report', text)
  return rows[0] as store.Report
}

/** Stops at the next policy. Returns when the current portion has ended. */
export async function pauseReport(context: RequestContext, text: string): Promise<void> {
  const { locator } = await change(context, text, 'pause', 'paused')
  const { env, tenant, calls } = context
  await callObject(calls, () => reportObject(env, tenant, locator).halt())
}

/**
 * Continues a report that is paused or ended with an error, after the last portion that it stored. Rejects other states with 409.
 */
export async function resumeReport(context: RequestContext, text: string): Promise<void> {
  const { locator } = await change(context, text, 'resume', 'running')
  wakeLater(context, locator)
}

async function change(
  context: RequestContext,
  text: string,
  action: ReportAction,
  state: store.Report['state'],
): Promise<store.Report> {
  requireBooks(context)
  const database = homeDatabase(context)
  const attempt = async () => {
    const report = await reportAt(context, text)
    assertReportAllows(report.locator, report.state, action)
    await commit(context, database, {
      shard: HOME_SHARD,
      subject: report.locator,
      guards: [store.reportGuard(report)],
      facts: [
        store.changeReportQuery(database, report.locator, {
          state,
          tries: 0,
          problem: null,
          updatedAt: context.now,
        }),
        ...auditOf(context, report.locator, action, report.name),
      ],
      timers: keptTimers('report.run', report.locator, context.now),
    })
    return report
  }
  return await unlessRepeated(
    context,
    database,
    () => retryOnConflict('The report', attempt),
    () => reportAt(context, text),
  )
}

/** Removes the row first. If a later step fails, the timer completes it. */
export async function removeReport(context: RequestContext, text: string): Promise<void> {
  requireBooks(context)
  const database = homeDatabase(context)
  const remove = async () => {
    const report = await reportAt(context, text)
    await commit(context, database, {
      shard: HOME_SHARD,
      subject: report.locator,
      guards: [],
      facts: [
        store.removeReportQuery(database, report.locator),
        ...auditOf(context, report.locator, 'remove', report.name),
      ],
      timers: [
        { kind: 'report.run', subject: report.locator, dueAt: context.now, payload: { removed: 'true' } },
      ],
    })
    const { env, tenant, calls } = context
    await callObject(calls, () => reportObject(env, tenant, report.locator).halt())
    await deleteReportFiles(context, report.locator)
  }
  await unlessRepeated(context, database, remove, () => {})
}

/** Builds the queries of one audit entry about a report or schedule. `action` and `name`, that of its kind, are its details. */
export const auditOf = (context: RequestContext, subject: Uuid, action: string, name: string): Query[] =>
  auditRows(homeDatabase(context), context, HOME_SHARD, [
    { action: 'reports.create', subject, details: { action, name } },
  ])

const wakeLater = (context: RequestContext, locator: Uuid): void =>
  context.later(
    wakeReport(context, locator).catch(problem =>
      console.error(JSON.stringify({ at: 'report', locator, problem: String(problem) })),
    ),
  )

/** Makes the report's object continue with the next portion. Returns before it has. */
export async function wakeReport({ env, tenant, calls }: TenantPlace, report: Uuid): Promise<void> {
  const shard = shardName(tenant, HOME_SHARD)
  await callObject(calls, () => reportObject(env, tenant, report).wake(shard, report))
}

/** Wakes the report, and waits until it ends, the time is over, or its object is gone. */
async function waitUntilFinished(
  { env, tenant, calls }: TenantPlace,
  report: Uuid,
  seconds: number,
): Promise<void> {
  const shard = shardName(tenant, HOME_SHARD)
  await callObject(calls, () =>
    reportObject(env, tenant, report).wakeAndWait(shard, report, seconds * 1_000),
  ).catch(problem => console.error(JSON.stringify({ at: 'report', report, problem: String(problem) })))
}

/** Wakes a running report, removes one that has been kept long enough, and deletes the files of one that was removed. */
export const reportDue: TimerOwner = async ({ subject, payload }, place) => {
  const locator = subject as Uuid
  if (payload.removed !== undefined) return await deleteReportFiles(place, locator)
  const database = homeDatabase(place)
  const [rows] = await database.batch([store.reportQuery(database, locator)])
  const report = rows[0] as store.Report | undefined
  if (report?.state === 'running') return await wakeReport(place, locator)
  if (!report || tenantNow(place.tenant) < report.updatedAt + KEPT_MS) return undefined
  await database.batch([store.removeReportQuery(database, locator)])
  return await deleteReportFiles(place, locator)
}
