// How the benchmark judges whether memory grows with a migrated book.
import { describe, expect, it } from 'vitest'
import { assertFlat, growthOf } from '../../tools/bench/migration/growth.ts'

/** Samples the heap after each fifteenth of 10,000 accounts. */
const looks = (megabytes: (accounts: number, at: number) => number) =>
  Array.from({ length: 15 }, (_, at) => {
    const accounts = Math.round(((at + 1) * 10_000) / 15)
    return { accounts, megabytes: megabytes(accounts, at) }
  })

/** Differences between samples that are taken in the middle of work. */
const UNDER_WAY = [3, -4, 0, 9, -6, 2, 7, -3, 5, -8, 1, 4, -5, 6, -2]

describe('Memory during the migration of a book', () => {
  it('is flat when it rises once while the service warms up, whatever runs during each sample', () => {
    const growth = growthOf(
      looks((accounts, at) => (accounts < 2_000 ? 28 : 53) + UNDER_WAY[at]!),
      51,
    )
    expect(Math.abs(growth!)).toBeLessThan(12)
    expect(() => assertFlat({ growth })).not.toThrow()
  })

  it('is flat when much is in use near the end and is released then', () => {
    const growth = growthOf(
      looks((accounts, at) => (accounts < 8_000 ? 32 : 90) + UNDER_WAY[at]!),
      34,
    )
    expect(() => assertFlat({ growth })).not.toThrow()
  })

  it('is not flat when four kilobytes of each account are kept', () => {
    const kept = (accounts: number) => 28 + accounts * 0.004
    const growth = growthOf(
      looks((accounts, at) => kept(accounts) + UNDER_WAY[at]!),
      kept(10_000),
    )
    expect(growth).toBeGreaterThan(15)
    expect(() => assertFlat({ growth })).toThrow('The heap grew with the book')
  })

  it('is not judged from a few samples, nor without one at the end', () => {
    const few = looks(accounts => accounts).slice(0, 8)
    expect(growthOf(few, 10_000)).toBeUndefined()
    expect(
      growthOf(
        looks(() => 30),
        undefined,
      ),
    ).toBeUndefined()
    expect(() => assertFlat({ growth: undefined })).not.toThrow()
  })
})
