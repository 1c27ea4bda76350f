// Turns a tenant's export into the accounts of a migration, and migrates them into another tenant.
import { expect } from 'vitest'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import {
  type AccountMigration,
  type AuxDataRecord,
  migrationOfAccount,
} from '../../src/reporting/export/account/account.ts'
import { currentDifferences } from '../../src/reporting/export/account/compare.ts'
import type { DisbursementRecord } from '../../src/reporting/export/account/money.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import type {
  AccountMigrationIdMappingsResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import { callApi, callOk } from './api.ts'
import { settledMigration } from './settled-migration.ts'

/** Returns all exported records of a kind, over all pages. */
export async function exported<T>(token: string, kind: string): Promise<T[]> {
  const found: T[] = []
  for (let query = ''; ; ) {
    const { body } = await callApi<string>('GET', `/export/${kind}/records${query}`, { token })
    const lines = body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    const last = lines.pop()
    found.push(...lines.map(line => line.record as T))
    if (last.kind === 'end') return found
    query = `?pagingToken=${last.pagingToken}`
  }
}

/** Returns each policyholder of a tenant with its policies as an account to migrate, as `bindery import` does. */
export async function exportedAccounts(token: string): Promise<AccountMigration[]> {
  const policies = await exported<PolicyRecord>(token, 'policies')
  const disbursements = await exported<DisbursementRecord & { policyholderLocator: string }>(
    token,
    'disbursements',
  )
  const auxData = await exported<AuxDataRecord>(token, 'auxData')
  return (await exported<PolicyholderResponse>(token, 'policyholders')).map(holder => {
    const own = policies.filter(policy => policy.policyholderLocator === holder.locator)
    return migrationOfAccount({
      holder,
      policies: own,
      disbursements: disbursements.filter(
        disbursement => disbursement.policyholderLocator === holder.locator,
      ),
      auxData: auxData.filter(one => own.some(({ locator }) => locator === one.locator)),
    })
  })
}

type Target = { readonly tenantLocator: string; readonly token: string }

const migrationsOf = ({ tenantLocator }: Target): string => `/migration/${tenantLocator}/migrations`

/** Starts a migration and returns it when it has ended. Fails after `longestMs` milliseconds. */
export async function migrate(
  accounts: readonly AccountMigration[],
  to: Target,
  longestMs = 60_000,
): Promise<MigrationResponse> {
  const { locator } = await callOk<{ locator: string }>('POST', migrationsOf(to), {
    token: to.token,
    body: accounts.map(one => one.request),
  })
  return settledMigration(`${migrationsOf(to)}/${locator}`, to.token, longestMs)
}

/** Maps the locator of each policy that the migration created to that of its original. */
export async function originalsOf(migration: string, to: Target): Promise<Map<string, string>> {
  const { items } = await callOk<{ items: AccountMigrationIdMappingsResponse[] }>(
    'GET',
    `${migrationsOf(to)}/${migration}/mappings/list?count=100`,
    { token: to.token },
  )
  return new Map(
    items.flatMap(item =>
      Object.entries(item.policies).map(([made, { originalId }]) => [made, originalId] as const),
    ),
  )
}

/**
 * Expects the tenant to have `count` policies, each now the same as its original. `names` has the names of originals, by locator.
 */
export async function expectSameNow(
  from: { readonly token: string },
  to: Target,
  { migration, count, names }: { migration: string; count: number; names: Readonly<Record<string, string>> },
): Promise<void> {
  const originals = await originalsOf(migration, to)
  const before = new Map(
    (await exported<PolicyRecord>(from.token, 'policies')).map(one => [one.locator, one]),
  )
  const after = await exported<PolicyRecord>(to.token, 'policies')
  expect(after.length).toBe(count)
  for (const record of after) {
    const original = originals.get(record.locator)!
    const name = names[original] ?? 'migrated before'
    expect([name, currentDifferences(before.get(original)!, record)]).toEqual([name, []])
  }
}
