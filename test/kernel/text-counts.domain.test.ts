import { expect, test } from 'vitest'
import { countText } from '../../src/kernel/text.ts'

test('a count of one has a noun in the singular', () => {
  expect([0, 1, 2].map(count => countText(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
  expect([0, 1, 2].map(count => countText(count, 'policy', 'policies'))).toEqual([
    '0 policies',
    '1 policy',
    '2 policies',
  ])
})
