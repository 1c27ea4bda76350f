import { describe, expect, it } from 'vitest'
import { BoundedCache } from '../../src/kernel/maps.ts'

describe('BoundedCache', () => {
  it('evicts the least recently used value', () => {
    const cache = new BoundedCache<number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.get('a')).toBe(1)
    cache.set('c', 3)
    expect([...cache.keys()]).toEqual(['a', 'c'])
    expect(cache.get('b')).toBeUndefined()
  })

  it('counts the sizes of present values, and not those of replaced or deleted ones', () => {
    const cache = new BoundedCache<string | null>(10)
    cache.set('a', 'large', 9)
    cache.set('a', null, 4)
    cache.set('b', 'other', 6)
    expect([...cache.keys()]).toEqual(['a', 'b'])
    expect(cache.get('a')).toBeNull()
    cache.delete('b')
    cache.set('c', 'third', 6)
    expect([...cache.keys()]).toEqual(['a', 'c'])
  })

  it('does not keep a value that is larger than the whole cache', () => {
    const cache = new BoundedCache<string>(10)
    cache.set('a', 'small', 1)
    cache.set('b', 'huge', 11)
    expect([...cache.keys()]).toEqual(['a'])
  })
})
