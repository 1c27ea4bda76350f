// Scheduled reports: creates, lists and removes schedules, and starts their reports at the scheduled times.

import { invalidRequest, isRefused, notFound, Refusal } from '../kernel/errors.ts'
import { newUuid, type Uuid } from '../kernel/locators.ts'
import { later } from '../kernel/time.ts'
import {
  commit,
  GuardTripped,
  type NewTimer,
  retryOnConflict,
  storedAnswer,
  unlessRepeated,
} from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { TimerOwner } from '../platform/events/timers.ts'
import { systemContext } from '../platform/system-context.ts'
import { HOME_SHARD, homeDatabase, recordPlace, tenantNow } from '../platform/tenancy.ts'
import { requireBooks } from './books/service.ts'
import { layoutOf } from './columns.ts'
import { requireConfiguration } from './configuration.ts'
import type * as contract from './contract.ts'
import { parametersOf } from './parameters.ts'
import { scheduleResponse } from './response.ts'
import { nextTime } from './schedules.ts'
import {
  answerOf,
  auditOf,
  createReport,
  type FurtherWrites,
  kindNamed,
  locatorIn,
  wakeReport,
} from './service.ts'
import * as store from './store.ts'

const MOST_SCHEDULES = 50

// A timer stands for the next time of each schedule. The report that it starts is committed together with the timer of the time
// after it.

/**
 * Creates a schedule; its first report starts at the next time of the calendar. Checks the parameters as if the report began now.
 * Rejects with 409 if the tenant has 50 schedules.
 */
export async function createSchedule(
  context: RequestContext,
  { reportName, parameters = {}, calendar }: contract.ReportScheduleRequest,
): Promise<contract.ReportScheduleResponse> {
  requireBooks(context)
  const database = homeDatabase(context)
  const earlier = locatorIn(await storedAnswer(context, database))
  if (earlier) return scheduleResponse(await scheduleAt(context, earlier))
  const kind = kindNamed(reportName)
  const configuration = await requireConfiguration(context)
  const at = tenantNow(context.tenant)
  if (calendar.every === 'week' && (calendar.day ?? 1) > 7)
    throw invalidRequest(`'calendar.day' is ${calendar.day}; the days of a week are 1 (Monday) to 7.`)
  const resolved = parametersOf(kind, parameters, { configuration, now: at })
  layoutOf(kind, resolved, { configuration, timeZone: configuration.timeZone, knownAt: at })
  const schedule: store.Schedule = {
    locator: newUuid(HOME_SHARD),
    reportName,
    parameters,
    calendar,
    nextAt: nextTime(calendar, at, configuration.timeZone),
    lastReportLocator: null,
    createdAt: context.now,
    username: context.caller.username,
  }
  try {
    const committed = await commit(context, database, {
      shard: HOME_SHARD,
      subject: schedule.locator,
      answer: answerOf(schedule.locator),
      guards: [store.scheduleRoomGuard(MOST_SCHEDULES)],
      facts: [
        ...store.newScheduleQueries(database, schedule),
        ...auditOf(context, schedule.locator, 'schedule', reportName),
      ],
      timers: [timerOf(schedule)],
    })
    const made = locatorIn(committed)!
    return scheduleResponse(made === schedule.locator ? schedule : await scheduleAt(context, made))
  } catch (problem) {
    if (!(problem instanceof GuardTripped)) throw problem
    throw new Refusal('wrongState', `The tenant already has ${MOST_SCHEDULES} schedules. Remove one.`)
  }
}

const timerOf = ({ locator, nextAt }: Pick<store.Schedule, 'locator' | 'nextAt'>): NewTimer => ({
  kind: 'report.schedule',
  subject: locator,
  dueAt: nextAt,
  payload: {},
})

/** Lists all schedules, oldest first: at most 50. One round trip. */
export async function listSchedules(context: RequestContext): Promise<contract.ReportScheduleResponse[]> {
  requireBooks(context)
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.schedulesQuery(database)])
  return (rows as store.Schedule[]).map(scheduleResponse)
}

async function scheduleAt(context: RequestContext, text: string): Promise<store.Schedule> {
  const { locator, shard } = recordPlace(context, text, 'schedule')
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.scheduleQuery(database, locator)])
  if (shard !== HOME_SHARD || !rows[0]) throw notFound('schedule', text)
  return rows[0] as store.Schedule
}

/** Removes a schedule. Reports that it has started remain. Rejects with 404 if there is none. */
export async function removeSchedule(context: RequestContext, text: string): Promise<void> {
  requireBooks(context)
  const database = homeDatabase(context)
  const remove = async () => {
    const { locator, reportName } = await scheduleAt(context, text)
    await commit(context, database, {
      shard: HOME_SHARD,
      subject: locator,
      guards: [store.schedulePresentGuard(locator)],
      facts: [
        store.removeScheduleQuery(database, locator),
        ...auditOf(context, locator, 'unschedule', reportName),
      ],
    })
  }
  const work = () => retryOnConflict('The schedule', remove)
  await unlessRepeated(context, database, work, () => {})
}

/** Starts the report that is due. Several missed times count as one. */
export const scheduleDue: TimerOwner = async ({ subject }, place) => {
  const { tenant } = place
  const context = systemContext(place, HOME_SHARD, 'report')
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.scheduleQuery(database, subject as Uuid)])
  const schedule = rows[0] as store.Schedule | undefined
  const at = tenantNow(tenant)
  if (!schedule || schedule.nextAt > at) return
  const configuration = await requireConfiguration(context)
  const nextAt = nextTime(schedule.calendar, later(at, schedule.nextAt), configuration.timeZone)
  const nextRunWrites = (lastReportLocator: string | null): FurtherWrites => ({
    guards: [store.scheduleGuard(schedule)],
    facts: [store.changeScheduleQuery(database, schedule.locator, { nextAt, lastReportLocator })],
    timers: [timerOf({ ...schedule, nextAt })],
  })
  try {
    const kind = kindNamed(schedule.reportName)
    const report = await createReport(context, kind, schedule.parameters, schedule, nextRunWrites)
    await wakeReport(place, report)
  } catch (problem) {
    // The configuration lacks something that the report needs, or there is no room for another report. The next time may
    // succeed. After a failure of the service the timer fires again.
    if (!isRefused(problem)) throw problem
    console.warn(JSON.stringify({ at: 'report schedule', schedule: subject, problem: problem.message }))
    await commit(context, database, {
      shard: HOME_SHARD,
      subject: schedule.locator,
      isRepeatable: true,
      ...nextRunWrites(schedule.lastReportLocator),
    })
  }
}
