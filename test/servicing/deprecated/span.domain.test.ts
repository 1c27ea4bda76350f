// The keys between which a page of several databases is, from each n-th key of each database.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { spanAround } from '../../../src/servicing/deprecated/store.ts'

const span = (shards: number[][], step: number, offset: number, end: number) => {
  const samples = shards.map(keys => keys.slice(0, end).filter((_, at) => (at + 1) % step === 0))
  return spanAround(samples, step, offset, end)
}

it('leaves out only what is before or after the page, and at most two steps of each database remain', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(fc.nat(100_000), { maxLength: 300 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(900),
      fc.integer({ min: 1, max: 26 }),
      (lists, step, offset, most) => {
        const shards = lists.map((list, shard) =>
          list.map(key => (key + 1) * 64 + shard).sort((a, b) => a - b),
        )
        const { after, upTo } = span(shards, step, offset, offset + most)
        const all = shards.flat().sort((a, b) => a - b)
        const left = all.filter(key => key > after && key <= upTo)
        const before = all.filter(key => key <= after).length
        expect(before).toBeLessThanOrEqual(offset)
        expect(left.slice(offset - before, offset - before + most)).toEqual(all.slice(offset, offset + most))
        if (offset < all.length)
          expect(left.length).toBeLessThanOrEqual(most + (2 * shards.length + 1) * step)
      },
    ),
  )
})

it('a page at the beginning begins before every key, and one at the end has no bound', () => {
  const shards = [
    Array.from({ length: 100 }, (_, at) => at * 2 + 1),
    Array.from({ length: 100 }, (_, at) => at * 2 + 2),
  ]
  expect(span(shards, 10, 0, 26)).toEqual({ after: 0, upTo: 39 })
  expect(span(shards, 10, 100, 126)).toEqual({ after: 80, upTo: 139 })
  expect(span(shards, 10, 190, 216)).toEqual({ after: 179, upTo: Number.MAX_SAFE_INTEGER })
})
