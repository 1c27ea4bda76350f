// Timers: rows with a due time in the time of the tenant. The dispatcher calls the owner of each due timer's kind. So does moving
// the tenant's clock (tenants/clock.ts).
import { and, asc, desc, eq, getTableColumns, gt, lt, lte, or, type SQL, sql } from 'drizzle-orm'
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
    const { claimed, givenBack } = await fireClaim(place, round === 0)
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

/**
 * Fires at most 50 timers that are due by the tenant's clock, the longest-waiting first. Only the first of several claims restores
 * the due times of interrupted timers.
 */
export async function fireClaim(place: ShardPlace, isFirst = true): Promise<FiredClaim> {
  const database = shardDatabase(place.env, place.tenant, place.shard, place.calls)
  const at = tenantNow(place.tenant)
  const leaseUntil = (at + TIMER_LEASE_MS) as Instant
  const claimed = await claimDue(database, at, leaseUntil, isFirst)
  const due = claimed.filter(({ isHeld }) => isHeld === 0)
  const outcomes = { done: [] as string[], failed: [] as string[], later: [] as string[] }
  const givenBack: Timer[] = []
  const failedFirst: string[] = []
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
        const outcome = await fire(timer, place)
        outcomes[outcome].push(timer.locator)
        if (outcome === 'failed' && !(FAILED in timer.payload)) {
          failedFirst.push(timer.locator)
          // The others stay leased, and fire after this one.
          break
        }
      }
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
  const { done, failed, later } = outcomes
  const ending = [
    ...(done.length > 0 ? [removal(database, done, leaseUntil)] : []),
    ...(givenBack.length > 0 ? [returnQuery(database, givenBack, leaseUntil)] : []),
    ...(failedFirst.length > 0 ? [noteFailure(database, failedFirst, leaseUntil)] : []),
  ]
  if (ending.length > 0) await database.batch(ending as [Query, ...Query[]])
  return { claimed: claimed.length, givenBack: givenBack.length, leaseUntil, failed, later }
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

/** `isHeld` is 1 if the subject has leased timers, whose work may be under way or was interrupted. */
type ClaimedTimer = Timer & { readonly isHeld: number }

/**
 * Claims due timers, oldest first. Of those due at the same time, a policy's end follows its reminders, and past-due invoices
 * follow the end of a grace period: an invoice that the lapse settles is no longer past due.
 */
async function claimDue(
  database: Database,
  at: Instant,
  leaseUntil: Instant,
  isFirst: boolean,
): Promise<ClaimedTimer[]> {
  const { build } = database
  const due = lte(timers.dueAt, at)
  const oldest = [asc(timers.dueAt), asc(timers.subject), desc(timers.kind), asc(timers.locator)]
  const leased = sql`from ${timers} as leased where leased.subject = timer.subject and leased.due_at > ${at}
    and leased.due_at <= ${leaseUntil} and leased.payload ->> ${DUE} is not null
    and coalesce(cast(leased.payload ->> ${FAILED} as integer), leased.due_at) = leased.due_at`
  const all = build
    .select({ ...getTableColumns(timers), isHeld: sql<number>`exists (select 1 ${leased})` })
    .from(timers)
    .where(due)
  const claim = sql`(subject, locator) in (select subject, locator from ${timers} where ${due}
    order by due_at, subject, kind desc, locator limit ${MOST_CLAIMED})`
  const queries = [
    all.orderBy(...oldest).limit(MOST_CLAIMED),
    // Held timers become due together with those that hold them.
    build.run(
      sql`update ${timers} set due_at = coalesce((select max(leased.due_at) ${leased}), ${leaseUntil}),
        payload = json_set(payload, ${`$.${DUE}`}, cast(due_at as text)) where ${claim}`,
    ),
  ] as const
  if (!isFirst) return (await database.batch([...queries]))[0]
  return (await database.batch([restoreQuery(database, at), ...queries]))[1]
}

// Keys that a claim adds to the payload of a timer. A lease replaces the due time, which decides the order of a subject's timers.
/** The due time before the lease, in milliseconds. */
const DUE = 'leasedDueAt'
/** The end of the lease in which the timer first failed. The subject's other timers wait for one repeat: it may always fail. */
const FAILED = 'failedLease'

/** Gives timers whose lease has ended the due time that they had before it. */
const restoreQuery = (database: Database, at: Instant): Query =>
  database.build.run(
    sql`update ${timers} set due_at = payload ->> ${DUE} where due_at <= ${at} and cast(payload ->> ${DUE} as integer) < due_at`,
  )

const noteFailure = (database: Database, failed: readonly string[], leaseUntil: Instant): Query =>
  database.build.run(
    sql`update ${timers} set payload = json_set(payload, ${`$.${FAILED}`}, cast(due_at as text)) where due_at = ${leaseUntil} and ${among(failed)}`,
  )

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
