// What a run needs to know of its tenant, and for each of its commits.
import type { LoadedConfiguration } from '../../configuration/cache.ts'
import type { Calls } from '../../platform/calls.ts'
import type { Caller, RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { newUuid } from '../../platform/locators.ts'
import { type Tenant, tenantNow } from '../../platform/tenancy.ts'
import type { Migration } from '../store.ts'

export type Ground = {
  readonly env: Env
  readonly tenant: Tenant
  readonly calls: Calls
  readonly shard: number
  readonly database: Database
  /** The home shard's: the same one, where the migration lies there. */
  readonly home: Database
  readonly migration: Migration
}

export type ConfiguredGround = Ground & {
  readonly configuration: LoadedConfiguration
  readonly configVersion: number
}

/** The context of one commit: whoever sent the migration is who does it. */
export const contextOf = ({ env, tenant, calls, shard, migration }: Ground): RequestContext => ({
  env,
  tenant,
  calls,
  caller: callerOf(migration),
  requestId: newUuid(shard),
  now: tenantNow(tenant),
  idempotency: undefined,
  later: work =>
    void work.catch(problem => console.error(JSON.stringify({ at: 'migration', problem: String(problem) }))),
})

const callerOf = ({ createdBy, username }: Migration): Caller => ({
  accountLocator: createdBy as Caller['accountLocator'],
  username,
  accountType: 'account.internal',
})
