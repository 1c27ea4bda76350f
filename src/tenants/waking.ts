// Part of the housekeeping: has the objects of tenants look for work that go by an alarm. An alarm is gone after a tenant was suspended,
// restored or moved, or when the storage of an object is lost. Whoever was resumed is woken at once, and every tenant once a day.
import { eq, sql } from 'drizzle-orm'
import { newUuid } from '../kernel/locators.ts'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from '../platform/calls.ts'
import type { Query } from '../platform/database.ts'
import { armDispatcherAt } from '../platform/objects.ts'
import { timers } from '../platform/tables.ts'
import { tenants } from '../platform/tenancy/control-tables.ts'
import {
  controlDatabase,
  KNOWN_EVERYWHERE_MS,
  shardDatabase,
  type Tenant,
  tenantsQuery,
} from '../platform/tenancy.ts'
import { migrations } from '../servicing/migration/tables.ts'
import { readTenants, tenantsOfMinuteQuery } from './store.ts'

/** Tenants that one run wakes. */
const MOST_WOKEN = 20

/** Isolates may believe for so long that the tenant is still suspended. */
const WOKEN_AFTER_MS = KNOWN_EVERYWHERE_MS

/** Each tenant has a minute of the day. */
const MINUTES_A_DAY = 1_440

/** Migrations that ended so lately may have files left to delete. */
const CLEANED_MS = 2 * 24 * 60 * 60 * 1000

/** Wakes those that wait for it, and those whose minute it is at the time `at`. Cut off, it does so again. */
export async function wakeTenants(env: Env, calls: Calls = noCalls(), at: Instant = now()): Promise<void> {
  const control = controlDatabase(env, calls)
  const [waiting, daily] = await control.batch([
    tenantsQuery(control, sql`${tenants.isWaking} = 1`),
    tenantsOfMinuteQuery(control, at, MINUTES_A_DAY),
  ])
  const resumed = readTenants(waiting).slice(0, MOST_WOKEN)
  for (const tenant of [...resumed, ...readTenants(daily)]) {
    try {
      await wake(env, tenant, calls)
    } catch (problem) {
      console.error(JSON.stringify({ at: 'wakeTenants', tenant: tenant.locator, problem: String(problem) }))
      continue
    }
    if (!resumed.includes(tenant)) continue
    const woken: Query = control.build
      .update(tenants)
      .set({ isWaking: false })
      .where(eq(tenants.locator, tenant.locator))
    await control.batch([woken])
  }
}

/** The dispatchers find timers, deliveries and documents that are due; migrations get a timer each. */
async function wake(env: Env, tenant: Tenant, calls: Calls): Promise<void> {
  await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      await database.batch([
        database.build.run(sql`
          insert into ${timers} (locator, due_at, kind, subject, payload)
          select ${newUuid(shard)} || locator, ${now()}, 'migration.run', locator, '{}' from ${migrations}
          where state in ('submitted', 'processing') or updated_at > ${now() - CLEANED_MS}`),
      ])
      await armDispatcherAt({ env, tenant, calls }, shard, now() + WOKEN_AFTER_MS)
    }),
  )
}
