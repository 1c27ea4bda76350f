import { describe, expect, test } from 'vitest'
import { median, mostCommon, quantile } from '../../tools/bench/figures.ts'

describe('the median', () => {
  test('is the middle value, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
  })

  test('of an even number of values lies between the middle two', () => {
    expect(median([4, 1, 2, 10])).toBe(3)
  })

  test('of no values does not exist', () => {
    expect(() => median([])).toThrow('No values')
  })
})

describe('a quantile', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at)

  test('of 99 in 100 leaves one value above it', () => {
    expect(quantile(hundred, 0.99)).toBe(99)
  })

  test('of a few values is the largest', () => {
    expect(quantile([3, 1, 2], 0.99)).toBe(3)
  })

  test('of nothing is the least value', () => {
    expect(quantile([3, 1, 2], 0)).toBe(1)
  })
})

test('the most common value is found, and the earliest of several', () => {
  expect(mostCommon(['b', 'a', 'a'])).toBe('a')
  expect(mostCommon(['b', 'a', 'a', 'b'])).toBe('b')
})
