// Suspends a tenant, so that every call is answered 503 and nothing of it goes on by itself, and resumes it. The control database says
// so, and the fence in each of the tenant's databases, which holds for whoever still knows the tenant as it was.
import { eq } from 'drizzle-orm'
import { notFound, wrongState } from '../kernel/errors.ts'
import { now } from '../kernel/time.ts'
import { type Calls, noCalls } from '../platform/calls.ts'
import { openDatabase } from '../platform/database.ts'
import { type Suspension, type TenantOperation, tenants } from '../platform/tenancy/control-tables.ts'
import { type FenceStatement, setFence } from '../platform/tenancy/fence.ts'
import {
  boundDatabase,
  controlDatabase,
  forgetTenants,
  readTenant,
  sendFence,
  type Tenant,
} from '../platform/tenancy.ts'

/** The reason that callers see when the operator gives none. */
const NO_REASON = 'the operator works on it; it will be back.'

/** Sends the statement to each of the tenant's databases that is bound. A round trip for each. */
export async function inEachDatabase(
  env: Env,
  { shards }: Pick<Tenant, 'shards'>,
  statement: FenceStatement,
  calls: Calls,
): Promise<void> {
  await Promise.all(
    shards.map(async binding => {
      const client = boundDatabase(env, binding)
      // One that is not bound yet gets its fence when it is first opened.
      if (client) await sendFence(openDatabase(client, calls), statement)
    }),
  )
}

/**
 * Within 5 s every call of the tenant is answered 503 with the reason, and its timers and deliveries stand still. What is under way
 * goes on until `closeDatabases`. A second call replaces the reason. 404 when there is no such tenant, 409 for one that moved away.
 */
export async function suspendTenant(
  env: Env,
  name: string,
  reason: string = NO_REASON,
  calls: Calls = noCalls(),
): Promise<Tenant> {
  const tenant = await tenantToChange(env, name, calls)
  const suspension: Suspension = { state: 'suspended', reason, since: tenant.suspension?.since ?? now() }
  await changeTenant(env, tenant, { suspension }, calls)
  return { ...tenant, suspension }
}

/**
 * Nobody reads or writes the databases of the suspended tenant any more, whatever they know. To be called after
 * `KNOWN_EVERYWHERE_MS`, so that a delivery that was under way is noted and is not made twice.
 */
export const closeDatabases = (env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<void> =>
  inEachDatabase(env, tenant, setFence(tenant, 'suspended'), calls)

/**
 * The tenant is served again, everywhere within 5 s; what fell due meanwhile begins within two minutes. A move away that is not finished
 * is given up. As `suspendTenant`; 409 too while a restore is under way, or the tenant is being moved here.
 */
export async function resumeTenant(env: Env, name: string, calls: Calls = noCalls()): Promise<Tenant> {
  const tenant = await tenantToChange(env, name, calls)
  const operation = await operationOf(env, tenant, calls)
  const isLeaving = operation?.kind === 'move' && operation.direction === 'out'
  if (operation && !isLeaving)
    throw wrongState(
      `A ${operation.kind} of the tenant '${name}' is under way; run its command again, which goes on where it stopped.`,
    )
  await openDatabases(env, tenant, calls)
  return await serveAgain(env, tenant, calls)
}

/** The restore or the move of the tenant that is under way. */
export async function operationOf(
  env: Env,
  { locator }: Pick<Tenant, 'locator'>,
  calls: Calls = noCalls(),
): Promise<TenantOperation | undefined> {
  const database = controlDatabase(env, calls)
  const [[row]] = await database.batch([
    database.build.select({ operation: tenants.operation }).from(tenants).where(eq(tenants.locator, locator)),
  ])
  return row?.operation ?? undefined
}

/** The opposite of `closeDatabases`. */
export const openDatabases = (env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<void> =>
  inEachDatabase(env, tenant, setFence(tenant, 'serving'), calls)

/** Serves a tenant whose databases are open; whatever was done to it meanwhile is over. */
export async function serveAgain(env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<Tenant> {
  await changeTenant(env, tenant, { suspension: null, operation: null, isWaking: true }, calls)
  const { suspension: _, ...served } = tenant
  return served
}

/** The tenant of that name as the control database has it now; 404 when there is none. */
export async function tenantNamed(env: Env, name: string, calls: Calls): Promise<Tenant> {
  const tenant = await readTenant(env, { name }, calls)
  if (!tenant) throw notFound('tenant', name)
  return tenant
}

/** The tenant of that name, which is served here. 404 when there is none, 409 when it has moved away. */
export async function tenantToChange(env: Env, name: string, calls: Calls): Promise<Tenant> {
  const tenant = await tenantNamed(env, name, calls)
  if (tenant.suspension?.state === 'moved')
    throw wrongState(`The tenant '${name}' has moved: ${tenant.suspension.reason}`)
  return tenant
}

/** Changes the tenant's row in the control database. */
export async function changeTenant(
  env: Env,
  { locator }: Pick<Tenant, 'locator'>,
  values: Partial<typeof tenants.$inferInsert>,
  calls: Calls,
): Promise<void> {
  const database = controlDatabase(env, calls)
  await database.batch([database.build.update(tenants).set(values).where(eq(tenants.locator, locator))])
  forgetTenants()
}
