// Scheduled work other than wiping (wipe.ts) and upgrading (upgrades.ts): wakes objects and measures databases.
import { eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { newUuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, hasRoomForMore, mayReadMore, noCalls } from '../platform/calls.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'
import { KEPT_MS } from '../platform/events/kept-records.ts'
import { armDispatcherAt } from '../platform/objects.ts'
import { type TimerKind, timers } from '../platform/tables.ts'
import { shards, tenants } from '../platform/tenancy/control-tables.ts'
import { isClosedAt, isNearlyFullAt, shareOf } from '../platform/tenancy/quotas.ts'
import {
  controlDatabase,
  HOME_SHARD,
  KNOWN_EVERYWHERE_MS,
  shardClient,
  shardDatabase,
  type Tenant,
  tenantNow,
  tenantsQuery,
} from '../platform/tenancy.ts'
import { reports } from '../reporting/tables.ts'
import { impacts } from '../servicing/impact/tables.ts'
import { migrations } from '../servicing/migration/tables.ts'
import { readTenants, tenantsOfMinuteQuery } from './store.ts'

// An alarm is lost when a tenant was suspended, restored or moved, or when an object loses its storage. So a resumed tenant is
// woken immediately, and every tenant once a day.

/** The most resumed tenants woken in one run. */
const MOST_WOKEN = 20

/** Until then, isolates may believe that the tenant is still suspended. */
const WOKEN_AFTER_MS = KNOWN_EVERYWHERE_MS

/** Each tenant has one minute of the day. */
const MINUTES_A_DAY = 1_440

/** Migrations that ended within this time may have files left to delete. */
const CLEANED_MS = 2 * 24 * 60 * 60 * 1000

/** Wakes resumed tenants, and those whose minute it is at `at`. Safe to repeat. */
export async function wakeTenants(env: Env, calls: Calls = noCalls(), at: Instant = now()): Promise<void> {
  const control = controlDatabase(env, calls)
  const [waiting, daily] = await control.batch([
    tenantsQuery(control, sql`${tenants.isWaking} = 1`),
    tenantsOfMinuteQuery(control, at, MINUTES_A_DAY),
  ])
  const resumed = readTenants(waiting).slice(0, MOST_WOKEN)
  // Those of this minute have no other turn today. Resumed ones that are left have theirs in the next minute.
  for (const tenant of [...readTenants(daily), ...resumed]) {
    const isResumed = resumed.includes(tenant)
    if (isResumed && !hasRoomForMore(calls)) return
    try {
      await insertWakeTimers(env, tenant, calls)
    } catch (problem) {
      console.error(JSON.stringify({ at: 'wakeTenants', tenant: tenant.locator, problem: String(problem) }))
      continue
    }
    if (!isResumed) continue
    const woken: Query = control.build
      .update(tenants)
      .set({ isWaking: false })
      .where(eq(tenants.locator, tenant.locator))
    await control.batch([woken])
  }
}

/** Dispatchers find due timers, deliveries and documents. Work that is done in portions needs a timer to wake its object. */
async function insertWakeTimers(env: Env, tenant: Tenant, calls: Calls): Promise<void> {
  const needsWaking = sql`state = 'running' or updated_at <= ${tenantNow(tenant) - KEPT_MS}`
  await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const timersFor = (kind: TimerKind, table: SQLiteTable, where: SQL): Query =>
        database.build.run(sql`
          insert into ${timers} (locator, due_at, kind, subject, payload)
          select ${newUuid(shard)} || locator, ${now()}, ${kind}, locator, '{}' from ${table} where ${where}`)
      const recent = sql`updated_at > ${now() - CLEANED_MS}`
      const queries: [Query, ...Query[]] = [
        timersFor('migration.run', migrations, sql`state in ('submitted', 'processing') or ${recent}`),
      ]
      // Databases that keep books have both tables.
      if (shard === HOME_SHARD && tenant.keepsBooks)
        queries.push(
          timersFor('report.run', reports, needsWaking),
          timersFor('impact.run', impacts, needsWaking),
        )
      await database.batch(queries)
      await armDispatcherAt({ env, tenant, calls }, shard, now() + WOKEN_AFTER_MS)
    }),
  )
}

