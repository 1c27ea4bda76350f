// A tenant of examples/motor into which tests migrate books.
import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { callOk } from './api.ts'
import { prepareDatabases } from './databases.ts'
import { type Motor, motorTenant } from './motor.ts'

const INTERVAL_MS = 20

/** Polls the migration at the path until it leaves the states `submitted` and `processing`. Fails after `longestMs`. */
export async function settledMigration(
  path: string,
  token: string,
  longestMs = 12_000,
): Promise<MigrationResponse> {
  for (let waited = 0; waited < longestMs; waited += INTERVAL_MS) {
    const migration = await callOk<MigrationResponse>('GET', path, { token })
    if (!['submitted', 'processing'].includes(migration.migrationState)) return migration
    await new Promise(resolve => setTimeout(resolve, INTERVAL_MS))
  }
  throw new Error('The migration does not end.')
}

/** A tenant in separate databases. `token` is that of its administrator, `root` the path of its migrations. */
export async function migratingTenant(
  suffix: string,
): Promise<{ motor: Motor; token: string; root: string }> {
  await prepareDatabases({ tenants: 1 })
  const motor = await motorTenant(suffix)
  const token = await motor.signIn('anna.admin')
  return { motor, token, root: `/migration/${motor.tenantLocator}/migrations` }
}
