// How the bench judges whether memory grows with a migrated book.
import { describe, expect, it } from 'vitest'
import { assertFlat, growthOf } from '../../bench/migration/growth.ts'

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
    const growth = growthOf(looks((accounts, at) => (accounts < 3_000 ? 28 : 53) + UNDER_WAY[at]!))
    expect(Math.abs(growth!)).toBeLessThan(12)
    expect(() => assertFlat({ growth })).not.toThrow()
  })

  it('is not where three kilobytes of each account are kept', () => {
    const growth = growthOf(looks((accounts, at) => 28 + accounts * 0.003 + UNDER_WAY[at]!))
    expect(growth).toBeGreaterThan(15)
    expect(() => assertFlat({ growth })).toThrow('The heap grew with the book')
  })

  it('is not judged by a few looks', () => {
    const growth = growthOf(looks(accounts => accounts).slice(0, 8))
    expect(growth).toBeUndefined()
    expect(() => assertFlat({ growth })).not.toThrow()
  })
})
