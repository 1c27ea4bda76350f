// The work of one alarm: some portions of a tenant's policies, or some steps of the report's files. Each is recorded together
// with the position of the report. A crash, deploy or eviction repeats only work that was not recorded, and writes its file
// again.
import { isRefused, Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { letOthersRun } from '../../kernel/turns.ts'
import { type Calls, hasRoomForMore, noCalls } from '../../platform/calls.ts'
import { commit, GuardTripped } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { removalTimer } from '../../platform/events/kept-records.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { systemContext } from '../../platform/system-context.ts'
import {
  HOME_SHARD,
  homeDatabase,
  type ShardName,
  SUSPENDED_LOOK_MS,
  shardDatabase,
  type Tenant,
  tenantOfShard,
} from '../../platform/tenancy.ts'
import { type Layout, layoutOf } from '../columns.ts'
import { requireConfiguration } from '../configuration.ts'
import { readsData } from '../dimensions.ts'
import { assemble, type ReportFile, store as storeFile } from '../files/assembly.ts'
import { putPortion } from '../files/portions.ts'
import { manifestOf, totalsCsv } from '../files/summary.ts'
import type { Cell, ReportedPolicy, ReportKind, ReportSurroundings } from '../kind.ts'
import { REPORT_KINDS } from '../kinds.ts'
import * as store from '../store.ts'
import { addToTotals } from '../totals.ts'
import { backfillPortion } from './backfill.ts'
import { type Needs, nextPortion, readDisbursements, readPortion } from './reading.ts'

const PORTIONS_OF_ALARM = 12

/** The longest single rest. */
const LONGEST_REST_MS = 100

/** The number of policies between two rests if only the journal is read. */
const QUICK_POLICIES = 4

/** The number of consecutive failures of the service at one portion. Then the report is in error until it is resumed. */
const MOST_TRIES = 4

type Run = {
  readonly env: Env
  readonly tenant: Tenant
  readonly calls: Calls
  readonly context: RequestContext
  readonly kind: ReportKind
  readonly needs: Needs
  readonly layout: Layout
  readonly surroundings: ReportSurroundings
  /** Rows that were read for the report before this alarm. */
  readonly readBefore: number
  isHalted(): boolean
  /**
   * Rests for twice as long as it has worked since the last rest, so that requests on the same thread and databases get at least
   * two thirds of both.
   */
  rest(): Promise<void>
}

/** Returns the milliseconds until the next alarm. Undefined if there is nothing to do until it is woken. */
export async function runReportAlarm(
  env: Env,
  shard: ShardName,
  locator: Uuid,
  isHalted: () => boolean,
  calls: Calls = noCalls(),
): Promise<number | undefined> {
  const tenant = await tenantOfShard(env, shard, calls)
  if (!tenant || tenant.suspension?.state === 'moved') return undefined
  if (tenant.suspension) return SUSPENDED_LOOK_MS
  const context = systemContext({ env, tenant, calls }, HOME_SHARD, 'report')
  const home = homeDatabase(context)
  const [rows] = await home.batch([store.reportQuery(home, locator)])
  let report = rows[0] as store.Report | undefined
  if (report?.state !== 'running') return undefined
  try {
    const run = await runOf(context, report, isHalted)
    for (
      let portion = 0;
      portion < PORTIONS_OF_ALARM && report.state === 'running' && !isHalted() && hasRoomForMore(calls);
      portion += 1
    ) {
      report = await workOnPortion(run, report)
      await run.rest()
    }
    return report.state === 'running' ? 0 : undefined
  } catch (problem) {
    // It was paused, resumed or removed meanwhile, or another object of the report is faster.
    if (problem instanceof GuardTripped) return 0
    if (isRefused(problem)) {
      await stop(context, report, problem.message)
      return undefined
    }
    await countFault(context, report)
    throw problem
  }
}

async function runOf(context: RequestContext, report: store.Report, isHalted: () => boolean): Promise<Run> {
  const { env, tenant, calls } = context
  const { parameters, knownAt } = report
  const configuration = await requireConfiguration(context)
  const kind = REPORT_KINDS.find(one => one.name === report.name)
  if (!kind) throw new Refusal('notFound', `This release has no report '${report.name}'.`)
  const surroundings = { configuration, timeZone: configuration.timeZone, knownAt }
  const layout = layoutOf(kind, parameters, surroundings)
  const isRead = readsData([...parameters.by, ...layout.columns.map(({ name }) => name)])
  const needs: Needs = { ...kind.needs(parameters), ...(isRead && { segments: true }) }
  return {
    env,
    tenant,
    calls,
    context,
    kind,
    needs,
    layout,
    surroundings,
    readBefore: report.rowsRead - calls.rowsRead,
    isHalted,
    rest: newRester(),
  }
}

function newRester(): () => Promise<void> {
  let begun = Date.now()
  return async () => {
    await letOthersRun()
    await scheduler.wait(Math.min(2 * (Date.now() - begun), LONGEST_REST_MS))
    begun = Date.now()
  }
}

/** Returns the report after its next portion: policies to bring in, policies to report, or a step of its files. */
async function workOnPortion(run: Run, report: store.Report): Promise<store.Report> {
  const { tenant, env, calls, context } = run
  if (report.shard >= tenant.shards.length) return await workOnFiles(run, report)
  const database = shardDatabase(env, tenant, report.shard, calls)
  if (run.needs.journal && report.after === 0) {
    const outcome = await backfillPortion(context, database, report.shard)
    if (outcome === 'more') return report
  }
  const { after, parameters, knownAt } = report
  const portion = await nextPortion(database, after, parameters, run.needs, knownAt)
  if (portion.length === 0) return await afterShard(run, report)
  const read = readPortion(database, portion, run.needs, knownAt)
  const found = await linesOf(run, report, read)
  if (!found) return report
  return await record(run, report, {
    after: portion.at(-1)!.locator,
    portions: await putLines(run, report, found.lines),
    tries: 0,
    totals: found.totals,
    processed: report.processed + portion.length,
  })
}

/** A portion without lines has no file. */
async function putLines(run: Run, report: store.Report, lines: readonly Cell[][]): Promise<number> {
  if (lines.length === 0) return report.portions
  await putPortion(run, report.locator, report.portions, lines)
  return report.portions + 1
}

/** Returns undefined if the report was halted, because a portion is recorded as a whole or not at all. */
async function linesOf(
  run: Run,
  report: store.Report,
  read: AsyncIterable<readonly ReportedPolicy[]> | Iterable<readonly ReportedPolicy[]>,
) {
  const totals = structuredClone(report.totals)
  const lines: Cell[][] = []
  for await (const policies of read)
    for (const [turn, policy] of policies.entries()) {
      if (run.isHalted()) return undefined
      if (run.needs.records || turn % QUICK_POLICIES === 0) await run.rest()
      for (const line of run.kind.lines(policy, report.parameters, run.surroundings)) {
        const cells = run.layout.cellsOf(line, policy)
        addToTotals(totals, cells, run.layout)
        lines.push(cells)
      }
    }
  return { lines, totals }
}

/** Disbursements come last in their shard. A report of only some products has none. */
async function afterShard(run: Run, report: store.Report): Promise<store.Report> {
  const { env, tenant, calls } = run
  const next = { shard: report.shard + 1, after: 0, tries: 0 }
  if (!run.needs.journal || report.parameters.products.length > 0) return await record(run, report, next)
  const database = shardDatabase(env, tenant, report.shard, calls)
  const disbursements = await readDisbursements(database, report.knownAt)
  const found = await linesOf(run, report, [[disbursements]])
  if (!found) return report
  const portions = await putLines(run, report, found.lines)
  return await record(run, report, { ...next, portions, totals: found.totals })
}

async function workOnFiles(run: Run, report: store.Report): Promise<store.Report> {
  const { layout, surroundings, tenant } = run
  const { locator, portions, steps, totals } = report
  const { timeZone } = surroundings
  const files = await assemble(
    { place: run, report: locator, layout, portions, timeZone, rest: run.rest },
    steps,
  )
  if (!files) return await record(run, report, { steps: steps + 1, tries: 0 })
  const summary = await storeFile(run, locator, 'totals', totalsCsv(totals, layout, timeZone))
  const all: ReportFile[] = [...files, { ...summary, rows: Object.keys(totals.groups).length }]
  const manifest = manifestOf(report, tenant, layout, all)
  all.push(await storeFile(run, locator, 'manifest', manifest))
  const at = run.context.now
  const changes = { state: 'finished', files: all, finishedAt: at, updatedAt: at, tries: 0 } as const
  return await record(run, report, changes, [finishEvent(report, 'finished')])
}

const finishEvent = ({ locator, name }: store.Report, state: 'finished' | 'error'): NewEvent => ({
  type: 'report.finish',
  data: { reportLocator: locator, reportName: name, reportState: state },
})

/** Trips if the report has changed since it was read. */
async function record(
  { context, readBefore }: Pick<Run, 'context'> & Partial<Pick<Run, 'readBefore'>>,
  report: store.Report,
  given: Partial<Omit<store.Report, 'locator'>>,
  events: readonly NewEvent[] = [],
): Promise<store.Report> {
  const database = homeDatabase(context)
  const rowsRead = readBefore === undefined ? report.rowsRead : readBefore + context.calls.rowsRead
  const changes = { ...given, rowsRead }
  await commit(context, database, {
    shard: HOME_SHARD,
    subject: report.locator,
    isRepeatable: true,
    events,
    guards: [store.reportGuard(report)],
    facts: [store.changeReportQuery(database, report.locator, changes)],
    timers:
      given.updatedAt === undefined ? [] : [removalTimer('report.run', report.locator, given.updatedAt)],
  })
  return { ...report, ...changes }
}

/** Ends the report for a reason that a retry would not change. */
async function stop(context: RequestContext, report: store.Report, problem: string): Promise<void> {
  const changes = { state: 'error', problem, updatedAt: context.now } as const
  await record({ context }, report, changes, [finishEvent(report, 'error')]).catch(ignoreTrip)
}

async function countFault(context: RequestContext, report: store.Report): Promise<void> {
  const tries = report.tries + 1
  if (tries < MOST_TRIES) return void (await record({ context }, report, { tries }).catch(ignoreTrip))
  await stop(
    context,
    { ...report },
    'The service failed several times in a row. Resume the report to try again.',
  )
}

function ignoreTrip(problem: unknown): void {
  if (!(problem instanceof GuardTripped)) throw problem
}
