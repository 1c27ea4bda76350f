import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { callOk } from './api.ts'

const INTERVAL_MS = 20

/** Reads the migration at the path until it is in a state that only somebody's doing ends; fails when it does not come to one. */
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
