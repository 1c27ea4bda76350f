import type { Calls } from '../../../platform/calls.ts'
import type { Database } from '../../../platform/database.ts'
import { shardDatabase, type Tenant } from '../../../platform/tenancy.ts'

/** A shard whose deliveries are worked off. */
export type Place = {
  readonly env: Env
  readonly tenant: Tenant
  readonly shard: number
  readonly database: Database
  readonly calls: Calls
}

export const placeOf = (env: Env, tenant: Tenant, shard: number, calls: Calls): Place => ({
  env,
  tenant,
  shard,
  database: shardDatabase(env, tenant, shard, calls),
  calls,
})
