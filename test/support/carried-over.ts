// A tenant's export, told as accounts of a migration, and migrated into another tenant.
import { expect } from 'vitest'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import {
  type AuxDataRecord,
  type ToldAccount,
  toldAccount,
} from '../../src/reporting/export/account/account.ts'
import { differencesNow } from '../../src/reporting/export/account/compare.ts'
import type { DisbursementRecord } from '../../src/reporting/export/account/money.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import type {
  AccountMigrationIdMappingsResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import { callApi, callOk } from './api.ts'
import { settledMigration } from './settled-migration.ts'

/** All records of a kind, page after page. */
export async function exported<T>(token: string, kind: string): Promise<T[]> {
  const found: T[] = []
  for (let query = ''; ; ) {
    const { body } = await callApi<string>('GET', `/export/${kind}/records${query}`, { token })
    const lines = body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    const last = lines.pop()
    found.push(...lines.map(one => one.record as T))
    if (last.kind === 'end') return found
    query = `?pagingToken=${last.pagingToken}`
  }
}

/** Every policyholder of a tenant with its policies, as `bindery import` tells it. */
export async function told(token: string): Promise<ToldAccount[]> {
  const policies = await exported<PolicyRecord>(token, 'policies')
  const disbursements = await exported<DisbursementRecord & { policyholderLocator: string }>(
    token,
    'disbursements',
  )
  const auxData = await exported<AuxDataRecord>(token, 'auxData')
  return (await exported<PolicyholderResponse>(token, 'policyholders')).map(holder => {
    const own = policies.filter(one => one.policyholderLocator === holder.locator)
    return toldAccount({
      holder,
      policies: own,
      disbursements: disbursements.filter(one => one.policyholderLocator === holder.locator),
      auxData: auxData.filter(one => own.some(({ locator }) => locator === one.locator)),
    })
  })
}

type Target = { readonly tenantLocator: string; readonly token: string }

const migrationsOf = ({ tenantLocator }: Target): string => `/migration/${tenantLocator}/migrations`

/** The migration when it has ended, which must be within `longestMs` milliseconds. */
export async function migrate(
  accounts: readonly ToldAccount[],
  to: Target,
  longestMs = 60_000,
): Promise<MigrationResponse> {
  const { locator } = await callOk<{ locator: string }>('POST', migrationsOf(to), {
    token: to.token,
    body: accounts.map(one => one.request),
  })
  return settledMigration(`${migrationsOf(to)}/${locator}`, to.token, longestMs)
}

/** Locators of the policies that a migration made, each with that of the policy it was made from. */
export async function originalsOf(migration: string, to: Target): Promise<Map<string, string>> {
  const { items } = await callOk<{ items: AccountMigrationIdMappingsResponse[] }>(
    'GET',
    `${migrationsOf(to)}/${migration}/mappings/list?count=100`,
    { token: to.token },
  )
  return new Map(
    items.flatMap(one =>
      Object.entries(one.policies).map(([made, { originalId }]) => [made, originalId] as const),
    ),
  )
}

/**
 * Expects every policy of the tenant, of which there must be `count`, to be as of now what it was made from. `names` has names
 * of the originals by locator.
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
    expect([name, differencesNow(before.get(original)!, record)]).toEqual([name, []])
  }
}
