import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timesAsLong } from '../../../test/support/scaling.ts'
import { firstPlace, lastPlace, splitBy } from '../search.ts'
import { compiled, environment } from './rendering.ts'

/** Texts of two letters, so that prefixes recur, and long enough for both search methods. */
const letters = (most: number) =>
  fc.array(fc.constantFrom('a', 'a', 'a', 'b'), { maxLength: most }).map(all => all.join(''))

test('firstPlace, lastPlace and splitBy return the same as indexOf, lastIndexOf and split', () => {
  fc.assert(
    fc.property(letters(8), letters(90), fc.nat(12), letters(50), (unit, start, times, other) => {
      const text = start + unit.repeat(times) + start
      for (const sought of [other, start, unit.repeat(times), start.slice(3) + unit, text, `${text}a`]) {
        expect(firstPlace(text, sought)).toBe(text.indexOf(sought))
        expect(lastPlace(text, sought)).toBe(text.lastIndexOf(sought))
        expect(splitBy(text, sought)).toEqual(text.split(sought))
      }
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['contains', '{% if t contains p %}{% endif %}'],
  ['split', '{% assign r = t | split: p %}'],
  ['replace', '{% assign r = t | replace: p, "x" %}'],
  ['remove_first', '{% assign r = t | remove_first: p %}'],
  ['replace_last', '{% assign r = t | replace_last: p, "x" %}'],
])('%s searches a long text in less than quadratic time', async (_name, use) => {
  const looking = (length: number) => {
    const half = 'a'.repeat(length / 2)
    const template = compiled(`{% assign t = data.text %}{% assign p = data.sought %}${use}`)
    return (): void => {
      for (const sought of [`${half}b${half}`, `${half}${half}b`])
        template.render({ text: 'a'.repeat(2 * length), sought }, environment)
    }
  }
  // With quadratic work it would take sixty-four times as long.
  const times = await timesAsLong(looking(5_000), looking(40_000), { most: 24, leastMs: 5 })
  expect(times).toBeLessThan(24)
})
