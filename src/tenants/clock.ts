// Moves a test tenant's clock from one due timer to the next, as time would. The control database stores each step: after an
// interruption the clock shows the time up to which work is done, and the rest is still due.
import { sql } from 'drizzle-orm'
import { recordAudit } from '../access/audit/store.ts'
import { ZONE_WITHOUT_CONFIGURATION } from '../access/store.ts'
import { invalidRequest, Refusal, versionConflict } from '../kernel/errors.ts'
import { add, earlier, type Instant, LATEST, later, now, type TimeZone } from '../kernel/time.ts'
import { commit, isBySubject, storedAnswer } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import { ARM_AHEAD_MS } from '../platform/events/outbox.ts'
import {
  earliestTimer,
  fireClaim,
  postpone,
  type ShardPlace,
  TIMER_LEASE_MS,
} from '../platform/events/timers.ts'
import { armDispatcherAt } from '../platform/objects.ts'
import {
  controlDatabase,
  forgetTenants,
  HOME_SHARD,
  homeDatabase,
  KNOWN_EVERYWHERE_MS,
  shardDatabase,
  type Tenant,
  tenantNow,
} from '../platform/tenancy.ts'
import { versionQuery } from '../product/cache.ts'
import type { ClockRequest, ClockResponse } from './routes.ts'
import { clockQuery } from './store.ts'

/** A Worker may send 1,000 statements and make as many round trips. The last step and the end may take 250 and 180. */
const MOST_STATEMENTS = 750
const MOST_CALLS = 800

/**
 * Moves the clock of a test tenant forward and fires what falls due, each timer at its time. A call does a bounded amount of
 * work: with `completed` false the clock is at the last finished time, and the next call continues. A repeat with the same
 * Idempotency-Key continues to the time that the first request named. Rejects production tenants with 400.
 */
export async function moveClock(request: ClockRequest, context: RequestContext): Promise<ClockResponse> {
  if (context.tenant.type !== 'test')
    throw new Refusal(
      'tenantTypeMismatch',
      `'${context.tenant.name}' is a production tenant, which always uses the real time. Only clocks of test tenants can be moved.`,
    )
  const tenant = await setClock(context, context.tenant, context.tenant.clockOffsetMs)
  const target = await agreedTarget(request, context, tenant)
  await recordAudit(context, {
    action: 'tenants.clock',
    subject: 'clock',
    details: { targetTimestamp: String(target) },
  })
  await armDispatchers(context, ARM_AHEAD_MS)
  try {
    return await moveTo(target, tenant, context)
  } finally {
    // Late enough for every isolate to know the new time, which makes the next timer due sooner.
    await armDispatchers(context, KNOWN_EVERYWHERE_MS)
  }
}

/** Returns the time to move to. A repeat with the same Idempotency-Key keeps its first target. */
async function agreedTarget(
  request: ClockRequest,
  context: RequestContext,
  tenant: Tenant,
): Promise<Instant> {
  const database = homeDatabase({ ...context, tenant })
  const stored = await storedAnswer(context, database)
  if (stored) return targetIn(stored)
  const [[version]] = await database.batch([versionQuery(database, undefined)])
  const zone = (version?.timeZone ?? ZONE_WITHOUT_CONFIGURATION) as TimeZone
  const target = clockTarget(request, { tenant: tenantNow(tenant), zone, real: now() })
  if (!context.idempotency) return target
  const answer = { status: 200, text: String(target) }
  const agreed = await commit(context, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: [],
    answer,
    subject: 'clock',
  })
  return targetIn(agreed)
}

function targetIn(answer: Awaited<ReturnType<typeof commit>>): Instant {
  if (isBySubject(answer)) throw new Error('A clock target must be short enough to store.')
  return Number(answer.text) as Instant
}

