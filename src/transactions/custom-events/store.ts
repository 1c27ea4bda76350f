import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Guard, NewTimer } from '../../platform/commit.ts'
import type { Database, Query } from '../../platform/database.ts'
import { timers } from '../../platform/tables.ts'
import { eventSchedules } from './tables.ts'

export const SCHEDULE_TIMER = 'event.schedule'

const timerOf = (locator: SQL | typeof eventSchedules.locator): SQL =>
  sql`kind = ${SCHEDULE_TIMER} and subject = cast(${eventSchedules.policyLocator} as text) and payload ->> 'schedule' = ${locator}`

/** The failed time of a failed schedule, and otherwise its earliest timer. */
const nextTime = sql<number | null>`coalesce(${eventSchedules.failedTime}, (
  select min(cast(payload ->> 'time' as integer)) from ${timers} where ${timerOf(eventSchedules.locator)}))`

const columns = {
  locator: eventSchedules.locator,
  policyLocator: eventSchedules.policyLocator,
  type: eventSchedules.type,
  state: eventSchedules.state,
  nextTime,
  failures: eventSchedules.failures,
  problem: eventSchedules.problem,
  createdAt: eventSchedules.createdAt,
}

/** Returns schedules, oldest first. */
export async function schedulesIn(
  database: Database,
  state: 'active' | 'failed',
  policyLocator: PolicyLocator | undefined,
  most: number,
  skipped: number,
) {
  const [rows] = await database.batch([
    database.build
      .select(columns)
      .from(eventSchedules)
      .where(
        and(
          eq(eventSchedules.state, state),
          policyLocator === undefined ? undefined : eq(eventSchedules.policyLocator, policyLocator),
        ),
      )
      .orderBy(asc(eventSchedules.createdAt), asc(eventSchedules.locator))
      .limit(most)
      .offset(skipped),
  ])
  return rows
}

export type ScheduleRow = Awaited<ReturnType<typeof schedulesIn>>[number]

/** Reads the schedule in one round trip. */
export async function findSchedule(database: Database, locator: Uuid): Promise<ScheduleRow | undefined> {
  const [rows] = await database.batch([
    database.build.select(columns).from(eventSchedules).where(eq(eventSchedules.locator, locator)),
  ])
  return rows[0]
}

/** Records failed tries of the schedule, outside any other commit. */
export async function noteTries(
  database: Database,
  locator: Uuid,
  tries: Partial<typeof eventSchedules.$inferInsert>,
): Promise<void> {
  await database.batch([
    database.build.update(eventSchedules).set(tries).where(eq(eventSchedules.locator, locator)),
  ])
}

/** Checks that the schedule still has failed. Another request may have resumed it and set its timer, or deleted it. */
export const hasFailed = (locator: Uuid): Guard => ({
  name: 'guard_resource',
  holds: sql`exists (select 1 from ${eventSchedules} where ${eventSchedules.locator} = ${locator} and ${eventSchedules.state} = 'failed')`,
})

/** Makes a failed schedule active again. `resumedTimer` sends the event that it could not send. */
export const resumeQueries = (database: Database, locator: Uuid): Query[] => [
  database.build
    .update(eventSchedules)
    .set({ state: 'active', failures: 0, problem: null, failedTime: null })
    .where(eq(eventSchedules.locator, locator)),
]

/** Ends a schedule and removes its timers. Keeps the row as `deleted`, so that later writes of the policy set none. */
export const deleteQueries = (database: Database, { locator, policyLocator }: ScheduleRow): Query[] => [
  database.build
    .update(eventSchedules)
    .set({ state: 'deleted', failedTime: null })
    .where(eq(eventSchedules.locator, locator)),
  database.build.run(
    sql`delete from ${timers} where kind = ${SCHEDULE_TIMER} and subject = ${String(policyLocator)} and payload ->> 'schedule' = ${locator}`,
  ),
]

/** Returns a timer that is due immediately and has the time of the event that failed. */
export const resumedTimer = (
  { locator, policyLocator, type, nextTime: time }: ScheduleRow,
  now: Instant,
): NewTimer => ({
  dueAt: now,
  kind: SCHEDULE_TIMER,
  subject: String(policyLocator),
  payload: { type, time: String(time), schedule: locator },
})
