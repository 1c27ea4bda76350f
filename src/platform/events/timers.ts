// Timers: rows with a due time in the time of the tenant. The dispatcher calls the owner of each due timer's kind. So does moving
// the tenant's clock (tenants/clock.ts).
import { and, asc, desc, eq, gt, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { derivedUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { type Calls, hasRoomForMore } from '../calls.ts'
import type { RequestContext } from '../context.ts'
import { putRows } from '../database/rows.ts'
import type { Database, Query } from '../database.ts'
import { type TimerKind, timers } from '../tables.ts'
import { shardDatabase, type Tenant, tenantNow } from '../tenancy.ts'
import { armDispatcher } from './outbox.ts'

export type Timer = typeof timers.$inferSelect

export type ShardPlace = {
  readonly env: Env
  readonly tenant: Tenant
  readonly shard: number
  readonly calls: Calls
}

/**
 * Does the work of a timer, whose row is then removed. A failed, interrupted or slow owner may be called again: it must check
 * whether work is left, and repeats must do nothing.
 *
 * An owner returns `later` to wait for real time that the tenant's clock is ahead of. It is then called again.
 */
export type TimerOwner = (timer: Timer, place: ShardPlace) => Promise<unknown>

/** The owners by kind. A module is loaded when the first timer of its kind is due. */
export type TimerOwners = Readonly<Record<TimerKind, () => Promise<TimerOwner>>>

let owners: TimerOwners | undefined

/** Called once, by src/wiring.ts. */
export function registerTimers(all: TimerOwners): void {
  owners = all
}

/** Maximum number of timers per claim, and of claims per call. */
const MOST_CLAIMED = 50
const MOST_ROUNDS = 20

/** Subjects whose timers fire at the same time. Timers of one subject fire one after the other. */
const MOST_AT_ONCE = 5

/** A timer fires again this long after its owner failed or was interrupted. */
export const TIMER_LEASE_MS = 60_000

/** Fires a bounded number of due timers. The caller must check whether more are due. */
export async function fireDue(place: ShardPlace): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { claimed, givenBack } = await fireClaim(place)
    if (claimed < MOST_CLAIMED && givenBack === 0) return
    // Some owners call databases from this invocation and not from their own object.
    if (!hasRoomForMore(place.calls)) return
  }
}

/** The outcome of a claim. Timers in `failed` and `later` are due again when their lease ends. */
type FiredClaim = {
  readonly claimed: number
  /** Number of timers that must come after one that was set in the meantime. They are due as before. */
  readonly givenBack: number
  readonly leaseUntil: Instant
  readonly failed: readonly string[]
  readonly later: readonly string[]
}

