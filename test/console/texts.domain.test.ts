import { describe, expect, test, vi } from 'vitest'
import { isAmount } from '../../console/decimal.ts'
import { faultsOf } from '../../console/desk/places.ts'
import { FORMS } from '../../console/desk/words.ts'
import { readableTimes } from '../../console/format.ts'
import { MIGRATIONS } from '../../console/tenant/words.ts'
import { FIGURES } from '../../console/view/figures-words.ts'
import { VIEW } from '../../console/view/words.ts'

// The console reads the session of its tab. Without one, times are in UTC.
vi.hoisted(() => {
  Object.assign(globalThis, { sessionStorage: { getItem: () => null, removeItem: () => {} } })
})

describe('messages of the service', () => {
  test('show times as people read them', () => {
    expect(
      readableTimes('The effective time 1751320800000 must be before the effective end 2082758400000.'),
    ).toMatch(/^The effective time .*2025.* must be before the effective end .*2036\.$/)
  })

  test('show times of all years from 2001 to 9999', () => {
    expect(readableTimes('From 1000000000000 to 4102444800000, 32503680000000 or 253402214400000.')).toMatch(
      /^From .*2001.* to .*2100.*, .*3000.* or .*9999\.$/,
    )
    expect(readableTimes('From 8000000000000.')).toMatch(/2223/)
    expect(readableTimes('The limit is 253402300800000.')).toBe('The limit is 253402300800000.')
  })

  test('show a time at a field as people read it', () => {
    const faults = faultsOf({
      fieldErrors: [{ ontologyUri: 'effectiveTimestamp', message: 'must be before 2082758400000' }],
    })
    expect(faults.get('effectiveTimestamp')).toMatch(/^must be before .*2036$/)
  })

  test('keep locators, amounts, keys and quoted values', () => {
    for (const message of [
      'There is no policy 100000640.',
      "Field 'serial' must not be '1751320800000'.",
      'The amount 1751320800000.50 is too large.',
    ])
      expect(readableTimes(message)).toBe(message)
  })
})

test('a single thing is not named in the plural', () => {
  expect(VIEW.morePerils(1)).toBe('1 more peril is not listed.')
  expect(VIEW.moreExposures(1, 1)).toBe('Show the remaining exposure')
  expect(VIEW.chartOf(1)).toContain('1 step of')
  expect(FIGURES.issuedOf('1', '1', 100)).toBe('1 of 1 quote is issued: 100%.')
  expect(MIGRATIONS.progressText(1, 1)).toBe('1 of 1 account is done')
  expect(MIGRATIONS.progressText(1, 2_000)).toBe(`1 of ${(2_000).toLocaleString()} accounts are done`)
})

test('an amount has at most the digits of its currency, and the text about it an example that has', () => {
  expect(['12', '12.5', '12.50', '0.001', '1,50', '-3', '', 'a lot'].map(text => isAmount(text, 2))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
  expect(['12', '12.5'].map(text => isAmount(text, 0))).toEqual([true, false])
  for (const digits of [0, 2, 3, 4]) {
    const [example] = /[\d.]*\d/.exec(FORMS.notAnAmount(digits))!
    expect(isAmount(example, digits)).toBe(true)
  }
})
