// Part of the housekeeping: measures the databases of tenants. From 60 % of what one may hold the operator is warned, from 80 % on no new
// policyholders come into it, and from 98 % on nothing is added (platform/tenancy/quotas.ts, commit.ts). A database that is closed to new
// policyholders stays so: whoever repeats a request under its key must be led to where it led before.
import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from '../platform/calls.ts'
import { type Database, openDatabase, type Query } from '../platform/database.ts'
import { shards } from '../platform/tenancy/control-tables.ts'
import { isClosedAt, isToBeWarnedOf, shareOf } from '../platform/tenancy/quotas.ts'
import { controlDatabase, KNOWN_EVERYWHERE_MS, shardClient, type Tenant } from '../platform/tenancy.ts'
import { readTenants, tenantsOfMinuteQuery } from './store.ts'

/** Each database is measured once in so many minutes. At its fastest one grows from 80 to 98 % in three quarters of an hour. */
const MINUTES = 10

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Databases measured at the same time. */
const AT_ONCE = 8

/** Every isolate must know that a database is closed before the time comes, so that a key leads to the same one everywhere. */
const CLOSES_AFTER_MS = KNOWN_EVERYWHERE_MS

type Measured = { readonly tenant: Tenant; readonly shard: number; readonly bytes: number }

/** Measures the databases whose minute it is at the time `at`. */
export async function measureShards(env: Env, calls: Calls = noCalls(), at: Instant = now()): Promise<void> {
  const control = controlDatabase(env, calls)
  const [rows] = await control.batch([tenantsOfMinuteQuery(control, at, MINUTES)])
  const waiting = readTenants(rows)
    .flatMap(tenant => tenant.shards.map((_, shard) => ({ tenant, shard })))
    .values()
  const measured: Measured[] = []
  const work = async (): Promise<void> => {
    for (const { tenant, shard } of waiting)
      await measure(env, tenant, shard, calls).then(
        bytes => measured.push({ tenant, shard, bytes }),
        problem =>
          console.error(
            JSON.stringify({ at: 'measureShards', tenant: tenant.locator, shard, problem: String(problem) }),
          ),
      )
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const queries = measured.flatMap(one => noteQueries(control, one))
  if (queries.length > 0) await control.batch(queries as [Query, ...Query[]])
  if (at % HOUR_MS < MINUTES * MINUTE_MS) warn(measured)
}

async function measure(env: Env, tenant: Tenant, shard: number, calls: Calls): Promise<number> {
  const database = openDatabase(shardClient(env, tenant, shard).client, calls)
  await database.batch([database.build.all(sql`select 1`)])
  return database.bytes()
}

function noteQueries(control: Database, { tenant, shard, bytes }: Measured): Query[] {
  const isThis = and(eq(shards.tenantLocator, tenant.locator), eq(shards.number, shard))
  const noted = control.build.update(shards).set({ bytes }).where(isThis)
  if (!isClosedAt(shareOf(tenant, bytes))) return [noted]
  const closed = control.build
    .update(shards)
    .set({ closesAt: now() + CLOSES_AFTER_MS })
    .where(and(isThis, isNull(shards.closesAt)))
  return [noted, closed]
}

/** Once an hour a line for each database that fills up: `{"at":"room","tenant":"acme","binding":"TENANT_007","percent":64}`. */
function warn(measured: readonly Measured[]): void {
  for (const { tenant, shard, bytes } of measured) {
    const share = shareOf(tenant, bytes)
    if (isToBeWarnedOf(share))
      console.warn(
        JSON.stringify({
          ...{ at: 'room', tenant: tenant.name, binding: tenant.shards[shard] },
          percent: Math.round(share * 100),
        }),
      )
  }
}
