import { describe, expect, it } from 'vitest'
import { getOrThrow, Memo, memoByObject } from '../../src/kernel/maps.ts'

describe('need', () => {
  it('returns the value of a key, and throws for an unknown key', () => {
    const map = new Map([['a', 1]])
    expect(getOrThrow(map, 'a', 'run')).toBe(1)
    expect(() => getOrThrow(map, 'b', 'run')).toThrow("There is no run 'b'.")
  })
})

describe('Memo', () => {
  it('computes each value once, and drops the oldest when it is full', () => {
    const memo = new Memo<string, number>(2)
    let made = 0
    const make = () => ++made
    expect([memo.getOrMake('a', make), memo.getOrMake('b', make), memo.getOrMake('a', make)]).toEqual([
      1, 2, 1,
    ])
    memo.getOrMake('c', make)
    expect([memo.get('a'), memo.get('b'), memo.get('c')]).toEqual([undefined, 2, 3])
  })

  it('treats a value that is set again as the newest', () => {
    const memo = new Memo<string, number>(2)
    for (const key of ['a', 'b', 'a', 'c']) memo.set(key, key.charCodeAt(0))
    expect([memo.get('a'), memo.get('b'), memo.get('c')]).toEqual([97, undefined, 99])
    memo.clear()
    expect(memo.get('a')).toBeUndefined()
  })

  it('memoByObject computes one value for each object', () => {
    let made = 0
    const count = memoByObject((_: object) => ++made)
    const [one, other] = [{}, {}]
    expect([count(one), count(other), count(one)]).toEqual([1, 2, 1])
  })
})
