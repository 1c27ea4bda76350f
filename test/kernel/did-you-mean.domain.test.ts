import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { didYouMean, nearest } from '../../src/kernel/text.ts'

const TYPES = ['string', 'number', 'date', 'select', 'lookup', 'email', 'phone', 'group', 'media']

describe('Suggestions for misspelled names', () => {
  test.each([
    ['slect', 'select'],
    ['seelect', 'select'],
    ['sekect', 'select'],
    ['seletc', 'select'],
    ['Select', 'select'],
    ['e-mail', 'email'],
  ])('for %s, suggests %s', (given, meant) => {
    expect(nearest(given, TYPES)).toBe(meant)
    expect(didYouMean(given, TYPES)).toBe(` Did you mean '${meant}'?`)
  })

  test.each(['boolean', 's', '', 'strng_value', 'tcesel'])('suggests nothing for %s', given => {
    expect(didYouMean(given, TYPES)).toBe('')
  })

  test.each([
    ['gracePeriod', ['gracePeriodDays', 'reinstatementPeriodDays'], 'gracePeriodDays'],
    ['endTimestamp', ['state', 'renewalEndTimestamp'], 'renewalEndTimestamp'],
    ['policyStartTimestamps', ['policyStartTimestamp'], 'policyStartTimestamp'],
    ['set_yearly_premium', ['set_month_premium', 'set_year_premium'], 'set_year_premium'],
  ])('for %s, suggests the name in %j that contains it or nearly does: %s', (given, known, meant) => {
    expect(nearest(given, known)).toBe(meant)
  })

  test('suggests nothing when several names contain the text, or when it is only a short word of one', () => {
    expect(nearest('timestamp', ['startTimestamp', 'endTimestamp'])).toBeUndefined()
    expect(nearest('end', ['endExposures'])).toBeUndefined()
    expect(nearest('2027-01-01', ['2027-01-0', '2027-01-0111'])).toBe('2027-01-0')
    expect(nearest('2027-01-01', ['2027-02-28'])).toBeUndefined()
  })

  test('does not suggest a known name for itself', () => {
    expect(nearest('date', TYPES)).toBeUndefined()
  })

  test('finds any name with one letter missing, doubled or wrong', () => {
    const name = fc.stringMatching(/^[a-z]{4,20}$/)
    fc.assert(
      fc.property(name, fc.nat(), fc.constantFrom('left out', 'twice', 'wrong'), (word, at, slip) => {
        const place = at % word.length
        const letter = word[place]!
        const put = { 'left out': '', twice: letter + letter, wrong: letter === 'q' ? 'z' : 'q' }[slip]
        const slipped = word.slice(0, place) + put + word.slice(place + 1)
        expect(nearest(slipped, ['something else', word])).toBe(word)
      }),
    )
  })
})