/** Fires at most 50 timers that are due by the tenant's clock, the longest-waiting first. */
export async function fireClaim(place: ShardPlace): Promise<FiredClaim> {
  const database = shardDatabase(place.env, place.tenant, place.shard, place.calls)
  const at = tenantNow(place.tenant)
  const leaseUntil = (at + TIMER_LEASE_MS) as Instant
  const due = await claimDue(database, at, leaseUntil)
  const outcomes = { done: [] as string[], failed: [] as string[], later: [] as string[] }
  const givenBack: Timer[] = []
  const waiting = Map.groupBy(due, timer => timer.subject).values()
  const work = async (): Promise<void> => {
    for (const ofSubject of waiting)
      for (const [at, timer] of ofSubject.entries()) {
        const isNext =
          at === 0 || timer.dueAt === ofSubject[at - 1]!.dueAt || !(await isPreceded(database, timer))
        if (!isNext) {
          givenBack.push(...ofSubject.slice(at))
          break
        }
        outcomes[await fire(timer, place)].push(timer.locator)
      }
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
  const { done, failed, later } = outcomes
  const ending = [
    ...(done.length > 0 ? [removal(database, done, leaseUntil)] : []),
    ...(givenBack.length > 0 ? [returnQuery(database, givenBack, leaseUntil)] : []),
  ]
  if (ending.length > 0) await database.batch(ending as [Query, ...Query[]])
  return { claimed: due.length, givenBack: givenBack.length, leaseUntil, failed, later }
}

/**
 * Whether another timer of the subject now precedes this one in the order of claims. A timer that was claimed together with it may
 * have set such a timer. For example, a grace period whose end has also passed must lapse the policy before its next invoice, and
 * before an invoice that becomes past due at the same time, no matter how late both timers are.
 */
async function isPreceded(database: Database, { subject, dueAt, kind }: Timer): Promise<boolean> {
  const isBefore = or(lt(timers.dueAt, dueAt), and(eq(timers.dueAt, dueAt), gt(timers.kind, kind)))
  const [rows] = await database.batch([
    database.build
      .select({ locator: timers.locator })
      .from(timers)
      .where(and(eq(timers.subject, subject), isBefore))
      .limit(1),
  ])
  return rows.length > 0
}

/**
 * Claims due timers, oldest first. Of those due at the same time, a policy's end follows its reminders, and past-due invoices
 * follow the end of a grace period: an invoice that the lapse settles is no longer past due.
 */
async function claimDue(database: Database, at: Instant, leaseUntil: Instant): Promise<Timer[]> {
  const { build } = database
  const due = lte(timers.dueAt, at)
  const oldest = [asc(timers.dueAt), asc(timers.subject), desc(timers.kind), asc(timers.locator)]
  const all = build.select().from(timers).where(due)
  const claim = sql`(subject, locator) in (select subject, locator from ${timers} where ${due}
    order by due_at, subject, kind desc, locator limit ${MOST_CLAIMED})`
  const [claimed] = await database.batch([
    all.orderBy(...oldest).limit(MOST_CLAIMED),
    build.update(timers).set({ dueAt: leaseUntil }).where(claim),
  ])
  return claimed
}

/** Keeps a timer that was set again in the meantime. */
const removal = (database: Database, done: readonly string[], leaseUntil: Instant): Query =>
  database.build.run(sql`delete from ${timers} where due_at = ${leaseUntil} and ${among(done)}`)

/** Makes timers due at their time before the claim. */
const returnQuery = (database: Database, given: readonly Timer[], leaseUntil: Instant): Query =>
  database.build.run(
    // This join order looks each timer up by its key.
    sql`update ${timers} as t set due_at = given.value ->> 2
      from json_each(${JSON.stringify(given.map(({ subject, locator, dueAt }) => [subject, locator, dueAt]))}) given
        cross join ${timers} found
      where found.subject = given.value ->> 0 and found.locator = given.value ->> 1 and found.due_at = ${leaseUntil}
        and t.subject = found.subject and t.locator = found.locator`,
  )

/** Postpones the timers of a claim that are still leased. */
export const postpone = (
  database: Database,
  { failed, later, leaseUntil }: FiredClaim,
  dueAt: Instant,
): Promise<unknown> =>
  database.batch([
    database.build.run(
      sql`update ${timers} set due_at = ${dueAt} where due_at = ${leaseUntil} and ${among([...failed, ...later])}`,
    ),
  ])

const among = (locators: readonly string[]) =>
  sql`locator in (select value from json_each(${JSON.stringify(locators)}))`

/** Never throws. */
async function fire(timer: Timer, place: ShardPlace): Promise<'done' | 'failed' | 'later'> {
  const { kind, locator, subject } = timer
  try {
    if (!owners) throw new Error('No timer owners are registered: import src/wiring.ts.')
    const load = owners[kind] as TimerOwners[TimerKind] | undefined
    if (!load) throw new Error('No owner for this kind of timer. A newer release may have set it.')
    const owner = await load()
    return (await owner(timer, place)) === 'later' ? 'later' : 'done'
  } catch (problem) {
    console.error(JSON.stringify({ at: 'timer', kind, locator, subject, problem: String(problem) }))
    return 'failed'
  }
}

/** One value. Null when there is no timer. */
export const earliestTimer = sql`(select min(due_at) from ${timers})`

// Files are stored before the commit that records them, so that recorded files can always be read. If that commit never comes (an
// interrupted request, a database that does not respond), no record names the file. A timer that is set before the file is stored
// therefore deletes it unless a record names it by then.

/** Time to record a stored file, including slow uploads. Real time, because a tenant's clock may move during a request. */
export const RECORDED_WITHIN_MS = 60 * 60_000

/**
 * Sets the timer that deletes an unrecorded file. Await it before you store a file that a record with this locator will name. One
 * round trip.
 */
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

/** Returns a timer owner that calls `remove` for a file that no row names, once no request can still be recording it. */
export const removeUnlessRecorded =
  (
    table: SQLiteTable & { locator: SQLiteColumn },
    remove: (locator: Uuid, place: ShardPlace) => Promise<unknown>,
    hasLocator = (locator: Uuid): SQL => eq(table.locator, locator),
  ): TimerOwner =>
  async ({ subject, payload }, place) => {
    const { env, tenant, shard, calls } = place
    const database = shardDatabase(env, tenant, shard, calls)
    const [rows] = await database.batch([
      database.build
        .select({ locator: table.locator })
        .from(table)
        .where(hasLocator(subject as Uuid)),
    ])
    if (rows.length > 0) return undefined
    if (now() < Number(payload.until ?? 0)) return 'later'
    await remove(subject as Uuid, place)
    return undefined
  }
