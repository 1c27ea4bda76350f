// How the bench judges whether memory grows with a migrated book.
import { describe, expect, it } from 'vitest'
import { assertFlat, growthOf } from '../../tools/bench/migration/growth.ts'

/** Looks at each fifteenth of 10,000 accounts, as a service would have them whose heap is so at each account. */
const looks = (megabytes: (accounts: number, at: number) => number) =>
  Array.from({ length: 15 }, (_, at) => {
    const accounts = Math.round(((at + 1) * 10_000) / 15)
    return { accounts, megabytes: megabytes(accounts, at) }
  })

/** As looks differ that are made in the midst of work. */
const UNDER_WAY = [3, -4, 0, 9, -6, 2, 7, -3, 5, -8, 1, 4, -5, 6, -2]

describe('memory over a book', () => {
  it('is flat where it steps up once while the service warms up, whatever is under way at each look', () => {
    const growth = growthOf(
      looks((accounts, at) => (accounts < 2_000 ? 28 : 53) + UNDER_WAY[at]!),
      51,
    )
    expect(Math.abs(growth!)).toBeLessThan(12)
    expect(() => assertFlat({ growth })).not.toThrow()
  })

  it('is flat where much is in use at the end that is let go of then', () => {
    const growth = growthOf(
      looks((accounts, at) => (accounts < 8_000 ? 32 : 90) + UNDER_WAY[at]!),
      34,
    )
    expect(() => assertFlat({ growth })).not.toThrow()
  })

  it('is not where four kilobytes of each account are kept', () => {
    const kept = (accounts: number) => 28 + accounts * 0.004
    const growth = growthOf(
      looks((accounts, at) => kept(accounts) + UNDER_WAY[at]!),
      kept(10_000),
    )
    expect(growth).toBeGreaterThan(15)
    expect(() => assertFlat({ growth })).toThrow('The heap grew with the book')
  })

  it('is not judged by a few looks, nor without one at the end', () => {
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