async function moveTo(target: Instant, from: Tenant, context: RequestContext): Promise<ClockResponse> {
  const { env, calls } = context
  const start = tenantNow(from)
  let tenant = from
  let failed = 0
  const answer = (at: Instant, completed: boolean): ClockResponse => ({
    timestamp: String(at),
    targetTimestamp: String(target),
    completed,
    failed,
  })
  for (;;) {
    const due = await dueTimes(context, tenant)
    const dueAt = due.reduce(earlier)
    if (dueAt > target) break
    const isFull = (calls.statements ?? 0) > MOST_STATEMENTS
    if (isFull || calls.d1 + calls.object - (calls.ofObjects ?? 0) > MOST_CALLS)
      return answer(tenantNow(tenant), false)
    if (dueAt > tenantNow(tenant)) tenant = await setClock(context, tenant, dueAt - now())
    failed += await fireIn({ env, tenant, shard: due.indexOf(dueAt), calls }, target)
  }
  await setClock(context, tenant, target - now())
  return answer(later(target, start), true)
}

/** Returns the time of each shard's earliest timer, or `LATEST` for a shard without timers. */
const dueTimes = ({ env, calls }: RequestContext, tenant: Tenant): Promise<Instant[]> =>
  Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [[row]] = await database.batch([
        database.build.all<{ dueAt: Instant | null }>(sql`select ${earliestTimer} as dueAt`),
      ])
      return row?.dueAt ?? LATEST
    }),
  )

/**
 * Fires the shard's due timers and returns how many failed. Postpones failed and deferred timers until after the move, which they
 * would hold up.
 */
async function fireIn(place: ShardPlace, target: Instant): Promise<number> {
  const claim = await fireClaim(place)
  if (claim.failed.length + claim.later.length === 0) return 0
  const database = shardDatabase(place.env, place.tenant, place.shard, place.calls)
  await postpone(database, claim, (target + TIMER_LEASE_MS) as Instant)
  return claim.failed.length
}

/** Sets the tenant's offset, but never moves the clock back. Returns the tenant with the offset in force. */
async function setClock({ env, calls }: RequestContext, tenant: Tenant, offsetMs: number): Promise<Tenant> {
  const control = controlDatabase(env, calls)
  const [[row]] = await control.batch([clockQuery(control, tenant, offsetMs)])
  forgetTenants()
  if (row) return { ...tenant, ...row }
  throw versionConflict(
    `The tenant '${tenant.name}' was recreated or deleted in the meantime. Sign in again.`,
  )
}

const armDispatchers = (context: RequestContext, afterMs: number): Promise<unknown> =>
  Promise.all(context.tenant.shards.map((_, shard) => armDispatcherAt(context, shard, now() + afterMs)))

const MOST_YEARS_A_MOVE = 10
const MOST_YEARS_AHEAD = 100

type Clocks = { readonly tenant: Instant; readonly zone: TimeZone; readonly real: Instant }

/** Returns the requested time. Rejects with 400 a time in the tenant's past or too far ahead. */
export function clockTarget({ timestamp, advance }: ClockRequest, { tenant, zone, real }: Clocks): Instant {
  const furthest = add(tenant, MOST_YEARS_A_MOVE, 'year', zone)
  const tooFar = invalidRequest(
    `One call moves the clock by at most ${MOST_YEARS_A_MOVE} years, here to ${furthest}. Make several calls.`,
  )
  // Calendar arithmetic fails beyond its own range, for example after a billion years.
  if (advance && advance.amount > UNITS_IN_FURTHEST[advance.unit]) throw tooFar
  const target = advance ? add(tenant, advance.amount, advance.unit, zone) : timestamp!
  if (target < tenant)
    throw invalidRequest(
      `'timestamp' ${target} is before the tenant's time ${tenant}. The clock only moves forward.`,
    )
  if (target > furthest) throw tooFar
  const latest = add(real, MOST_YEARS_AHEAD, 'year', zone)
  if (target > latest)
    throw invalidRequest(
      `The clock can be at most ${MOST_YEARS_AHEAD} years ahead of the real time, until ${latest}. Recreate the tenant to start over.`,
    )
  return target
}

/** Larger counts exceed every allowed move. */
const UNITS_IN_FURTHEST = {
  second: 400_000_000,
  minute: 6_000_000,
  hour: 100_000,
  day: 4_000,
  week: 600,
  month: 120,
  year: 10,
} as const satisfies Record<NonNullable<ClockRequest['advance']>['unit'], number>
