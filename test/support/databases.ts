import { env } from 'cloudflare:workers'
import {
  type Migration,
  migrate,
  newestMigration,
  readMigrations,
} from '../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../src/platform/database/target.ts'
// Tests that call a part of the service directly also need what the Worker registers.
import '../../src/wiring.ts'
import { migratedDatabases } from './fresh-start/memory.ts'

const sql = (files: Record<string, unknown>) => files as Record<string, string>
const controlFiles = sql(
  import.meta.glob('../../migrations/control/*.sql', { query: '?raw', import: 'default', eager: true }),
)
const tenantFiles = sql(
  import.meta.glob('../../migrations/tenant/*.sql', { query: '?raw', import: 'default', eager: true }),
)

/** The binding of the n-th database of the pool. 1 is `TENANT_001`. */
export const poolBinding = (number: number): string => `TENANT_${String(number).padStart(3, '0')}`

/** The database of the environment with this binding. */
export function boundDatabase(binding: string): D1Database {
  const client = (env as unknown as Record<string, D1Database | undefined>)[binding]
  if (!client) throw new Error(`${binding} is not bound.`)
  return client
}

export const tenantMigrations = (): Promise<Migration[]> => readMigrations(tenantFiles)

/**
 * Migrates the control database and the first `tenants` databases of the pool, and registers the latter as free. Called in
 * `beforeAll`, because each test file has its own databases, which are empty at first. `before` leaves out that migration and all
 * later ones.
 */
export async function prepareDatabases({
  tenants,
  before,
}: {
  tenants: number
  before?: string
}): Promise<void> {
  const control = await readMigrations(controlFiles)
  const all = await tenantMigrations()
  const tenant = before === undefined ? all : all.filter(({ name }) => name < before)
  await makeDatabases(['CONTROL'], control)
  const bindings = Array.from({ length: tenants }, (_, at) => poolBinding(at + 1))
  for (const binding of ['CONTROL', ...bindings]) migratedDatabases.add(binding)
  await makeDatabases(bindings, tenant)
  const register = env.CONTROL.prepare(
    `insert into pool_database (binding, state, migration) values (?, 'free', ?) on conflict (binding) do nothing`,
  )
  if (bindings.length > 0)
    await env.CONTROL.batch(bindings.map(binding => register.bind(binding, newestMigration(tenant))))
}

/** By newest migration: one statement that gives an empty database the schema that the migrations would give it. */
const schemas = new Map<string, Promise<string>>()

/**
 * Creates the schema directly: each test file needs databases, some need dozens, and most of what the migrations do is undone by
 * later ones.
 */
async function makeDatabases(bindings: readonly string[], migrations: readonly Migration[]): Promise<void> {
  const [first, ...rest] = bindings
  if (first === undefined) return
  const newest = newestMigration(migrations)
  const migrated = async (binding: string): Promise<void> => {
    await migrate(bindingTarget(binding, boundDatabase(binding)), migrations)
  }
  const made = async (binding: string): Promise<void> => {
    await boundDatabase(binding)
      .prepare(await schemas.get(newest)!)
      .run()
      // The schema already exists.
      .catch(() => migrated(binding))
  }
  if (schemas.has(newest)) return void (await Promise.all(bindings.map(made)))
  await migrated(first)
  schemas.set(newest, schemaOf(boundDatabase(first)))
  await Promise.all(rest.map(made))
}

/** Gives the tenant further databases of the pool, as its shards 1, 2 and so on, with the versions of its configuration. */
export async function addDatabases(tenantLocator: string, ...numbers: number[]): Promise<void> {
  const bindings = numbers.map(poolBinding)
  await env.CONTROL.batch(
    bindings.flatMap((binding, at) => [
      env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, ?, ?)').bind(
        tenantLocator,
        at + 1,
        binding,
      ),
      env.CONTROL.prepare(`update pool_database set state = 'taken' where binding = ?`).bind(binding),
    ]),
  )
  const { results } = await boundDatabase(poolBinding(1)).prepare('select * from configuration_version').all()
  for (const row of results) {
    const columns = Object.keys(row)
    const insertion = `insert into configuration_version (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    for (const binding of bindings)
      await boundDatabase(binding)
        .prepare(insertion)
        .bind(...Object.values(row))
        .run()
  }
}

async function schemaOf(database: D1Database): Promise<string> {
  const { results } = await database
    .prepare(
      `select sql from sqlite_master where sql is not null and substr(name, 1, 7) <> 'sqlite_' and substr(name, 1, 1) <> '_'
       union all select 'insert into migration values (' || quote(name) || ', ' || quote(hash) || ', ' || applied_at || ')'
       from migration`,
    )
    .all<{ sql: string }>()
  return results.map(({ sql }) => `${sql};`).join('\n')
}

/** The number with which the shard's next lease begins. 0 before the first lease. */
export const nextNumber = async (client: D1Database): Promise<number> =>
  Number((await client.prepare('select next from number_sequence').first('next')) ?? 0)
