// Grouping accounts that are recorded together.
import { describe, expect, it } from 'vitest'
import { accountsBeforeRepeatedId, portionsOf } from '../../src/servicing/migration/run/run.ts'
import type { MigrationAccount } from '../../src/servicing/migration/store.ts'

const account = (ordinal: number, more: Partial<MigrationAccount> = {}): MigrationAccount => ({
  ...({ ordinal, originalId: `A${ordinal}`, state: 'pending', source: 'body', start: 0 } as MigrationAccount),
  length: 20_000,
  totalItems: 30,
  tries: 0,
  ...more,
})

const accounts = (count: number, more: Partial<MigrationAccount> = {}) =>
  Array.from({ length: count }, (_, at) => account(at, more))

const ordinals = (all: readonly MigrationAccount[], most = 1_000_000): number[][] =>
  portionsOf(all, most).map(portion => portion.map(one => one.ordinal))

const sizes = (all: readonly MigrationAccount[]): number[] => ordinals(all).map(one => one.length)

describe('accounts that are recorded together', () => {
  it('are sixteen consecutive ones', () => {
    expect(ordinals(accounts(35)).flat()).toEqual(Array.from({ length: 35 }, (_, at) => at))
    expect(sizes(accounts(35))).toEqual([16, 16, 3])
  })

  it('are fewer if they have many items or are long', () => {
    expect(sizes(accounts(7, { totalItems: 200 }))).toEqual([3, 3, 1])
    expect(sizes(accounts(5, { length: 500_000 }))).toEqual([2, 2, 1])
    expect(sizes([account(0), account(1, { totalItems: 5_000 }), account(2), account(3)])).toEqual([1, 1, 2])
  })

  it('are a single one if it was started before', () => {
    const all = [
      account(0),
      account(1),
      account(2, { tries: 1 }),
      account(3, { tries: 4 }),
      account(4),
      account(5),
    ]
    expect(ordinals(all)).toEqual([[0, 1], [2], [3], [4, 5]])
  })

  it('are limited to a number of items per alarm, but at least one account', () => {
    expect(ordinals(accounts(100), 100).flat()).toHaveLength(4)
    expect(ordinals([account(0, { totalItems: 5_000 }), account(1)], 100)).toEqual([[0]])
  })

  it('have different ids: a second account of an id waits for the first', () => {
    const all = [account(0), account(1), account(2, { originalId: 'A0' }), account(3)]
    const kept = (
      claimed: [string, string][] = [],
      type: 'fullMigration' | 'addAccountItems' = 'fullMigration',
    ) => accountsBeforeRepeatedId(all, { type }, new Map(claimed)).map(one => one.ordinal)
    expect(kept()).toEqual([0, 1])
    // Both will fail because the id is taken.
    expect(kept([['A0', 'somebody']])).toEqual([0, 1, 2, 3])
    expect(kept([], 'addAccountItems')).toEqual([0, 1, 2, 3])
  })
})
