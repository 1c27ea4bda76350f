// Timers: what must happen later, as rows. The dispatcher hands each to the owner of its kind when it is due.
import { inArray, sql } from 'drizzle-orm'
import { INVOICE_TIMER } from '../billing/bill.ts'
import type { Calls } from '../platform/calls.ts'
import type { Database } from '../platform/database.ts'
import { timers } from '../platform/tables.ts'
import { shardDatabase, type Tenant } from '../platform/tenancy.ts'
import { type Instant, now } from '../platform/time.ts'
import { invoiceDue } from '../policies/object/invoice-timer.ts'
import { purgeWrites, WRITES_PURGE } from './purge.ts'
import { copyWebhook, WEBHOOK_COPY } from './webhooks/copies.ts'

type Timer = typeof timers.$inferSelect

/** A timer that fired, and where. */
export type Firing = {
  readonly env: Env
  readonly tenant: Tenant
  readonly shard: number
  readonly database: Database
  readonly calls: Calls
  readonly timer: Timer
}

/**
 * Does what a timer is for, and removes or moves it in the batch that does it; so an owner that is cut off is
 * simply called again. It checks anew whether there is anything to do: time has passed since the timer was set.
 */
export type TimerOwner = (firing: Firing) => Promise<void>

const OWNERS: Readonly<Record<string, TimerOwner>> = {
  [WRITES_PURGE]: purgeWrites,
  [INVOICE_TIMER]: invoiceDue,
  [WEBHOOK_COPY]: async ({ env, tenant, database, calls, timer }) => {
    await copyWebhook(env, tenant, timer.subject, calls)
    await database.batch([database.build.delete(timers).where(inArray(timers.locator, [timer.locator]))])
  },
}

/** Timers that one claim takes, and claims of one call. */
const MOST_CLAIMED = 50
const MOST_ROUNDS = 20

/** Owners called at once. */
const MOST_AT_ONCE = 5

/** A timer whose owner failed or was cut off fires again after this time. */
const LEASE_MS = 60_000

/** Fires the shard's due timers, a bounded number of them: whether that were all is for the caller to look up. */
export async function fireDue(env: Env, tenant: Tenant, shard: number, calls: Calls): Promise<void> {
  const database = shardDatabase(env, tenant, shard, calls)
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const due = await claimDue(database, now())
    const waiting = due.values()
    const work = async (): Promise<void> => {
      for (const timer of waiting) await fire({ env, tenant, shard, database, calls, timer })
    }
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
    if (due.length < MOST_CLAIMED) return
  }
}

async function claimDue(database: Database, at: Instant): Promise<Timer[]> {
  const [claimed] = await database.batch([
    database.build
      .update(timers)
      .set({ dueAt: at + LEASE_MS })
      .where(
        sql`locator in (select locator from ${timers} where due_at <= ${at} order by due_at limit ${MOST_CLAIMED})`,
      )
      .returning(),
  ])
  return claimed
}

async function fire(firing: Firing): Promise<void> {
  const { kind, locator, subject } = firing.timer
  try {
    const owner = OWNERS[kind]
    if (!owner) throw new Error('No owner of this kind; a newer release may have set the timer.')
    await owner(firing)
  } catch (problem) {
    console.error(JSON.stringify({ at: 'timer', kind, locator, subject, problem: String(problem) }))
  }
}

/** Earliest time at which a timer is due, as SQL for one value; null when there is none. */
export const earliestTimer = sql`(select min(due_at) from ${timers})`
