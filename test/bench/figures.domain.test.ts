import { describe, expect, test } from 'vitest'
import { median, mostCommon, quantile } from '../../tools/bench/figures.ts'

describe('median', () => {
  test('returns the middle value, in any order', () => {
    expect(median([9, 1, 5])).toBe(5)
  })

  test('returns the mean of the middle two of an even number of values', () => {
    expect(median([4, 1, 2, 10])).toBe(3)
  })

  test('throws for no values', () => {
    expect(() => median([])).toThrow('at least one value')
  })
})

describe('quantile', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at)

  test('for 0.99 is the value that one in a hundred exceeds', () => {
    expect(quantile(hundred, 0.99)).toBe(99)
  })

  test('for 0.99 is the largest of a few values', () => {
    expect(quantile([3, 1, 2], 0.99)).toBe(3)
  })

  test('for 0 is the smallest value', () => {
    expect(quantile([3, 1, 2], 0)).toBe(1)
  })
})

test('mostCommon returns the most frequent value, or the earliest of several', () => {
  expect(mostCommon(['b', 'a', 'a'])).toBe('a')
  expect(mostCommon(['b', 'a', 'a', 'b'])).toBe('b')
})
