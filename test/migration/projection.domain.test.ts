// Progress derived from rows: the rate since a migration began or was last resumed, the estimated time left, and the mappings of
// ids.
import { expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { mappingsResponse, migrationResponse } from '../../src/servicing/migration/reading.ts'
import type { MappingRow, Migration, MigrationAccount } from '../../src/servicing/migration/store.ts'

const BEGAN = Date.UTC(2026, 10, 22) as Instant

const migration: Migration = {
  locator: newUuid(0),
  state: 'processing',
  type: 'fullMigration',
  validateOnly: false,
  totalAccounts: 1_000,
  createdAt: BEGAN,
  createdBy: newUuid(0),
  username: 'anna',
  updatedAt: BEGAN,
  runningSince: BEGAN,
  doneBefore: 0,
}
const told = (changes: Partial<Migration>, done: number, afterMs: number) => {
  const counts = { pending: 999 - done, processing: 1, completed: done - 10, failed: 9, error: 1 }
  const { accountsPerSecond, secondsLeft } = migrationResponse(
    { ...migration, ...changes },
    counts,
    (BEGAN + afterMs) as Instant,
  )
  return [accountsPerSecond, secondsLeft]
}

it('the rate counts all processed accounts per second, and the estimate uses that rate', () => {
  expect(told({}, 100, 8_000)).toEqual([12.5, 72])
  expect(told({}, 999, 30_000)).toEqual([33.3, 1])
  expect(told({ doneBefore: 400 }, 500, 7_000)).toEqual([14.29, 35])
})

it('the rate is zero, without an estimate, until an account is processed after a resume', () => {
  expect(told({ doneBefore: 100 }, 100, 5_000)).toEqual([0, undefined])
  expect(told({ doneBefore: 90 }, 100, 0)).toEqual([10_000, 1])
})

it.each(['submitted', 'paused', 'finished', 'failed', 'error'] as const)(
  'there is no rate and no estimate while the migration is %s',
  state => {
    expect(told({ state, runningSince: null }, 100, 8_000)).toEqual([undefined, undefined])
  },
)

it('mappings show every part of an item by id, even if several in one place have the same id', () => {
  const account = { accountLocator: newUuid(0), migrationLocator: newUuid(0), originalId: 'A1' }
  const children = [
    { originalId: '1', locator: 'item' },
    { originalId: '1', locator: 'other item' },
    { originalId: '2', locator: 'element', children: [{ originalId: '1', locator: 'inner' }] },
  ]
  const row = { kind: 'policies', originalId: 'P1', locator: 'policy', children, migratedAt: BEGAN }
  const treeOf = (by: 'locator' | 'originalId') =>
    Object.values(
      mappingsResponse(account as MigrationAccount, [row as unknown as MappingRow], by).policies,
    )[0]!.childrenMappings
  const names = (tree: ReturnType<typeof treeOf>) =>
    Object.entries(tree).map(([key, one]) => [key, one.originalId, one.locator])
  expect(names(treeOf('originalId'))).toEqual([
    ['1', '1', 'item'],
    ['2', '2', 'element'],
    ['1[1]', '1', 'other item'],
  ])
  expect(names(treeOf('locator')).map(([key]) => key)).toEqual(['item', 'other item', 'element'])
  expect(names(treeOf('originalId')['2']!.childrenMappings)).toEqual([['1', '1', 'inner']])
})
