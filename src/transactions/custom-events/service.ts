import { notFound, wrongState } from '../../kernel/errors.ts'
import { type PolicyLocator, readDigits, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import { shortened } from '../../kernel/text.ts'
import { now } from '../../kernel/time.ts'
import { commit, retryOnConflict, unlessRepeated } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { armDispatcherAt } from '../../platform/objects.ts'
import { recordPlace, shardDatabase } from '../../platform/tenancy.ts'
import { policyTimerDue } from '../object/policy-timers.ts'
import type { EventScheduleListResponse, EventScheduleResponse, ScheduleListQuery } from './contract.ts'
import {
  deleteQueries,
  findSchedule,
  hasFailed,
  noteTries,
  resumedTimer,
  resumeQueries,
  type ScheduleRow,
  schedulesIn,
} from './store.ts'

/**
 * Lists schedules, oldest first. Text that cannot be the locator of a policy finds none. Takes one round trip per shard, or one
 * with a policy.
 */
export async function listSchedules(
  { offset, count, policyLocator: text }: ScheduleListQuery,
  state: 'active' | 'failed',
  { env, tenant, calls }: RequestContext,
): Promise<EventScheduleListResponse> {
  const policyLocator = text === undefined ? undefined : (readDigits(text) as PolicyLocator | undefined)
  if (text !== undefined && policyLocator === undefined) return { listCompleted: true, items: [] }
  // One row more than the page shows whether the list ends with it.
  const most = offset + count + 1
  const searched = [...tenant.shards.keys()].filter(
    shard => policyLocator === undefined || shard === shardOfDigits(policyLocator),
  )
  // One database skips what is before the page. Several are read from their beginning.
  const skipped = searched.length === 1 ? offset : 0
  const shards = await Promise.all(
    searched.map(shard =>
      schedulesIn(shardDatabase(env, tenant, shard, calls), state, policyLocator, most - skipped, skipped),
    ),
  )
  const rows = shards.flat().sort((a, b) => a.createdAt - b.createdAt || (a.locator < b.locator ? -1 : 1))
  const page = rows.slice(offset - skipped)
  return { listCompleted: page.length <= count, items: page.slice(0, count).map(scheduleResponse) }
}

/** Resumes a failed schedule, which first sends the event that it could not send. */
export async function resumeSchedule(text: string, context: RequestContext): Promise<void> {
  const { database, shard, locator } = recordPlace(context, text, 'schedule')
  const resume = async () => {
    const row = await scheduleAt(database, locator, text)
    if (row.state !== 'failed' || row.nextTime === null)
      throw wrongState(
        `The schedule of '${row.type}' for policy ${row.policyLocator} has not failed. It does not need to be resumed.`,
      )
    await commit(context, database, {
      shard,
      guards: [hasFailed(locator)],
      facts: resumeQueries(database, locator),
      events: [],
      timers: [resumedTimer(row, context.now)],
      subject: locator,
    })
    await armDispatcherAt(context, shard, now())
  }
  const work = () => retryOnConflict('The schedule', resume)
  await unlessRepeated(context, database, work, () => {})
}

/** Deletes the schedule permanently: later changes of the policy do not start it again. */
export async function deleteSchedule(text: string, context: RequestContext): Promise<void> {
  const { database, shard, locator } = recordPlace(context, text, 'schedule')
  const remove = async () => {
    const row = await scheduleAt(database, locator, text)
    await commit(context, database, {
      shard,
      guards: [],
      facts: deleteQueries(database, row),
      events: [],
      subject: locator,
    })
  }
  await unlessRepeated(context, database, remove, () => {})
}

async function scheduleAt(database: Database, locator: Uuid, text: string): Promise<ScheduleRow> {
  const row = await findSchedule(database, locator)
  if (!row || row.state === 'deleted') throw notFound('schedule', text)
  return row
}

const scheduleResponse = (row: ScheduleRow): EventScheduleResponse => ({
  locator: row.locator,
  policyLocator: String(row.policyLocator),
  type: row.type,
  state: row.state === 'failed' ? 'failed' : 'active',
  ...(row.nextTime !== null && { nextTimestamp: new Date(row.nextTime).toISOString() }),
  failures: row.failures,
  ...(row.problem !== null && { problem: row.problem }),
  createdAt: new Date(row.createdAt).toISOString(),
})

/**
 * The tries of one time, a minute apart (platform/events/timers.ts, TIMER_LEASE_MS). After the last, the schedule is `failed` and
 * sends nothing until a client resumes it.
 */
export const MOST_TRIES = 5

/** In characters. */
const LONGEST_PROBLEM = 500

/** Sends the event of an active schedule. Records a failure and throws it, so that the timer tries again, except the last time. */
export const scheduleDue: TimerOwner = async (timer, place) => {
  const { env, tenant, shard, calls } = place
  const database = shardDatabase(env, tenant, shard, calls)
  const locator = timer.payload.schedule as Uuid
  const schedule = await findSchedule(database, locator)
  if (schedule?.state !== 'active') return
  try {
    await policyTimerDue(timer, place)
  } catch (problem) {
    const failures = schedule.failures + 1
    const isLast = failures >= MOST_TRIES
    const text = problem instanceof Error ? problem.message : String(problem)
    await noteTries(database, locator, {
      failures,
      problem: shortened(text, LONGEST_PROBLEM),
      ...(isLast && { state: 'failed', failedTime: Number(timer.payload.time) }),
    })
    if (!isLast) throw problem
    return
  }
  if (schedule.failures > 0) await noteTries(database, locator, { failures: 0, problem: null })
}
