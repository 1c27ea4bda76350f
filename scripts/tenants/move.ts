// Moves a tenant to another environment: suspends it, copies its databases and files, closes the place that it leaves, and only
// then serves it in the other one. An interrupted run can be continued. The tenant keeps its locator, so that everything named or
// sealed by it still fits.
import { and, eq } from 'drizzle-orm'
import { hostNameOf } from '../../src/access/tenant-names.ts'
import { countText } from '../../src/kernel/text.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { openDatabase, type Query } from '../../src/platform/database.ts'
import {
  allowedOrigins,
  deployments,
  pool,
  revocations,
  shards,
  type TenantOperation,
  tenants,
} from '../../src/platform/tenancy/control-tables.ts'
import { closeFence } from '../../src/platform/tenancy/fence.ts'
import {
  controlDatabase,
  filesPrefix,
  readTenant,
  shardClient,
  type Tenant,
  tenantFiles,
} from '../../src/platform/tenancy.ts'
import { copyDatabase, copyFiles } from '../../src/tenants/copy.ts'
import { continueAfter, readIssuedNumbers } from '../../src/tenants/restore.ts'
import { admitTenant } from '../../src/tenants/service.ts'
import {
  changeTenant,
  openDatabases,
  operationOf,
  runInEachDatabase,
  serveAgain,
} from '../../src/tenants/suspension.ts'
import { apiHost, type Environment, secretsFile } from '../environments.ts'
import { suspend } from './suspend.ts'

/** An environment with its stores. */
export type Side = { readonly env: Env; readonly environment: Environment }

type Say = (line: string) => void

/** Moves the tenant and serves it in the other environment. */
export async function moveTenant(from: Side, to: Side, name: string, say: Say): Promise<void> {
  if (from.environment.name === to.environment.name)
    throw new Error(`${name} is in ${to.environment.name} already.`)
  const known = await readTenant(from.env, { name }, noCalls())
  if (!known) throw new Error(`There is no tenant '${name}' in ${from.environment.name}.`)
  const arrived = await arrival(from, to, known)
  if (known.suspension?.state === 'moved') {
    if (!arrived) throw new Error(`${name} has moved: ${known.suspension.reason}`)
    return await serve(to, arrived, say)
  }
  await requireNoOtherOperation(from, to, known, arrived)
  await requireSecrets(from, to)
  if (!arrived) await requireRoom(to, known)

  const target = apiHost(to.environment)
  const tenant = await suspend(from.env, name, `it moves to ${target}.`, say)
  await changeTenant(from.env, tenant, { operation: moving('out', to) }, noCalls())
  const admitted = arrived ?? (await insertMovedTenant(from, to, tenant))
  await copySettings(from, to, tenant)
  for (const [shard, binding] of tenant.shards.entries()) {
    const source = shardClient(from.env, tenant, shard).client
    const copy = shardClient(to.env, admitted, shard).client
    const rows = await copyDatabase(source, copy)
    const database = openDatabase(copy, noCalls())
    const givenOutThere = await readIssuedNumbers(openDatabase(source, noCalls()))
    await database.batch(continueAfter(database, givenOutThere))
    say(`${binding} is copied to ${admitted.shards[shard]}: ${countText(rows, 'row')}`)
  }
  const files = await copyFiles(
    tenantFiles(from.env, tenant),
    tenantFiles(to.env, admitted),
    filesPrefix(tenant),
  )
  say(`${countText(files, 'file')} copied`)

  // The former place is closed before the new one opens, so that the tenant is never served twice.
  await runInEachDatabase(from.env, tenant, closeFence(tenant), noCalls())
  const suspension = {
    ...tenant.suspension!,
    state: 'moved' as const,
    reason: `it is served at https://${target}.`,
  }
  await changeTenant(from.env, tenant, { suspension, operation: null }, noCalls())
  await serve(to, admitted, say)
  say(
    `npm run tenant -- delete ${name} --environment ${from.environment.name} removes its former databases and files`,
  )
}

const moving = (direction: 'in' | 'out', { environment }: Side): TenantOperation => ({
  kind: 'move',
  direction,
  environment: environment.name,
})

async function serve({ env, environment }: Side, tenant: Tenant, say: Say): Promise<void> {
  await openDatabases(env, tenant)
  await serveAgain(env, tenant)
  say(
    `${tenant.name} is served at https://${apiHost(environment)}; users sign in with the host name ${tenant.hostName}`,
  )
}

/** Returns the tenant in the other environment, if an earlier run has begun to move it there. */
async function arrival(from: Side, to: Side, { locator }: Tenant): Promise<Tenant | undefined> {
  const there = await readTenant(to.env, { locator }, noCalls())
  if (!there) return undefined
  const operation = await operationOf(to.env, there)
  if (
    operation?.kind === 'move' &&
    operation.direction === 'in' &&
    operation.environment === from.environment.name
  )
    return there
  throw leftoverError(to, there)
}

