// A time of a schedule has come. What fails is tried again a few times, and then waits for somebody to resume it.
import { eq } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { scheduledEventDue } from '../object/policy-timers.ts'
import { eventSchedules } from './tables.ts'

/** Tries of one time, a minute apart (platform/events/timers.ts, TIMER_LEASE_MS). */
export const MOST_TRIES = 5

/** Characters of a problem that are kept. */
const LONGEST_PROBLEM = 500

export const scheduleDue: TimerOwner = async (timer, place) => {
  const { env, tenant, shard, calls } = place
  const database = shardDatabase(env, tenant, shard, calls)
  const locator = timer.payload.schedule as Uuid
  const [[schedule]] = await database.batch([
    database.build.select().from(eventSchedules).where(eq(eventSchedules.locator, locator)),
  ])
  if (schedule?.state !== 'active') return
  try {
    await scheduledEventDue(timer, place)
  } catch (problem) {
    const failures = schedule.failures + 1
    const isLast = failures >= MOST_TRIES
    await database.batch([
      database.build
        .update(eventSchedules)
        .set({
          failures,
          problem: (problem instanceof Error ? problem.message : String(problem)).slice(0, LONGEST_PROBLEM),
          ...(isLast && { state: 'failed', failedTime: Number(timer.payload.time) }),
        })
        .where(eq(eventSchedules.locator, locator)),
    ])
    if (!isLast) throw problem
    return
  }
  if (schedule.failures > 0)
    await database.batch([
      database.build
        .update(eventSchedules)
        .set({ failures: 0, problem: null })
        .where(eq(eventSchedules.locator, locator)),
    ])
}