// At 60 % of its quota a database causes a warning to the operator, at 80 % it gets no new policyholders, and at 98 % nothing is
// added (platform/tenancy/quotas.ts, commit.ts). A database that is closed to new policyholders stays closed: a repeat of a
// request under its key must reach the same database as before.

/** Minutes between measurements. At its fastest a database grows from 80 to 98 % in three quarters of an hour. */
const MINUTES = 10

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const MEASURED_AT_ONCE = 8

/** Every isolate must know of the closing before it applies, so that a key leads to the same database everywhere. */
const CLOSES_AFTER_MS = KNOWN_EVERYWHERE_MS

type Measurement = { readonly tenant: Tenant; readonly shard: number; readonly bytes: number }

/** Measures only the databases whose minute it is at `at`. Those for which the tick has no statements left wait ten minutes. */
export async function measureShards(env: Env, calls: Calls = noCalls(), at: Instant = now()): Promise<void> {
  const control = controlDatabase(env, calls)
  const [rows] = await control.batch([tenantsOfMinuteQuery(control, at, MINUTES)])
  const waiting = readTenants(rows)
    .flatMap(tenant => tenant.shards.map((_, shard) => ({ tenant, shard })))
    .values()
  const measurements: Measurement[] = []
  const work = async (): Promise<void> => {
    for (const { tenant, shard } of waiting) {
      if (!mayReadMore(calls)) return
      await measure(env, tenant, shard, calls).then(
        bytes => measurements.push({ tenant, shard, bytes }),
        problem =>
          console.error(
            JSON.stringify({ at: 'measureShards', tenant: tenant.locator, shard, problem: String(problem) }),
          ),
      )
    }
  }
  await Promise.all(Array.from({ length: MEASURED_AT_ONCE }, work))
  if (measurements.length > 0) await control.batch([noteQuery(control, measurements)])
  if (at % HOUR_MS < MINUTES * MINUTE_MS) warn(measurements)
}

async function measure(env: Env, tenant: Tenant, shard: number, calls: Calls): Promise<number> {
  const { client, binding } = shardClient(env, tenant, shard)
  const database = openDatabase(client, calls, binding)
  await database.batch([database.build.all(sql`select 1`)])
  return database.bytes()
}

/** One statement: a run in a large cell measures hundreds of databases, and may send a thousand statements. */
function noteQuery(control: Database, measurements: readonly Measurement[]): Query {
  const rows = measurements.map(({ tenant, shard, bytes }) => [
    tenant.locator,
    shard,
    bytes,
    isClosedAt(shareOf(tenant, bytes)) ? now() + CLOSES_AFTER_MS : null,
  ])
  // In this order each shard is searched by its key.
  return control.build.run(sql`
    update ${shards} as s set bytes = m.value ->> 2, closes_at = coalesce(s.closes_at, m.value ->> 3)
    from json_each(${JSON.stringify(rows)}) m cross join ${shards} found
    where found.tenant_locator = m.value ->> 0 and found.number = m.value ->> 1
      and s.tenant_locator = found.tenant_locator and s.number = found.number`)
}

/** Logs a line for each database that fills up: `{"at":"room","tenant":"acme","binding":"TENANT_007","percent":64}`. */
function warn(measurements: readonly Measurement[]): void {
  for (const { tenant, shard, bytes } of measurements) {
    const share = shareOf(tenant, bytes)
    if (isNearlyFullAt(share))
      console.warn(
        JSON.stringify({
          at: 'room',
          tenant: tenant.name,
          binding: tenant.shards[shard],
          percent: Math.round(share * 100),
        }),
      )
  }
}
