import { env } from 'cloudflare:workers'
import {
  bindingTarget,
  migrateAll,
  newestMigration,
  readMigrations,
} from '../../src/platform/database/migrations.ts'
// Tests that call a part of the service directly need what the Worker registers, too.
import '../../src/wiring.ts'
import { migratedDatabases } from './fresh-start/memory.ts'

const sql = (files: Record<string, unknown>) => files as Record<string, string>
const controlFiles = sql(
  import.meta.glob('../../migrations/control/*.sql', { query: '?raw', import: 'default', eager: true }),
)
const tenantFiles = sql(
  import.meta.glob('../../migrations/tenant/*.sql', { query: '?raw', import: 'default', eager: true }),
)

/** Name of the n-th database of the pool: 1 is `TENANT_001`. */
export const poolBinding = (number: number): string => `TENANT_${String(number).padStart(3, '0')}`

/** A database of the environment by its binding. */
export function boundDatabase(binding: string): D1Database {
  const client = (env as unknown as Record<string, D1Database | undefined>)[binding]
  if (!client) throw new Error(`${binding} is not bound.`)
  return client
}

/**
 * Migrates the control database and the first `tenants` databases of the pool, and registers these as free.
 * Called in `beforeAll`: every test file has databases of its own, empty at first.
 */
export async function prepareDatabases({ tenants }: { tenants: number }): Promise<void> {
  const control = await readMigrations(controlFiles)
  const tenant = await readMigrations(tenantFiles)
  await migrateAll([bindingTarget('CONTROL', env.CONTROL)], control, 1, { done() {} })
  const bindings = Array.from({ length: tenants }, (_, at) => poolBinding(at + 1))
  for (const binding of ['CONTROL', ...bindings]) migratedDatabases.add(binding)
  await migrateAll(
    bindings.map(binding => bindingTarget(binding, boundDatabase(binding))),
    tenant,
    8,
    { done() {} },
  )
  const register = env.CONTROL.prepare(
    `insert into pool_database (binding, state, migration) values (?, 'free', ?) on conflict (binding) do nothing`,
  )
  if (bindings.length > 0)
    await env.CONTROL.batch(bindings.map(binding => register.bind(binding, newestMigration(tenant))))
}

/** The number that the shard's next lease begins with; 0 before the first. */
export const nextNumber = async (client: D1Database): Promise<number> =>
  Number((await client.prepare('select next from number_sequence').first('next')) ?? 0)
