// What no request began: alarms, messages and timers.
import { newUuid } from '../kernel/locators.ts'
import { type RequestContext, SYSTEM_CALLER } from './context.ts'
import { type TenantPlace, tenantNow } from './tenancy.ts'

/**
 * The context of one commit. It has no caller: its events are the service's own (resources brief 8.1).
 *
 * @param shard where it commits
 * @param work its name in the log, where something fails that nobody waits for
 */
export const systemContext = (
  { env, tenant, calls }: TenantPlace,
  shard: number,
  work: string,
): RequestContext => ({
  env,
  tenant,
  calls,
  caller: SYSTEM_CALLER,
  requestId: newUuid(shard),
  now: tenantNow(tenant),
  idempotency: undefined,
  later: promise =>
    void promise.catch(problem => console.error(JSON.stringify({ at: work, problem: String(problem) }))),
})