/** Throws if another operation is in progress. A copy that was begun can only continue while nothing has changed since. */
async function requireNoOtherOperation(
  from: Side,
  to: Side,
  tenant: Tenant,
  arrived: Tenant | undefined,
): Promise<void> {
  const operation = await operationOf(from.env, tenant)
  const isSame = operation?.kind === 'move' && operation.environment === to.environment.name
  if (operation && !isSame)
    throw new Error(`A ${operation.kind} of ${tenant.name} is in progress. Finish it first.`)
  if (arrived && !isSame) throw leftoverError(to, tenant)
}

const leftoverError = ({ environment: { name: there } }: Side, { name }: Tenant): Error =>
  new Error(
    `${there} has ${name} from an earlier move. Remove it first: npm run tenant -- delete ${name} --environment ${there}.`,
  )

/**
 * Requires that the other environment knows the secrets with which passwords were hashed and values sealed, because both are
 * copied unchanged.
 */
async function requireSecrets(from: Side, to: Side): Promise<void> {
  const [here, there] = await Promise.all([checksOf(from), checksOf(to)])
  const file = secretsFile(to.environment.name)
  if (here.peppers.some(check => !there.peppers.includes(check)))
    throw new Error(
      `Passwords of ${from.environment.name} could not be verified there. Append its PASSWORD_PEPPER to the one in ${file}, after a comma, and deploy ${to.environment.name}.`,
    )
  if (here.keys.some(check => !there.keys.includes(check)))
    throw new Error(
      `Sealed values of ${from.environment.name} could not be decrypted there. Insert its SEALING_KEY into the one in ${file}, between the first and the last key (change a single key K to K,ADDED,K), and deploy ${to.environment.name}.`,
    )
}

async function checksOf({ env, environment }: Side): Promise<{ peppers: string[]; keys: string[] }> {
  const control = controlDatabase(env, noCalls())
  const [[row]] = await control.batch([control.build.select().from(deployments)])
  if (!row?.pepperCheck || !row.sealingCheck)
    throw new Error(
      `${environment.name} has no check values of its secrets yet. Run npm run deploy to note them.`,
    )
  return { peppers: row.pepperCheck.split(','), keys: row.sealingCheck.split(',') }
}

/** Requires that no former copy of the tenant is being wiped there: its files have the same names as the new ones. */
async function requireRoom({ env, environment }: Side, { locator, name }: Tenant): Promise<void> {
  const control = controlDatabase(env, noCalls())
  const [rows] = await control.batch([
    control.build
      .select({ binding: pool.binding })
      .from(pool)
      .where(and(eq(pool.state, 'returned'), eq(pool.formerTenant, locator))),
  ])
  if (rows.length > 0)
    throw new Error(
      `${environment.name} is still wiping what ${name} left there. Try again in a few minutes.`,
    )
}

/** Adds the tenant's row, suspended, with empty databases. Its tokens end. */
async function insertMovedTenant(from: Side, to: Side, { locator, name, shards }: Tenant): Promise<Tenant> {
  const control = controlDatabase(from.env, noCalls())
  const [[row]] = await control.batch([
    control.build.select().from(tenants).where(eq(tenants.locator, locator)),
  ])
  const { tokenEpoch, ...kept } = row!
  const hostName = hostNameOf(to.env, name)
  const changes = { hostName, tokenEpoch: tokenEpoch + 1, operation: moving('in', from) }
  return await admitTenant(to.env, { ...kept, ...changes }, shards.length)
}

/** Copies what the control database has of the tenant in addition to its row. */
async function copySettings(from: Side, to: Side, { locator }: Tenant): Promise<void> {
  const source = controlDatabase(from.env, noCalls())
  const [origins, revoked, places] = await source.batch([
    source.build.select().from(allowedOrigins).where(eq(allowedOrigins.tenantLocator, locator)),
    source.build.select().from(revocations).where(eq(revocations.tenantLocator, locator)),
    source.build.select().from(shards).where(eq(shards.tenantLocator, locator)),
  ])
  const control = controlDatabase(to.env, noCalls())
  const queries: Query[] = [
    // A key from before the move still leads to the same shard.
    ...places.map(({ number, opensAt, closesAt }) =>
      control.build
        .update(shards)
        .set({ opensAt, closesAt })
        .where(and(eq(shards.tenantLocator, locator), eq(shards.number, number))),
    ),
    ...origins.map(origin => control.build.insert(allowedOrigins).values(origin).onConflictDoNothing()),
    ...revoked.map(one => control.build.insert(revocations).values(one).onConflictDoNothing()),
  ]
  await control.batch(queries as [Query, ...Query[]])
}
