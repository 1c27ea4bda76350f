import { expect, test } from 'vitest'
import { asSentences } from '../../src/kernel/text.ts'
import { assertUnderwritten } from '../../src/rating/rate.ts'

test('texts without a mark at their end get a full stop, and blank ones are left out', () => {
  expect(
    asSentences(['Driver under 21 ', '', ' ', 'Refer to head office!', 'Says "no."', 'Why (see file)']),
  ).toBe('Driver under 21. Refer to head office! Says "no." Why (see file).')
  expect(asSentences([])).toBe('')
})

test('the message of a refused endorsement continues after notes that have no full stop', () => {
  const result = { decision: 'reject', notes: ['Driver under 21', 'Three claims'] } as const
  expect(() => assertUnderwritten('endorsement', { ...result, notes: [...result.notes] }, 'Ask.')).toThrow(
    "Underwriting decided 'reject' on the endorsement. Driver under 21. Three claims. Ask.",
  )
  expect(() => assertUnderwritten('reinstatement', { decision: 'none', notes: [] })).toThrow(
    /^Underwriting decided 'none' on the reinstatement\.$/,
  )
})
