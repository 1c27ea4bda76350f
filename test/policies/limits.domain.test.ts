// The field values of a policy are limited to 16,000,000 characters of JSON.
import { describe, expect, it } from 'vitest'
import { assertContentFits } from '../../src/policy/limits.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { NeedsWholePolicy } from '../../src/policy/surroundings.ts'

const LIMIT = 16_000_000
/** `{"v":""}` */
const AROUND = 8

const valuesOf = (characters: number): object => ({ v: 'x'.repeat(characters - AROUND) })

const policyOf = (
  runs: readonly object[],
  applications: readonly object[] = [],
  transactions = 1,
): PolicyAggregate =>
  ({
    modifications: new Map(Array.from({ length: transactions }, (_, at) => [at, {}])),
    segments: new Map(),
    perilRuns: new Map(),
    exposureRuns: new Map(runs.map((data, at) => [at, { data }])),
    endorsements: new Map(applications.map((changes, at) => [at, { changes }])),
  }) as unknown as PolicyAggregate

const half = valuesOf(LIMIT / 2)
const UNREAD = { exposures: 500, perils: 1_000 }

describe('The field values of a policy', () => {
  it('can have up to 16,000,000 characters', () => {
    expect(() => assertContentFits(undefined, policyOf([half, valuesOf(LIMIT / 2)]), undefined)).not.toThrow()
    expect(() => assertContentFits(undefined, policyOf([half, valuesOf(LIMIT / 2 + 1)]), undefined)).toThrow(
      `would have ${LIMIT + 1} characters; the limit is ${LIMIT}`,
    )
  })

  it('include those of applications, and the same text in two records counts twice', () => {
    expect(() => assertContentFits(undefined, policyOf([half, half]), undefined)).not.toThrow()
    expect(() => assertContentFits(undefined, policyOf([half, half], [valuesOf(9)]), undefined)).toThrow(
      `would have ${LIMIT + 9} characters`,
    )
  })

  it('that already exceed the limit can stay or shrink, but not grow', () => {
    const before = policyOf([half, half, half])
    expect(() => assertContentFits(before, { ...before }, undefined)).not.toThrow()
    expect(() =>
      assertContentFits(before, policyOf([half, half, valuesOf(LIMIT / 2 - 1)]), undefined),
    ).not.toThrow()
    expect(() =>
      assertContentFits(before, policyOf([half, half, valuesOf(LIMIT / 2 + 1)]), undefined),
    ).toThrow(/limit/)
  })

  it('are all read when more than 100,000 characters are added to a policy that was read in part', () => {
    const before = policyOf([valuesOf(1_000)])
    const withMore = (added: number) => policyOf([valuesOf(1_000), valuesOf(added)])
    expect(() => assertContentFits(before, withMore(100_000), UNREAD)).not.toThrow()
    expect(() => assertContentFits(before, withMore(100_001), UNREAD)).toThrow(NeedsWholePolicy)
    expect(() => assertContentFits(before, withMore(100_001), undefined)).not.toThrow()
  })

  // 100 × 100,000, and then less with the square of the number of transactions: at most 20,000,000 in total.
  it.each([
    { transactions: 100, most: 100_000 },
    { transactions: 200, most: 25_000 },
    { transactions: 1_000, most: 1_000 },
    { transactions: 10_000, most: 10 },
  ])(
    'can grow without being counted by up to $most with transaction $transactions',
    ({ transactions, most }) => {
      const before = policyOf([half], [], transactions - 1)
      const withMore = (added: number) => policyOf([half, valuesOf(added)], [], transactions)
      expect(() => assertContentFits(before, withMore(most), UNREAD)).not.toThrow()
      expect(() => assertContentFits(before, withMore(most + 1), UNREAD)).toThrow(NeedsWholePolicy)
    },
  )
})
