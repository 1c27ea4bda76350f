// Suspends a tenant in two steps that preserve every delivery in progress (src/tenants/suspension.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import { KNOWN_EVERYWHERE_MS, type Tenant } from '../../src/platform/tenancy.ts'
import { closeDatabases, suspendTenant } from '../../src/tenants/suspension.ts'

export async function suspend(
  env: Env,
  name: string,
  reason: string | undefined,
  say: (line: string) => void,
): Promise<Tenant> {
  const tenant = await suspendTenant(env, name, reason)
  say(`${name} is suspended: ${tenant.suspension!.reason}`)
  // A tenant that was suspended earlier needs no further wait.
  const waitMs = Math.min(KNOWN_EVERYWHERE_MS, tenant.suspension!.since + KNOWN_EVERYWHERE_MS - Date.now())
  if (waitMs > 0) {
    say(
      `waiting ${Math.ceil(waitMs / 1_000)} s until work in progress has ended; if interrupted, run this again`,
    )
    await sleep(waitMs)
  }
  await closeDatabases(env, tenant)
  return tenant
}
