import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonLists } from '../../src/platform/database/parameters.ts'

/** D1's limit for one bound parameter, in bytes. */
const LIMIT = 2_000_000

test('lists of rows stay within the limit in bytes, for characters of one to four bytes', () => {
  for (const character of ['a', 'é', '保', '🚗']) {
    const rows = Array.from({ length: 3_000 }, () => JSON.stringify([character.repeat(1_000)]))
    const lists = jsonLists(rows)
    for (const list of lists) expect(Buffer.byteLength(list)).toBeLessThan(LIMIT)
    expect(lists.flatMap(list => JSON.parse(list) as unknown[])).toHaveLength(3_000)
  }
})

test('no row is lost, duplicated or moved', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 40 })), texts => {
      const lists = jsonLists(texts.map(text => JSON.stringify(text)))
      expect(lists.flatMap(list => JSON.parse(list) as string[])).toEqual(texts)
    }),
  )
  expect(jsonLists([])).toEqual([])
})
