// The context of work that no request started: alarms, messages and timers.
import { newUuid } from '../kernel/locators.ts'
import { type RequestContext, SYSTEM_CALLER } from './context.ts'
import { type TenantPlace, tenantNow } from './tenancy.ts'

/**
 * Returns the context of one commit. It has no caller: its events are the service's own (resources brief 8.1).
 *
 * @param shard the shard that it commits to
 * @param work the name of the work in the log, for failures that nothing waits for
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
