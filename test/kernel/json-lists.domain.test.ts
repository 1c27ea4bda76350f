import fc from 'fast-check'
import { expect, it } from 'vitest'
import { flatMapList, isLong, jsonTexts, jsonWithin, LongList } from '../../src/kernel/json.ts'
import { size } from '../support/sizes.ts'

/** A value with long lists in objects, lists and one another, and the same value with arrays. */
type Pair = { readonly long: unknown; readonly plain: unknown }

const { value } = fc.letrec<{ value: Pair }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 2 }).map(one => ({ long: one, plain: one })),
    fc.constant({ long: undefined, plain: undefined }),
    fc.array(tie('value'), { maxLength: 4 }).map(items => ({
      long: new LongList(() => items.map(one => one.long)),
      plain: items.map(one => one.plain),
    })),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }).map(entries => {
      const of = (form: keyof Pair) =>
        Object.fromEntries(Object.entries(entries).map(([name, one]) => [name, one[form]]))
      return { long: of('long'), plain: of('plain') }
    }),
  ),
}))

it('the JSON of long lists equals that of arrays', () => {
  fc.assert(
    fc.property(value, ({ long, plain }) => {
      const text = JSON.stringify({ plain })
      expect(JSON.stringify({ plain: long })).toBe(text)
      expect([...jsonTexts({ plain: long })].join('')).toBe(text)
      expect(jsonWithin({ plain: long }, text.length)).toBe(text)
      expect(jsonWithin({ plain: long }, text.length - 1)).toBeUndefined()
    }),
    { numRuns: size(300, 20_000) },
  )
})

it('a long list is written as texts of at most 68,000 characters, and is read again for each reading', () => {
  let read = 0
  const list = new LongList(function* () {
    read += 1
    for (let at = 0; at < 1_000; at += 1) yield 'x'.repeat(1_000)
  })
  expect(isLong({ within: { list } })).toBe(true)
  expect(isLong({ within: [1, 2] })).toBe(false)
  const lengths = [...jsonTexts({ list })].map(text => text.length)
  expect(lengths).toHaveLength(16)
  expect(Math.max(...lengths)).toBeLessThan(68_000)
  expect(jsonWithin({ list }, 10_000)).toBeUndefined()
  expect(read).toBe(2)
})

it('changedList returns a list of the same form, whether it is an array or a long list', () => {
  const twice = (one: number): number[] => (one === 2 ? [] : [one, one])
  expect(flatMapList([1, 2, 3], twice)).toEqual([1, 1, 3, 3])
  const long = flatMapList(new LongList(() => [1, 2, 3]), twice)
  expect(long).toBeInstanceOf(LongList)
  expect(JSON.stringify(long)).toBe('[1,1,3,3]')
})
