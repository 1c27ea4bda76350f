import { beforeAll, expect, it } from 'vitest'
import { shardOfUuid, type Uuid } from '../../src/kernel/locators.ts'
import type {
  AccountMigrationResponse,
  MigrationFailuresResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import { callOk } from '../support/api.ts'
import { addDatabases, boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let root: string
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('shards')
  await addDatabases(motor.tenantLocator, 2, 3)
  token = await motor.signIn('anna.admin')
  root = `/migration/${motor.tenantLocator}/migrations`
})

async function migrated(accounts: readonly object[], query = ''): Promise<MigrationResponse> {
  const { locator } = await callOk<MigrationResponse>('POST', `${root}${query}`, { token, body: accounts })
  for (;;) {
    const migration = await callOk<MigrationResponse>('GET', `${root}/${locator}`, { token })
    if (!['submitted', 'processing'].includes(migration.migrationState)) return migration
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

it('migrations use all shards with their accounts; an id is migrated once, and validateOnly reserves none', async () => {
  const used = new Set<number>()
  for (let round = 0; round < 40 && used.size < 3; round += 1) {
    const accounts = [migratedAccount(`S${round}-0`), migratedAccount(`S${round}-1`)]
    expect(await migrated(accounts, '?validateOnly=true')).toMatchObject({ migrationState: 'finished' })
    const { locator, migrationState } = await migrated(accounts)
    expect(migrationState).toBe('finished')
    const shard = shardOfUuid(locator as Uuid)
    used.add(shard)
    const { items } = await callOk<{ items: AccountMigrationResponse[] }>(
      'GET',
      `${root}/${locator}/accounts/list`,
      {
        token,
      },
    )
    for (const { accountLocator, processedItems } of items) {
      expect([shardOfUuid(accountLocator as Uuid), processedItems]).toEqual([shard, 6])
      const row = await boundDatabase(poolBinding(shard + 1))
        .prepare('select count(*) as n from policy where policyholder_locator = ?')
        .bind(accountLocator)
        .first<{ n: number }>()
      expect(row!.n).toBe(1)
      expect(await callOk('GET', `/policyholder/${accountLocator}`, { token })).toBeDefined()
    }
    const again = await migrated(accounts)
    expect(again).toMatchObject({ migrationState: 'failed', accounts: { failed: 2 } })
    const failures = await callOk<{ items: MigrationFailuresResponse[] }>(
      'GET',
      `${root}/${again.locator}/failures/list`,
      { token },
    )
    expect(failures.items[0]!.accountError!.errors.validationItems[0]!.errors[0]).toContain(
      `is account ${items[0]!.accountLocator}`,
    )
  }
  expect([...used].sort()).toEqual([0, 1, 2])
}, 180_000)
