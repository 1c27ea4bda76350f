// What a run needs to know of its tenant, and for each of its commits.

import { newUuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Calls } from '../../../platform/calls.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../../platform/context.ts'
import type { Database } from '../../../platform/database.ts'
import { type Tenant, tenantNow } from '../../../platform/tenancy.ts'
import type { ReadTables } from '../../../policyholders/change.ts'
import type { LoadedConfiguration } from '../../../product/cache.ts'
import type { Migration } from '../store.ts'

export type RunContext = {
  readonly env: Env
  readonly tenant: Tenant
  readonly calls: Calls
  readonly shard: number
  readonly database: Database
  /** The home shard's: the same one, where the migration lies there. */
  readonly home: Database
  readonly migration: Migration
}

export type ConfiguredRunContext = RunContext & {
  readonly configuration: LoadedConfiguration
  readonly configVersion: number
  /** When the alarm began: by this time constraint tables are selected, whatever the account. */
  readonly begunAt: Instant
  /** Constraint tables in force, read once for all accounts of an alarm. */
  readonly readTables: ReadTables
}

/** The context of one commit. Nobody calls then: what is told of it is the service's own doing (resources brief 8.1). */
export const contextOf = ({ env, tenant, calls, shard }: RunContext): RequestContext => ({
  env,
  tenant,
  calls,
  caller: SYSTEM_CALLER,
  requestId: newUuid(shard),
  now: tenantNow(tenant),
  idempotency: undefined,
  later: work =>
    void work.catch(problem => console.error(JSON.stringify({ at: 'migration', problem: String(problem) }))),
})
