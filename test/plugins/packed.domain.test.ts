import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../src/plugins/packed.ts'

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('packed values', () => {
  it('are what JSON would have made of them', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false }), value => {
        expect(unpack(pack(value))).toEqual(asJson(value))
      }),
      { numRuns: 1_000, seed: 20261121 },
    )
  })

  it('leave out what is undefined, and have null for what is no number', () => {
    const value = { a: undefined, b: [undefined, Number.NaN, -0.5], c: { d: undefined } }
    expect(unpack(pack(value))).toEqual({ b: [null, null, -0.5], c: {} })
  })

  it('have a property named __proto__ as any other', () => {
    const made = unpack(pack(JSON.parse('{"__proto__":{"polluted":true},"x":1}'))) as object
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
    expect(Object.keys(made)).toEqual(['__proto__', 'x'])
    expect('polluted' in made).toBe(false)
  })

  it('say what is the same once', () => {
    const { strings, shapes, data } = pack(
      Array.from({ length: 1_000 }, () => ({ name: 'own_damage', to: 'x' })),
    )
    expect([strings, shapes, data.length]).toEqual([['own_damage', 'x'], [['name', 'to']], 1 + 1_000 * 3])
  })
})
