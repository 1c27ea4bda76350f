// A suspended tenant's calls get 503, and its background work stops. The fence in each of its databases also stops isolates that
// do not know of it yet.
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

/** Shown to callers when the operator gives no reason. */
const NO_REASON = 'the operator is working on it; it will be back.'

/** Takes one round trip for each bound database. */
export async function runInEachDatabase(
  env: Env,
  { shards }: Pick<Tenant, 'shards'>,
  statement: FenceStatement,
  calls: Calls,
): Promise<void> {
  await Promise.all(
    shards.map(async binding => {
      const client = boundDatabase(env, binding)
      // An unbound database gets its fence when it is first opened.
      if (client) await sendFence(openDatabase(client, calls), statement)
    }),
  )
}

/**
 * Suspends the tenant. Within 5 s every call of the tenant gets 503 with the reason, and its timers and deliveries stop. Running
 * work continues until `closeDatabases`. A second call replaces the reason. Throws 404 when there is no such tenant, and 409 for
 * one that moved away.
 */
export async function suspendTenant(
  env: Env,
  name: string,
  reason: string = NO_REASON,
  calls: Calls = noCalls(),
): Promise<Tenant> {
  const tenant = await tenantToChange(env, name, calls)
  const since = tenant.suspension?.state === 'suspended' ? tenant.suspension.since : now()
  const suspension: Suspension = { state: 'suspended', reason, since }
  await changeTenant(env, tenant, { suspension }, calls)
  return { ...tenant, suspension }
}

/**
 * Stops all reads and writes of the suspended tenant's databases, even by isolates that do not know of the suspension. Call it
 * after `KNOWN_EVERYWHERE_MS`, so that the result of a running delivery is stored and the delivery is not made twice.
 */
export const closeDatabases = (env: Env, tenant: Tenant): Promise<void> =>
  runInEachDatabase(env, tenant, setFence(tenant, 'suspended'), noCalls())

/**
 * Serves the tenant again, everywhere within 5 s. Work that fell due meanwhile begins within two minutes. Abandons an unfinished
 * move to another environment. Throws the errors of `suspendTenant`, and also 409 during a restore, while the tenant is being
 * moved here, or when its amounts may be in former units.
 */
export async function resumeTenant(env: Env, name: string, calls: Calls = noCalls()): Promise<Tenant> {
  const tenant = await tenantToChange(env, name, calls)
  if (tenant.suspension?.state === 'formerUnits')
    throw wrongState(`The tenant '${name}' cannot be served: ${tenant.suspension.reason}`)
  const operation = await operationOf(env, tenant, calls)
  const isLeaving = operation?.kind === 'move' && operation.direction === 'out'
  if (operation && !isLeaving)
    throw wrongState(
      `A ${operation.kind} of the tenant '${name}' is in progress. Run its command again, and it continues where it stopped.`,
    )
  await openDatabases(env, tenant, calls)
  return await serveAgain(env, tenant, calls)
}

/** Returns the restore or move in progress. */
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

/** Allows reads and writes again in databases that `closeDatabases` closed. The tenant stays suspended until `serveAgain`. */
export const openDatabases = (env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<void> =>
  runInEachDatabase(env, tenant, setFence(tenant, 'serving'), calls)

/** Its databases must be open. Ends the tenant's operation. */
export async function serveAgain(env: Env, tenant: Tenant, calls: Calls = noCalls()): Promise<Tenant> {
  await changeTenant(env, tenant, { suspension: null, operation: null, isWaking: true }, calls)
  const { suspension: _, ...served } = tenant
  return served
}

/**
 * Serves a tenant that is marked for amounts in former minor units, everywhere within 5 s. The operator confirms that it holds no
 * money. A tenant that was suspended stays suspended. Its objects look again within a minute. Throws the errors of
 * `suspendTenant`.
 */
export async function acceptUnits(env: Env, name: string): Promise<Tenant> {
  const calls = noCalls()
  const tenant = await tenantToChange(env, name, calls)
  await changeTenant(env, tenant, { formerUnits: null }, calls)
  return await tenantNamed(env, name, calls)
}

/** Reads the control database. Throws 404 if there is no such tenant. */
export async function tenantNamed(env: Env, name: string, calls: Calls): Promise<Tenant> {
  const tenant = await readTenant(env, { name }, calls)
  if (!tenant) throw notFound('tenant', name)
  return tenant
}

/** Throws 404 if there is no such tenant, and 409 if it has moved away. */
export async function tenantToChange(env: Env, name: string, calls: Calls): Promise<Tenant> {
  const tenant = await tenantNamed(env, name, calls)
  if (tenant.suspension?.state === 'moved')
    throw wrongState(`The tenant '${name}' has moved: ${tenant.suspension.reason}`)
  return tenant
}

/** Sets columns of the tenant's row, without checking it. Takes one round trip. In effect everywhere within 5 s. */
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
