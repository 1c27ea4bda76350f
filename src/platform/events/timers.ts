// Timers: what must happen later, as rows with a due time in the tenant's time. The dispatcher hands each to the
// owner of its kind when it is due, and so does whoever moves the tenant's clock (tenants/clock.ts).
import { asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { derivedUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Calls } from '../calls.ts'
import type { RequestContext } from '../context.ts'
import { type Database, putRows, type Query } from '../database.ts'
import { type TimerKind, timers } from '../tables.ts'
import { shardDatabase, type Tenant, tenantNow } from '../tenancy.ts'
import { armDispatcher } from './outbox.ts'

export type Timer = typeof timers.$inferSelect

/** A shard of a tenant, with what work on it needs. */
export type ShardPlace = {
  readonly env: Env
  readonly tenant: Tenant
  readonly shard: number
  readonly calls: Calls
}

/**
 * Does what a timer is for; its row is removed afterwards. An owner that fails or is cut off is called again, and
 * so may one be that was slow; so it checks anew whether there is anything to do, and a second time does nothing.
 * One that answers `later` waits for the real time, which the tenant's clock was moved ahead of: it is called again.
 */
export type TimerOwner = (timer: Timer, place: ShardPlace) => Promise<unknown>

/** The function that is called for each kind of timer; its module is loaded when the first timer of the kind is due. */
export type TimerOwners = Readonly<Record<TimerKind, () => Promise<TimerOwner>>>

let owners: TimerOwners | undefined

/** Says what happens when timers are due. Called once, by src/wiring.ts. */
export function registerTimers(all: TimerOwners): void {
  owners = all
}

/** Timers that one claim takes, and claims of one call. */
const MOST_CLAIMED = 50
const MOST_ROUNDS = 20

/** Subjects whose timers fire at once; those of one subject fire one after the other. */
const MOST_AT_ONCE = 5

/** A timer whose owner failed or was cut off fires again after this time. */
export const TIMER_LEASE_MS = 60_000

/** Fires the shard's due timers, a bounded number of them: whether that were all is for the caller to look up. */
export async function fireDue(place: ShardPlace): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1)
    if ((await fireClaim(place)).claimed < MOST_CLAIMED) return
}

/** What one claim of due timers came to; those that `failed`, and those for `later`, are due again when their lease ends. */
type FiredClaim = {
  readonly claimed: number
  readonly failed: readonly string[]
  readonly later: readonly string[]
}

/** Fires at most 50 timers that are due in the shard by the tenant's clock, those that wait longest. */
export async function fireClaim(place: ShardPlace): Promise<FiredClaim> {
  const database = shardDatabase(place.env, place.tenant, place.shard, place.calls)
  const at = tenantNow(place.tenant)
  const leaseUntil = (at + TIMER_LEASE_MS) as Instant
  const due = await claimDue(database, at, leaseUntil)
  const came = { done: [] as string[], failed: [] as string[], later: [] as string[] }
  const waiting = Map.groupBy(due, timer => timer.subject).values()
  const work = async (): Promise<void> => {
    for (const ofSubject of waiting)
      for (const timer of ofSubject) came[await fire(timer, place)].push(timer.locator)
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
  const { done, failed, later } = came
  if (done.length > 0) await remove(database, done, leaseUntil)
  return { claimed: due.length, failed, later }
}

/** Oldest first; of the same time, in the order in which they were set. */
async function claimDue(database: Database, at: Instant, leaseUntil: Instant): Promise<Timer[]> {
  const { build } = database
  const due = lte(timers.dueAt, at)
  const oldest = [asc(timers.dueAt), sql`rowid`]
  const all = build.select().from(timers).where(due)
  const chosen = build.select({ locator: timers.locator }).from(timers).where(due)
  const claim = inArray(timers.locator, chosen.orderBy(...oldest).limit(MOST_CLAIMED))
  const [claimed] = await database.batch([
    all.orderBy(...oldest).limit(MOST_CLAIMED),
    build.update(timers).set({ dueAt: leaseUntil }).where(claim),
  ])
  return claimed
}

/** One that was set anew meanwhile stays. */
const remove = (database: Database, done: readonly string[], leaseUntil: Instant): Promise<unknown> =>
  database.batch([
    database.build.run(sql`delete from ${timers} where due_at = ${leaseUntil} and ${among(done)}`),
  ])

/** Lets timers wait until `dueAt`. */
export const postpone = (database: Database, locators: readonly string[], dueAt: Instant): Promise<unknown> =>
  database.batch([database.build.run(sql`update ${timers} set due_at = ${dueAt} where ${among(locators)}`)])

const among = (locators: readonly string[]) =>
  sql`locator in (select value from json_each(${JSON.stringify(locators)}))`

/** Whether the owner did what the timer is for. Never throws. */
async function fire(timer: Timer, place: ShardPlace): Promise<'done' | 'failed' | 'later'> {
  const { kind, locator, subject } = timer
  try {
    if (!owners) throw new Error('No owners of timers are registered: import src/wiring.ts.')
    const load = owners[kind] as TimerOwners[TimerKind] | undefined
    if (!load) throw new Error('No owner of this kind; a newer release may have set the timer.')
    const owner = await load()
    return (await owner(timer, place)) === 'later' ? 'later' : 'done'
  } catch (problem) {
    console.error(JSON.stringify({ at: 'timer', kind, locator, subject, problem: String(problem) }))
    return 'failed'
  }
}

/** Earliest time at which a timer is due, as SQL for one value; null when there is none. */
export const earliestTimer = sql`(select min(due_at) from ${timers})`

// Files are stored before the commit that records them, so that whatever is recorded can be read. Where that commit never comes
// (a request that is cut off, a store that does not answer) nobody else knows of the file; so a timer does, from before it is
// stored, and deletes it unless a record names it by then.

/**
 * How long whoever stored a file may take to record it, a slow upload included. In real time: a tenant's clock may be moved while
 * a request is under way.
 */
export const RECORDED_WITHIN_MS = 60 * 60_000

/** To be awaited before a file is stored that a record with this locator is to name. One round trip. */
export async function expectRecord(context: RequestContext, kind: TimerKind, locator: Uuid): Promise<void> {
  const { env, tenant, calls } = context
  const shard = shardOfUuid(locator)
  const until = now() + RECORDED_WITHIN_MS
  const timer = {
    locator: derivedUuid(shard, kind, locator),
    dueAt: (context.now + RECORDED_WITHIN_MS) as Instant,
    kind,
    subject: locator,
    payload: { until: String(until) },
  }
  await armDispatcher(context, shard)
  const database = shardDatabase(env, tenant, shard, calls)
  await database.batch(putRows(database, timers, [timer]) as [Query, ...Query[]])
}

/** Calls `remove` for a file that no row of the table names, once nobody can be about to record it. */
export const unlessRecorded =
  (
    table: SQLiteTable & { locator: SQLiteColumn },
    remove: (locator: Uuid, place: ShardPlace) => Promise<unknown>,
  ): TimerOwner =>
  async ({ subject, payload }, place) => {
    const { env, tenant, shard, calls } = place
    const database = shardDatabase(env, tenant, shard, calls)
    const [rows] = await database.batch([
      database.build.select({ locator: table.locator }).from(table).where(eq(table.locator, subject)),
    ])
    if (rows.length > 0) return undefined
    if (now() < Number(payload.until ?? 0)) return 'later'
    await remove(subject as Uuid, place)
    return undefined
  }
