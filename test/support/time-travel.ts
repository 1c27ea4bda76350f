// Restores a tenant of the service tests as `npm run tenant -- restore` does, with stand-ins for the provider's bookmarks: copies
// of the rows of its databases.
import { env } from 'cloudflare:workers'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { NotedState, RestoreOperation } from '../../src/platform/tenancy/control-tables.ts'
import { forgetTenants, readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { mendShard, noteShard, type Undone } from '../../src/tenants/restore.ts'
import {
  changeTenant,
  closeDatabases,
  openDatabases,
  serveAgain,
  suspendTenant,
} from '../../src/tenants/suspension.ts'
import { boundDatabase } from './databases.ts'

/** A state of the tenant's databases, at a real time. */
export type Moment = { readonly at: number; readonly bringBack: () => Promise<void> }

/** Maximum number of values in a statement. */
const MOST_VALUES = 100

const quoted = (name: string): string => `"${name}"`

async function rememberDatabase(binding: string): Promise<() => Promise<void>> {
  const database = boundDatabase(binding)
  const { results: tables } = await database
    .prepare(
      `select name, wr from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite%' and substr(name, 1, 1) <> '_'`,
    )
    .all<{ name: string; wr: number }>()
  const remembered = await Promise.all(
    tables.map(async ({ name, wr }) => {
      const order = wr === 1 ? '' : ' order by rowid'
      const { results } = await database.prepare(`select * from ${quoted(name)}${order}`).all()
      return { name, rows: results }
    }),
  )
  return async () => {
    const statements = remembered.flatMap(({ name, rows }) => [
      database.prepare(`delete from ${quoted(name)}`),
      ...rows.map(row => {
        const columns = Object.keys(row)
        if (columns.length > MOST_VALUES) throw new Error(`${name} has more columns than a statement takes.`)
        return database
          .prepare(
            `insert into ${quoted(name)} (${columns.map(quoted).join()}) values (${columns.map(() => '?').join()})`,
          )
          .bind(...Object.values(row))
      }),
    ])
    await database.batch(statements)
  }
}

const tenantOf = async (locator: string): Promise<Tenant> => (await readTenant(env, { locator }, noCalls()))!

/** Remembers the present contents of the tenant's databases. */
export async function rememberTenant(locator: string): Promise<Moment> {
  const { shards } = await tenantOf(locator)
  const back = await Promise.all(shards.map(rememberDatabase))
  const at = now()
  return {
    at,
    async bringBack() {
      for (const one of back) await one()
    },
  }
}

/** Restores the tenant to the moment. Resolves with what was undone, by shard, when the tenant is served again everywhere. */
export async function restoreTo(locator: string, moment: Moment): Promise<Undone[]> {
  const { name, restores = [] } = await tenantOf(locator)
  const tenant = await suspendTenant(env, name, 'it is restored.')
  await closeDatabases(env, tenant)
  const operation: RestoreOperation = {
    kind: 'restore',
    to: moment.at,
    number: restores.length + 1,
    databases: {},
  }
  const noted: NotedState[] = []
  for (const shard of tenant.shards.keys()) noted.push(await noteShard(env, tenant, operation, shard))
  const after = [...restores, { to: moment.at, at: now() }]
  const restored: Tenant = { ...tenant, restores: after }
  await changeTenant(env, tenant, { restores: after }, noCalls())
  await moment.bringBack()
  await closeDatabases(env, restored)
  const undone: Undone[] = []
  for (const [shard, state] of noted.entries())
    undone.push(await mendShard(env, restored, operation, shard, state))
  await openDatabases(env, restored)
  await serveAgain(env, restored)
  // Isolates would know it after TENANT_TRUST_MS. Tests have one, with the service and this module's copy of its code.
  globalThis.forgetTenants?.()
  forgetTenants()
  return undone
}
