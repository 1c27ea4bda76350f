import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COPIES, type Packed, pack, unpack } from '../../src/extension/plugins/runners/packing.ts'
import { size } from '../support/sizes.ts'

const copies = [(record: object) => ({ ...record })]
const unpacked = (packed: Packed): unknown => unpack(packed, copies)

/** Returns the JSON of the unpacked value, with names in their order and each value in its place. */
const told = (value: unknown): string => JSON.stringify(unpacked(pack(value)))

/** Similar records, like those of a fleet: few shapes, and values that recur or differ each time. */
const alike = fc.array(
  fc.record(
    {
      locator: fc.uuid(),
      owner: fc.constantFrom('a91340cb', 'b4580546', ''),
      name: fc.constantFrom('liability', 'own_damage', 'theft', '\ud800', 'é'),
      deductible: fc.option(fc.constantFrom<unknown>('150.00', 150, true, null, -0), { nil: undefined }),
      fields: fc.dictionary(fc.constantFrom('kind', 'usage', '2', '__proto__'), fc.array(fc.string())),
      inner: fc.oneof(fc.constant('text'), fc.array(fc.record({ locator: fc.uuid(), owner: fc.string() }))),
    },
    { requiredKeys: ['locator', 'fields'] },
  ),
  { maxLength: 60 },
)

describe('packed values', () => {
  it('unpack to what JSON would make of them, with names in their order', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue({ maxDepth: 5, noUnicodeString: false }),
          alike,
          fc.tuple(alike, alike).map(([a, b]) => ({ a, b, again: a })),
        ),
        value => {
          expect(told(value)).toBe(JSON.stringify(value))
        },
      ),
      { numRuns: size(500, 1_500), seed: 20261121 },
    )
  })

  it('keep every property of records with 70 properties, which are more than a change has bits', () => {
    const names = Array.from({ length: 70 }, (_, at) => `field_${at}`)
    const records = Array.from({ length: 100 }, (_, row) =>
      Object.fromEntries(names.map((name, at) => [name, (row * at) % 7 === 0 ? `${row}` : 'same'])),
    )
    expect(told(records)).toBe(JSON.stringify(records))
  })

  it('omit what is undefined, and have null for what is not a number', () => {
    const value = { a: undefined, b: [undefined, Number.NaN, -0.5], c: { d: undefined } }
    expect(unpacked(pack(value))).toEqual({ b: [null, null, -0.5], c: {} })
  })

  it('have a property named __proto__ like any other', () => {
    const two = JSON.parse('[{"__proto__":{"polluted":true},"x":1},{"__proto__":"text","x":2}]') as object[]
    for (const [at, made] of (unpacked(pack(two)) as object[]).entries()) {
      expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
      expect(Object.keys(made)).toEqual(['__proto__', 'x'])
      expect('polluted' in made).toBe(false)
      expect(JSON.stringify(made)).toBe(JSON.stringify(two[at]))
    }
  })

  it('unpack to plain data, with a separate object for each of several equal ones', () => {
    const record = { name: 'x', list: ['a'], inner: { deep: 'b' } }
    const [first, second] = unpacked(pack([record, record])) as (typeof record)[]
    expect(Object.getOwnPropertyDescriptors(first)).toEqual(Object.getOwnPropertyDescriptors(record))
    first!.name = 'other'
    first!.list.push('more')
    first!.inner.deep = 'changed'
    expect(second).toEqual(record)
  })

  it('unpack to a separate object for each empty one, and keep what follows it', () => {
    const records = [{}, {}, 'x', {}, 'x', 'x', {}, { a: 'x' }, {}, null, {}, []].map(inner => ({
      key: 'k',
      inner,
    }))
    expect(told(records)).toBe(JSON.stringify(records))
    const polluting = JSON.parse('[{"__proto__":{}},{"__proto__":{}},{"__proto__":{"x":1}},{"__proto__":{}}]')
    const alike = Array.from({ length: 1_000 }, () => ({ key: 'k', fields: {}, groups: {} }))
    const [first, second, third] = unpacked(pack(alike)) as { fields: Record<string, string> }[]
    second!.fields.own = 'x'
    expect(JSON.stringify(unpacked(pack(polluting)))).toBe(JSON.stringify(polluting))
    expect([first, second, third]).toEqual([alike[0], { ...alike[1], fields: { own: 'x' } }, alike[2]])
    // Each of the other 500 adds only one entry.
    expect(pack(alike).data.length - pack(alike.slice(500)).data.length).toBe(500)
  })

  it('contain repeated text once, and of a record only what differs from the one before it', () => {
    const { text, shapes, data } = pack(
      Array.from({ length: 1_000 }, (_, at) => ({ name: 'own_damage', to: 'x', key: `${at % 500}` })),
    )
    const keys = Array.from({ length: 500 }, (_, at) => `${at}`)
    // The second half repeats the keys. Only those that are no longer remembered are sent again.
    expect(text.startsWith(`own_damagex${keys.join('')}`)).toBe(true)
    expect(shapes).toEqual([['name', 'to', 'key']])
    expect(data.length).toBe(1 + 2 + 1_000 * 2)
  })

  it('contain a locator once if several lists have it in the same order', () => {
    const locators = Array.from({ length: 1_000 }, (_, at) => `locator-${String(at).padStart(4, '0')}`)
    const value = { changes: locators.map(to => ({ to })), perils: locators.map(locator => ({ locator })) }
    expect(pack(value).text).toBe(locators.join(''))
    expect(told(value)).toBe(JSON.stringify(value))
  })

  it('can be unpacked by copy functions that are made from source text', () => {
    const functions = new Function(`return ${COPIES}`)() as ((record: object) => object)[]
    const value = Array.from({ length: 200 }, (_, at) => ({ [`name_${at % 70}`]: 'x', at: `${at}` }))
    expect(JSON.stringify(unpack(pack(value), functions))).toBe(JSON.stringify(value))
  })
})
