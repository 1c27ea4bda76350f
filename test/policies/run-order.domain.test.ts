// Runs are read in the order of their creation, in which amounts are shared out.
import { expect, it } from 'vitest'
import { type PolicyLocator, type Uuid, uuidOfPolicy } from '../../src/kernel/locators.ts'
import { readAggregates } from '../../src/policy/store/aggregates.ts'
import { COLLECTION_NAMES } from '../../src/policy/store/rows.ts'

const POLICY = 100_000_064 as PolicyLocator

const older = (last: string): string => `01a21617-4db0-7000-8000-${last.padStart(12, '0')}`

const peril = (locator: string, displayId: number) => ({ locator, displayId, policyLocator: POLICY })

const run = (locator: string, perilLocator: string, createdAt: number, start = 0) => ({
  locator,
  perilLocator,
  createdAt,
  start,
  policyLocator: POLICY,
  monthPremium: null,
  premium: null,
  price: null,
  splits: null,
})

function read(perils: object[], perilRuns: object[]): Uuid[] {
  const rows: Record<string, object[]> = { perils, perilRuns }
  const policy = { locator: POLICY, currency: 'EUR' }
  const [aggregate] = readAggregates([[policy], ...COLLECTION_NAMES.map(name => rows[name] ?? [])])
  return [...aggregate!.perilRuns.keys()]
}

it('runs of one commit of an earlier release, whose locators do not rise, are in the order of the perils', () => {
  const [fire, theft] = [older('f'), older('a')]
  const perils = [peril(fire, 1), peril(theft, 2)]
  const made = [
    run(older('9'), fire, 1, 0),
    run(older('3'), fire, 1, 5),
    run(older('7'), theft, 1),
    run(older('1'), fire, 2),
    run(older('0'), theft, 2),
  ]
  const stored = made.toSorted((a, b) => (a.locator < b.locator ? -1 : 1))
  expect(read(perils, stored)).toEqual(made.map(({ locator }) => locator))
})

it('runs of this release are in the order of their locators, after all older ones', () => {
  const perils = [peril(older('f'), 1), peril(older('a'), 2)]
  const [first, second] = [uuidOfPolicy(POLICY), uuidOfPolicy(POLICY)]
  const stored = [run(first, older('a'), 3), run(second, older('f'), 3), run(older('5'), older('f'), 1)]
  expect(read(perils, stored)).toEqual([older('5'), first, second])
  expect(read(perils, stored.slice(0, 2))).toEqual([first, second])
})
